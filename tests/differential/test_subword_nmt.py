"""BPE over characters gives what subword-nmt gives: codes, segmented text, vocabularies, byte for byte."""

from __future__ import annotations

import io
import json
import random
from array import array
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import pytest

from bpe_cli import _core
from bpe_cli.formats import subword_nmt
from bpe_cli.stages.spelling import to_visible
from bpe_cli.tokenizer.subword_text import Segmenter
from bpe_cli.trainers import bpe
from bpe_cli.trainers.base import Trained
from bpe_cli.trainers.counts import new_counts
from tests.cli_runner import call
from tests.counted import at_least, compared
from tests.differential.texts import suite
from tests.needs import needs

RECORDED = Path("expected", "train", "subword-nmt")
REFERENCE = Path("vocabs", "subword-nmt-ref")


def counts_of(words: Mapping[str, int]) -> _core.Counts:
    pieces = [word.encode() for word in words]
    counts = new_counts()
    counts.add_pieces(b"".join(pieces), array("Q", accumulate(map(len, pieces))), array("Q", words.values()))
    return counts


def train(text: str, **options) -> Trained:
    words = subword_nmt.count_words(text.split("\n"))
    if options.get("by_byte"):
        words = {to_visible(word.encode()): count for word, count in words.items()}
    return bpe.TRAINER.train(counts_of(words), bpe.Options(compat="subword-nmt", **options))


# -- what the library gave -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "codes", "options"),
    [
        ("vocabs/subword-nmt-ref/corpus.en", "corpus_en.s1000", {"merges": 1000}),
        ("vocabs/subword-nmt-ref/corpus.en", "corpus_en.s1000.total-symbols", {"merges": 1000, "total_symbols": True}),
        ("corpora/default/en-botchan.txt", "botchan.s2000.min5", {"merges": 2000, "min_frequency": 5}),
        ("corpora/default/zh-hongloumeng.txt", "zh.s500", {"merges": 500}),
        ("corpora/default/ru-prestuplenie.txt", "ru.s1000", {"merges": 1000}),
        ("corpora/default/ru-prestuplenie.txt", "ru.s500.bytes", {"merges": 500, "by_byte": True}),
    ],
)
def test_recorded_codes(shared, source, codes, options):
    expected = (shared / RECORDED / f"{codes}.codes").read_bytes()
    tokenizer = train((shared / source).read_text(encoding="utf-8"), **options).tokenizer
    assert subword_nmt.dump(tokenizer, frozenset({"ids"})) == {"": expected}
    again = subword_nmt.tokenizer_of(subword_nmt.load_codes(expected))
    assert subword_nmt.dump_codes(again) == expected


def test_words_are_cut_by_the_stages_as_the_library_cuts_them(shared):
    from bpe_cli.support.blocks import Block
    from bpe_cli.trainers.counts import pieces_of

    text = (shared / REFERENCE / "corpus.en").read_bytes()
    options = bpe.Options(merges=1)
    counts = new_counts()
    bpe.TRAINER.count([Block.of(text.splitlines(keepends=True))], options, counts)
    found = {word.decode(): count for word, count in pieces_of(counts).items()}
    assert found == subword_nmt.count_words(text.decode().splitlines())


def segmenter(codes: subword_nmt.Codes, **options) -> Segmenter:
    merges = [(left.decode(), right.decode()) for left, right in codes.merges]
    return Segmenter(merges, separate_suffix=codes.version == "0.1", **options)


def segmented(shared: Path, merges: int | None = None, **options) -> bytes:
    codes = subword_nmt.load_codes((shared / RECORDED / "corpus_en.s1000.codes").read_bytes())
    cut = segmenter(codes if merges is None else codes.first(merges), **options)
    text = (shared / REFERENCE / "corpus.en").read_bytes()
    return b"".join(cut.lines(text.splitlines(keepends=True)))


def vocabulary(shared: Path, threshold: int) -> set[str]:
    counts = subword_nmt.load_vocabulary((shared / RECORDED / "corpus_en.applied.vocab").read_bytes())
    return {token for token, count in counts.items() if count >= threshold}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("corpus_en.applied", {}),
        ("corpus_en.applied.sep", {"separator": "▁▁"}),
        ("corpus_en.applied.m300", {"merges": 300}),
        ("corpus_en.applied.gloss", {"glossaries": ["iron", "the[a-z]+", r"Mr\."]}),
    ],
)
def test_recorded_segmentation(shared, name, options):
    assert segmented(shared, **options) == (shared / RECORDED / name).read_bytes()


def test_recorded_segmentation_by_vocabulary(shared):
    expected = (shared / RECORDED / "corpus_en.applied.vt50").read_bytes()
    assert segmented(shared, vocabulary=vocabulary(shared, 50)) == expected


@pytest.mark.parametrize(("text", "name"), [(REFERENCE / "corpus.en", "corpus_en.vocab"),
                                            (RECORDED / "corpus_en.applied", "corpus_en.applied.vocab")])  # fmt: skip
def test_recorded_vocabularies(shared, text, name):
    lines = (shared / text).read_text(encoding="utf-8").split("\n")
    expected = (shared / RECORDED / name).read_bytes()
    assert subword_nmt.dump_vocabulary(subword_nmt.count_words(lines)) == expected


def test_recorded_vocabulary_of_what_is_segmented(shared, tmp_path):
    codes, written = shared / RECORDED / "corpus_en.s1000.codes", tmp_path / "vocabulary"
    done = call(
        "encode", shared / REFERENCE / "corpus.en", "-t", codes, "--to", "segmented", "--write-vocabulary", written
    )
    assert done.out == (shared / RECORDED / "corpus_en.applied").read_bytes()
    assert written.read_bytes() == (shared / RECORDED / "corpus_en.applied.vocab").read_bytes()


def test_random_vocabularies():
    get_vocab = needs("subword_nmt.get_vocab").get_vocab
    draw = random.Random(7)
    for _ in range(100):
        lines = [" ".join(draw.choices(["a", "b@@", "é", "", "c</w>", "\t"], k=draw.randint(0, 9))) for _ in range(9)]
        theirs = io.StringIO()
        get_vocab(lines, theirs)
        assert subword_nmt.dump_vocabulary(subword_nmt.count_words(lines)) == theirs.getvalue().encode()


def test_recorded_texts_of_every_kind(shared):
    recorded = json.loads((shared / RECORDED / "suite.corpus_en.s1000.json").read_bytes())["cases"]
    cut = segmenter(subword_nmt.load_codes((shared / RECORDED / "corpus_en.s1000.codes").read_bytes()))
    texts = suite(shared)
    assert len(recorded) > 100
    for name, expected in recorded.items():
        text = texts[name]
        assert cut.line(text if isinstance(text, str) else text.decode()) == expected, name


# -- the library, on random words ------------------------------------------------------------------

ALPHABETS = ["ab", "abc<", "aé你😀", "</w>a"]


def random_words(draw: random.Random) -> dict[str, int]:
    letters = draw.choice(ALPHABETS)
    words = ["".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(draw.randint(1, 8))]
    return {word: draw.randint(1, 5) for word in words}


def their_codes(words: Mapping[str, int], merges: int, **options) -> str | None:
    learn = needs("subword_nmt.learn_bpe")
    out = io.StringIO()
    dictionary = io.StringIO("\n".join(f"{word} {count}" for word, count in words.items()))
    try:
        learn.learn_bpe(dictionary, out, merges, is_dict=True, **options)
    except ValueError as error:  # their defect: when all words are whole, they look for the largest of nothing
        if "max()" not in str(error):
            raise
    return out.getvalue()


def test_random_codes():
    draw = random.Random(5)
    for _ in range(400):
        words = random_words(draw)
        options = {"min_frequency": draw.randint(1, 3), "total_symbols": draw.random() < 0.2}
        merges = draw.randint(0, 30)
        trained = bpe.TRAINER.train(counts_of(words), bpe.Options(merges=merges, compat="subword-nmt", **options))
        expected = their_codes(words, merges, **options).encode()
        once = list(dict.fromkeys(expected.splitlines()))  # of a merge learnt twice the second changes nothing
        assert subword_nmt.dump_codes(trained.tokenizer).splitlines() == once, words


@at_least(200)
def test_random_segmentation():
    apply_bpe = needs("subword_nmt.apply_bpe")
    draw = random.Random(6)
    for _ in range(300):
        words = random_words(draw)
        text = their_codes(words, draw.randint(1, 30), min_frequency=1)
        lines = text.splitlines()[1:]
        draw.shuffle(lines) if draw.random() < 0.3 else None  # then merges may stand before their parts'
        lines += draw.choices(lines, k=2) if lines else []
        if not lines:
            continue
        header = draw.choice(["#version: 0.2\n", "#version: 0.1\n", ""])
        text = header + "\n".join(lines) + "\n"
        tokens = [f"{word}{end}" for word in words for end in ("", "@@")] + ["a", "a@@", "b", "b@@", "ab@@"]
        known = {token for token in tokens if draw.random() < 0.5} if draw.random() < 0.4 else None
        if header != "#version: 0.2\n":
            known = None  # see below
        glossaries = draw.choice([[], [], ["ab"], ["a+", "b"]])
        theirs = apply_bpe.BPE(io.StringIO(text), vocab=known or None, glossaries=glossaries)
        ours = segmenter(
            subword_nmt.load_codes(text.encode()), vocabulary=known or None, glossaries=glossaries, separator="@@"
        )
        line = draw.choice(["", " ", "  "]) + "  ".join([*words, "xyz", "q"]) + draw.choice(["", " \n", "\r\n"])
        assert ours.line(line) == theirs.process_line(line), (text, line, known, glossaries)
        compared()


# -- where the library's answer is an accident ------------------------------------------------------


def test_a_group_in_a_glossary_doubles_text_there():
    apply_bpe = needs("subword_nmt.apply_bpe")
    codes = "#version: 0.2\nx y\n"
    theirs = apply_bpe.BPE(io.StringIO(codes), glossaries=["(ab)+"])
    assert theirs.segment("xabz") == "x@@ ab@@ ab@@ z", "the group is cut out once more"
    assert Segmenter([("x", "y")], glossaries=["(ab)+"]).segment("xabz") == "x@@ ab@@ z"


def test_alternatives_in_a_glossary_are_anchored_apart_there():
    apply_bpe = needs("subword_nmt.apply_bpe")
    theirs = apply_bpe.BPE(io.StringIO("#version: 0.2\nx y\n"), glossaries=["ab|cd"])
    assert theirs.segment("abxx") == "a@@ b@@ x@@ x", "^ab|cd$ matches the beginning, so nothing is isolated"
    assert Segmenter([("x", "y")], glossaries=["ab|cd"]).segment("abxx") == "ab@@ x@@ x"


def test_a_vocabulary_without_words_is_none_there():
    apply_bpe = needs("subword_nmt.apply_bpe")
    theirs = apply_bpe.BPE(io.StringIO("#version: 0.2\na b</w>\n"), vocab=set())
    assert theirs.segment("ab") == "ab"
    assert Segmenter([("a", "b</w>")], vocabulary=set()).segment("ab") == "a@@ b"


def test_the_separate_suffix_leaves_an_empty_subword_there():
    apply_bpe = needs("subword_nmt.apply_bpe")
    codes = "a b\nab </w>\n"
    theirs = apply_bpe.BPE(io.StringIO(codes), vocab={"a@@", "b"})
    assert theirs.segment("ab") == "a@@ b@@ ", "the end of the word was split off, and nothing is left of it"
    ours = Segmenter([("a", "b"), ("ab", "</w>")], separate_suffix=True, vocabulary={"a@@", "b"})
    assert ours.segment("ab") == "a@@ b"
