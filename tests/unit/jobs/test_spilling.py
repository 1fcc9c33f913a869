"""Counts that outgrow memory: byte for byte those of one table, and no file is left."""

from __future__ import annotations

import errno
import os
import tempfile
from array import array
from contextlib import ExitStack
from fractions import Fraction

import pytest

from bpe_cli import _core, train
from bpe_cli.corpus import Source
from bpe_cli.errors import FormatError, OutputError, TrainingError
from bpe_cli.formats import counts_file
from bpe_cli.jobs.count import load_counts, save_counts
from bpe_cli.jobs.languages import Languages, by_language, counted_languages
from bpe_cli.jobs.mixing import Mixture, NamedCorpus, mixed
from bpe_cli.jobs.spilling import CountsOnDisk, Spilling, count_within, held_within, in_memory, parts_of
from bpe_cli.jobs.train import TrainJob, train_file
from bpe_cli.support.blocks import Block
from bpe_cli.support.listening import Silence
from bpe_cli.trainers import bpe, token_list, trainer_for, wordpiece
from bpe_cli.trainers.bbpe_options import BbpeOptions
from bpe_cli.trainers.counts import counts_of, items_of, new_counts
from bpe_cli.trainers.sentencepiece import SentencePieceOptions
from tests.full_disk import on_a_full_disk

OPTIONS = BbpeOptions(300)
TRAINER = trainer_for(OPTIONS)
TEXTS = [b" ".join(b"w%d" % (number * step % 997) for number in range(300)) for step in (1, 7, 30, 31)]


class Notes(Silence):
    """Keep what is noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def blocks() -> list[Block]:
    return [Block.of([text]) for text in TEXTS]


def in_one_table() -> _core.Counts:
    counts = new_counts()
    TRAINER.count(blocks(), OPTIONS, counts)
    return counts


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("max_memory", [9_000, 15_000, 20_000])
def test_counts_on_disk_are_those_of_one_table(max_memory, threads):
    expected, notes = in_one_table(), Notes()
    counts = count_within(TRAINER, blocks(), OPTIONS, max_memory=max_memory, threads=threads, listener=notes)
    assert isinstance(counts, CountsOnDisk)
    assert (counts.unique, counts.total) == (expected.unique, expected.total)
    assert b"".join(counts.chunks()) == expected.dump()
    loaded = in_memory(counts, max_memory)
    assert list(items_of(loaded)) == list(items_of(expected))
    assert (loaded.total_bytes, loaded.memory) == (expected.total_bytes, len(expected.dump()))
    assert notes.notes == [f"the counts take more than 0 MiB: they go to temporary files in {tempfile.gettempdir()}"]


def test_counts_that_fit_stay_in_memory():
    counts = count_within(TRAINER, blocks(), OPTIONS, max_memory=1 << 20)
    assert isinstance(counts, _core.Counts)
    assert counts.dump() == in_one_table().dump()


def test_no_file_has_a_name(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    counts = new_counts()
    with Spilling(counts, 1000) as spilled:
        TRAINER.count(spilled.watch(blocks()), OPTIONS, counts)
        assert spilled._files
        assert not os.listdir(tmp_path)


@pytest.mark.parametrize("algorithm", ["bbpe", "bpe", "unigram", "wordpiece"])
def test_the_tokenizer_is_the_same(algorithm):
    texts = [text.decode() for text in TEXTS]
    small, large = (
        train(texts * 20, algorithm, vocab_size=340, max_memory=memory, pattern="gpt2")
        if algorithm == "bbpe"
        else train(texts * 20, algorithm, vocab_size=340, max_memory=memory)
        for memory in (30_000, 1 << 30)
    )
    assert small == large


def test_saved_counts_are_the_same(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\n".join(TEXTS))
    for name, memory in (("small", 30_000), ("large", 1 << 30)):
        source = Source((str(path),), documents="lines", block_bytes=500)
        job = TrainJob(OPTIONS, source, counts_out=str(tmp_path / name), file_format=None, max_memory=memory)
        done = train_file(job)
        assert done.different == in_one_table().unique
    assert (tmp_path / "small").read_bytes() == (tmp_path / "large").read_bytes()


def test_files_of_counts_are_added_up_on_disk(tmp_path):
    paths = []
    for number, text in enumerate(TEXTS):
        counts = new_counts()
        TRAINER.count([Block.of([text])], OPTIONS, counts)
        paths.append(str(tmp_path / str(number)))
        save_counts(counts, OPTIONS, paths[-1])
    counts, options = load_counts(paths, OPTIONS, 20_000)
    assert isinstance(counts, CountsOnDisk)
    with counts:
        save_counts(counts, options, str(tmp_path / "sum"))
    _, found = counts_file.load(tmp_path / "sum", 1 << 30)
    assert found.dump() == in_one_table().dump()


def files_of(folder, *counted):
    """Write a file of counts of each dict."""
    for number, pieces in enumerate(counted):
        save_counts(counts_of(pieces.items()), OPTIONS, str(folder / str(number)))
    return [str(folder / str(number)) for number in range(len(counted))]


def test_counts_that_are_too_large_together(tmp_path):
    files = files_of(tmp_path, {b"a": 1 << 63}, {b"b": 1 << 63})
    with pytest.raises(FormatError, match="1: with the files before it, the counts of all pieces together pass 2"):
        load_counts(files, OPTIONS, 1 << 20)


@pytest.mark.parametrize("last", [{b"a": 1 << 63}, {b"b": 1 << 63}, {b"bb": 1 << 62}], ids=str)
def test_counts_that_are_too_large_in_files(last, tmp_path):
    """There is room for some pieces, which are more than fall into one part of a file by chance."""
    files = files_of(tmp_path, {b"a": 1 << 63}, {b"c%d" % number: 1 for number in range(10)}, last)
    memory = new_counts()
    memory.merge(counts_of([(b"a%d" % number, 1) for number in range(10)]))
    with pytest.raises(TrainingError, match=r"pass 2\^64") as caught:  # what two files have goes to disk
        in_memory(load_counts(files, OPTIONS, memory.memory)[0], 1 << 20)
    assert caught.value.hint


LONG = [
    b" ".join(b"x" * 90 + bytes(97 + int(digit) for digit in str(number * step % 997)) for number in range(300))
    for step in (1, 7, 30)
]
"""Texts whose pieces take more than ``SMALL`` even as they are saved."""
SMALL = 15_000


def counted_apart(max_memory):
    """Return the names of three corpora and their counts."""
    return [
        (str(number), count_within(TRAINER, [Block.of([text])], OPTIONS, max_memory=max_memory))
        for number, text in enumerate(LONG)
    ]


@pytest.mark.parametrize("weights", [{}, {"1": Fraction(3, 2)}], ids=str)
def test_corpora_are_mixed_on_disk(weights):
    expected = mixed(counted_apart(1 << 30), Mixture(weights), OPTIONS, 1 << 30)
    found = mixed(counted_apart(SMALL), Mixture(weights), OPTIONS, SMALL)
    assert isinstance(expected, _core.Counts)
    assert isinstance(found, CountsOnDisk)
    with found:
        assert b"".join(found.chunks()) == expected.dump()
        assert [found.unique, found.total] == [expected.unique, expected.total]
    assert len(expected.dump()) > SMALL


WORDS = [b"x" * 30 + b"%d" % number for number in range(300)]
LINES = b"\n".join(word + b" 7" for word in WORDS)
JSON = b"{" + b",\n".join(b'"%s": 7' % word for word in WORDS) + b"}"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (BbpeOptions(300, superwords=True), b"\n".join(WORDS)),
        (bpe.Options(300, by_byte=True), b"\n".join(WORDS)),
        (bpe.Options(300, dictionary=True), LINES),
        (wordpiece.Options(300, dictionary=True), JSON),  # whose first lines alone say that it is JSON
        (token_list.Options(), JSON),
    ],
)
def test_what_is_on_disk_is_weighed_as_in_memory(options, text):
    trainer = trainer_for(options)
    documents = text.split(b"\n") if trainer.takes_lines(options) else [text]
    counted = [count_within(trainer, [Block.of(documents)], options, max_memory=memory) for memory in (1 << 30, SMALL)]
    memory, disk = (trainer.text_bytes(parts_of(each), options) for each in counted)
    assert isinstance(counted[1], CountsOnDisk)
    with counted[1]:
        assert memory == disk > len(text) - 300


def test_languages_are_put_together_on_disk():
    names = ["0", "1", "2"]
    expected = by_language(counted_apart(1 << 30), counted_apart(1 << 30), names, 1 << 30)
    found = by_language(counted_apart(SMALL), counted_apart(SMALL), names, SMALL)
    assert isinstance(expected, _core.Counts)
    assert isinstance(found, CountsOnDisk)
    with found:
        assert b"".join(found.chunks()) == expected.dump()
    assert len(expected.dump()) > SMALL


def one_by_one():
    """Yield the names of the corpora and their counts, which are made when they are asked for."""
    for number, text in enumerate(LONG):
        yield str(number), count_within(TRAINER, [Block.of([text])], OPTIONS, max_memory=1 << 30)


def test_few_counts_of_corpora_are_in_memory():
    """Each had its own limit, so that many corpora took many times as much."""
    notes, limit = Notes(), max(counts.memory for _, counts in one_by_one())
    with ExitStack() as files:
        held = held_within(one_by_one(), limit, files, notes)
        assert sum(each.memory for _, each in held if isinstance(each, _core.Counts)) <= limit
        assert [name for name, _ in held] == ["0", "1", "2"]
        assert [list(items_of(in_memory(each, 1 << 30))) for _, each in held] == [
            list(items_of(counts)) for _, counts in one_by_one()
        ]
    assert len(notes.notes) == 1
    found, expected = (mixed(one_by_one(), Mixture({}), OPTIONS, memory) for memory in (limit, 1 << 30))
    with found:
        assert b"".join(found.chunks()) == expected.dump()


def test_languages_are_counted_one_after_the_other():
    made = []

    def counted_in(source, *_):
        assert all(each._file.closed for each in made)  # it is in the table
        made.append(CountsOnDisk.of(counts_of([(source.text.encode(), 1)])))
        return made[-1]

    options = BbpeOptions(300, parity=True)
    corpora = [NamedCorpus(name, Source(text=name)) for name in ("en", "de")]
    said = Languages(development=(NamedCorpus("de", Source(text="x")), NamedCorpus("en", Source(text="y"))))
    counts, _ = counted_languages(said, corpora, options, counted_in, None, 1 << 30)
    assert (len(made), counts.total) == (4, 4)


def test_corpora_that_are_only_counted_may_outgrow_memory(tmp_path):
    made = []
    for name, memory in (("small", SMALL), ("large", 1 << 30)):
        corpora = []
        for number, text in enumerate(LONG):
            path = tmp_path / f"{number}.txt"
            path.write_bytes(text)
            corpora.append(NamedCorpus(str(number), Source((str(path),))))
        job = TrainJob(
            OPTIONS, corpora=tuple(corpora), counts_out=str(tmp_path / name), file_format=None, max_memory=memory
        )
        made.append(train_file(job))
    assert made[0] == made[1]
    saved = (tmp_path / "small").read_bytes()
    assert saved == (tmp_path / "large").read_bytes()
    assert len(saved) > SMALL


def test_sentences_are_counted_so_too():
    options = SentencePieceOptions(400, model="bpe")
    trainer = trainer_for(options)
    made = []
    for memory in (3_000, 1 << 30):
        counts = in_memory(count_within(trainer, blocks(), options, max_memory=memory), 1 << 30)
        made.append(trainer.train(counts, options).tokenizer)
    assert made[0] == made[1]


def test_what_training_needs_is_said():
    counts = count_within(TRAINER, blocks(), OPTIONS, max_memory=3_000)
    with pytest.raises(TrainingError, match=r"^training needs all 759 different pieces in memory: 0 MiB$") as caught:
        in_memory(counts, 3_000)
    assert "`max_memory`" in caught.value.hint
    with pytest.raises(TrainingError, match=r"^a 64th of the counts does not fit: ") as caught:
        count_within(TRAINER, blocks(), OPTIONS, max_memory=100)


@pytest.mark.parametrize("room", [0, 3, 64, 65])
def test_a_full_disk_is_said(room, monkeypatch):
    """What is still in a buffer cannot be written when the file is closed either."""
    opened, temporary = [], tempfile.TemporaryFile

    def opening(**options: str):
        opened.append(temporary(**options) if len(opened) < room else on_a_full_disk())
        return opened[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", opening)
    with pytest.raises(OutputError) as caught:
        count_within(TRAINER, blocks(), OPTIONS, max_memory=1000)
    folder = tempfile.gettempdir()
    assert caught.value.message == (f"cannot write the counts to a temporary file in {folder}: no space left on device")
    assert caught.value.hint == "set TMPDIR to a folder with more room, or raise `max_memory`"
    assert len(opened) >= 64
    assert all(file.closed for file in opened)


def test_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: nowhere())
    notes, counts = Notes(), new_counts()
    with pytest.raises(OutputError) as caught, Spilling(counts, 1000, notes) as spilled:
        TRAINER.count(spilled.watch(blocks()), OPTIONS, counts)
    assert notes.notes == ["the counts take more than 0 MiB: they go to temporary files"]
    what = "cannot write the counts to a temporary file: no usable temporary directory found in ['/tmp']"
    assert (caught.value.message, "TMPDIR" in (caught.value.hint or "")) == (what, True)


def test_packed_counts_take_no_more_pieces():
    packed = _core.Counts.packed(in_one_table().dump())
    for add in (
        lambda: packed.add_pieces(b"a", array("Q", [1])),
        lambda: packed.merge(in_one_table()),
        lambda: packed.spill(0, lambda *_: None),
    ):
        with pytest.raises(ValueError, match=r"^counts that are packed take no more pieces$"):
            add()
    other = new_counts()
    other.merge(packed)
    assert other.dump() == packed.dump()
    with pytest.raises(ValueError, match="cut at byte 0"):
        _core.Counts.packed(b"\x05")


def test_what_the_caller_raises_ends_the_call():
    counts = in_one_table()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        counts.spill(0, stop)
    assert counts.dump() == in_one_table().dump()
    with pytest.raises(KeyboardInterrupt):
        _core.merge_numbered(1, stop, stop)
    with pytest.raises(ValueError, match=r"^records of spilled counts are bytes$"):
        _core.merge_numbered(1, lambda _: "a", stop)
