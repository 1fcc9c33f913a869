"""A shuffle loses nothing, is the same whatever made it, and goes on where it was interrupted, in either pass."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.prepare import PrepareOptions, check, finish, prepare, scratch
from bpe_cli.jobs.prepare.documents import is_validation, text_hash
from bpe_cli.jobs.prepare.scratch import BucketWriter, Item, read_bucket
from bpe_cli.jobs.prepare.shuffle import key_of
from bpe_cli.sinks.atomic import open_output
from bpe_cli.sinks.beside import Strip
from bpe_cli.sinks.dataset import DATASETS
from tests.needs import needs
from tests.plain_sets import workers_for

EOT = 50256
TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(60)]
OPTIONS = PrepareOptions(to="parquet", eot="auto", part_bytes=900, shuffle="documents", seed=7)


@pytest.fixture
def corpus(tmp_path: Path) -> Source:
    (tmp_path / "in").mkdir()
    for name, texts in (("a", TEXTS[:40]), ("b", TEXTS[40:])):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        (tmp_path / f"in/{name}.jsonl").write_text(lines, encoding="utf-8")
    return Source((str(tmp_path / "in"),), documents="jsonl")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows_of(folder: Path) -> list[list[int]]:
    parquet = needs("pyarrow.parquet")
    return [
        row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path)["input_ids"].to_pylist()
    ]


def documents_of_parts(corpus: Source, tmp_path: Path, **changes: Any) -> list[list[list[int]]]:
    """Return the documents of each part as they are without a shuffle."""
    options = replace(OPTIONS, shuffle=None, seed=0, **changes)
    prepare(corpus, "gpt2", options, folder=tmp_path / "unshuffled", processes=1)
    parquet = needs("pyarrow.parquet")
    paths = sorted((tmp_path / "unshuffled").glob("*.parquet"))
    return [parquet.read_table(path)["input_ids"].to_pylist() for path in paths]


def test_the_order_is_the_stated_one(corpus: Source, tmp_path: Path) -> None:
    """By the plain way: the key of each document by its part and number, all in the order of the keys."""
    parts = documents_of_parts(corpus, tmp_path)
    keyed = []
    for part, documents in enumerate(parts):
        for number, document in enumerate(documents):
            text = b"".join(value.to_bytes(8, "little") for value in (7, part, 0, number))
            key = int.from_bytes(blake2b(text, digest_size=8, person=b"bpe shuffle").digest(), "big")
            assert key == key_of(7, part, 0, number)
            keyed.append((key, document))
    done = prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "out", processes=1)
    assert (done.is_whole, done.parts, done.documents) == (True, len(parts), len(TEXTS))
    assert rows_of(tmp_path / "out") == [document for _, document in sorted(keyed)]
    parquet = needs("pyarrow.parquet")
    for number, path in enumerate(sorted((tmp_path / "out").glob("*.parquet"))):
        mine = [document for key, document in sorted(keyed) if key * len(parts) >> 64 == number]
        assert parquet.read_table(path)["input_ids"].to_pylist() == mine
    other = prepare(corpus, "gpt2", replace(OPTIONS, seed=8), folder=tmp_path / "other", processes=1)
    assert other.is_whole
    assert rows_of(tmp_path / "other") != rows_of(tmp_path / "out")
    assert sorted(rows_of(tmp_path / "other")) == sorted(rows_of(tmp_path / "out"))


@pytest.mark.parametrize("what", ["documents", "sequences"])
@pytest.mark.parametrize("to", ["megatron", "datasets", "mds", "bin"])
def test_whatever_makes_it_it_is_the_same(what: Any, to: str, corpus: Source, tmp_path: Path) -> None:
    columns = () if to in ("bin", "megatron") else ("position_ids", "seq_lengths")
    options = replace(OPTIONS, to=to, shuffle=what, length=20, way="best-fit", pad=0, columns=columns, val=0.3)
    done = prepare(corpus, "gpt2", options, folder=tmp_path / "one", processes=1)
    processes = workers_for(to, {"documents": "datasets", "sequences": "megatron"}[what])
    prepare(corpus, "gpt2", options, folder=tmp_path / "two", processes=processes)
    files = contents(tmp_path / "one")
    assert files == contents(tmp_path / "two")
    assert not any(name.startswith("shuffle") for name in files)
    for passes in range(2):
        for number in (2, 3, 1):
            part = prepare(corpus, "gpt2", options, folder=tmp_path / "three", share=Share(number, 3), processes=1)
            # The last of the first pass can begin with the second.
            assert part.is_whole == (passes == 1 and number == 3) or passes == 1
            assert part.scattered is None or part.scattered <= part.parts
    finish(tmp_path / "three")
    assert files == contents(tmp_path / "three")
    checked = check(tmp_path / "one")
    assert (checked.documents, checked.sequences, checked.padding) == (len(TEXTS), done.sequences, done.padding)
    assert {f"{side}/{name}" for side in ("train", "val") for name in DATASETS[to].indexes} <= files.keys()
    again = prepare(corpus, "gpt2", options, folder=tmp_path / "one", processes=1)
    assert (again.made, again.kept) == (0, done.parts)
    assert contents(tmp_path / "one") == files


@pytest.mark.parametrize("way", ["truncate", "split", "concatenate", "best-fit"])
def test_sequences_are_those_that_there_were(way: Any, corpus: Source, tmp_path: Path) -> None:
    """Shuffled behind packing: the same sequences, with what stands beside them, in another order."""
    parquet = needs("pyarrow.parquet")
    columns = ("attention_mask", "position_ids", "segment_ids", "seq_lengths")
    options = replace(OPTIONS, length=20, way=way, pad=0, columns=columns)
    tables = {}
    for what in (None, "sequences"):
        folder = tmp_path / str(what)
        done = prepare(corpus, "gpt2", replace(options, shuffle=what, seed=0), folder=folder, processes=1)
        rows = [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]
        tables[what] = (rows, done.documents, done.tokens, done.sequences, done.left_out, done.padding)
    plain, shuffled = tables[None], tables["sequences"]
    assert plain[0] != shuffled[0]
    assert Counter(map(repr, plain[0])) == Counter(map(repr, shuffled[0]))
    assert plain[1:] == shuffled[1:]


def test_documents_are_shuffled_before_they_are_packed(corpus: Source, tmp_path: Path) -> None:
    prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "documents", processes=1)
    prepare(corpus, "gpt2", replace(OPTIONS, length=16), folder=tmp_path / "packed", processes=1)
    parquet = needs("pyarrow.parquet")
    for path in (tmp_path / "documents").glob("*.parquet"):
        ids = [id_ for row in parquet.read_table(path)["input_ids"].to_pylist() for id_ in row]
        packed = parquet.read_table(tmp_path / "packed" / path.name)["input_ids"].to_pylist()
        assert [id_ for row in packed for id_ in row] == ids
        assert all(len(row) == 16 for row in packed[:-1])


def test_a_document_keeps_its_side(corpus: Source, tmp_path: Path) -> None:
    prepare(corpus, "gpt2", replace(OPTIONS, val=0.3), folder=tmp_path / "out", processes=1)
    tokenizer = bpe_cli.load("gpt2")
    for side, is_val in (("train", False), ("val", True)):
        mine = [text for text in TEXTS if is_validation(text_hash(text.encode()).digest(), 0.3) == is_val]
        assert sorted(rows_of(tmp_path / "out" / side)) == sorted([*tokenizer.encode(text), EOT] for text in mine)


def test_conversations_and_masks_are_shuffled(tmp_path: Path) -> None:
    from bpe_cli.jobs.encode_chat import ChatOptions

    talks = [
        [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": f"a {number}"}]
        for number in range(20)
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    source = Source((str(tmp_path / "in.jsonl"),), documents="jsonl")
    parquet = needs("pyarrow.parquet")
    tables = []
    for shuffle in (None, "documents"):
        options = PrepareOptions(to="parquet", chat=ChatOptions(), mask="assistant", shuffle=shuffle, part_bytes=500)  # type: ignore[arg-type]
        folder = tmp_path / str(shuffle)
        prepare(source, "gpt-3.5-turbo", options, folder=folder, processes=1)
        tables.append(
            [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]
        )
    assert tables[0] != tables[1]
    assert sorted(map(repr, tables[0])) == sorted(map(repr, tables[1]))


def test_a_run_goes_on_where_it_was(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    whole = contents(folder)
    # A part of the second pass that is gone or damaged: all is read again, and that part alone is written.
    (folder / "part-00001.json").unlink()
    kept = (folder / "part-00002.parquet").stat().st_mtime_ns
    assert prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1).made == 1
    assert contents(folder) == whole
    assert (folder / "part-00002.parquet").stat().st_mtime_ns == kept
    # More inputs, or other ones: every part depends on them.
    with open(tmp_path / "in/b.jsonl", "a") as file:
        file.write('{"text": "more"}\n')
    with pytest.raises(UsageError, match="made of other inputs"):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    more = prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
    assert (more.kept, more.documents) == (0, done.documents + 1)
    prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "fresh", processes=1)
    assert contents(folder) == contents(tmp_path / "fresh")


def test_damage_between_the_passes_is_noticed(corpus: Source, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bpe_cli.jobs.prepare.shuffle.PartOutput", None)
        with pytest.raises(TypeError):
            prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    paths = sorted((folder / "shuffle").glob("*.items"))
    assert len(paths) > 2
    before = paths[0].stat().st_mtime_ns
    data = bytearray(paths[1].read_bytes())
    data[3] ^= 1
    paths[1].write_bytes(data)
    with pytest.raises(InputError, match=r"part-00001\.items is damaged"):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1)
    paths[1].unlink()
    prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "fresh", processes=1)
    assert paths[0].stat().st_mtime_ns == before  # it was not made again
    assert prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1).is_whole
    assert contents(folder) == contents(tmp_path / "fresh")


def test_only_what_a_shuffle_has_made_is_removed(corpus: Source, tmp_path: Path) -> None:
    """A folder called ``shuffle`` may be anybody's, with a data set of its own, too."""
    folder, inner = tmp_path / "out", tmp_path / "out/shuffle"
    plain = replace(OPTIONS, shuffle=None, seed=0)
    prepare(corpus, "gpt2", plain, folder=folder, processes=1)
    inner.mkdir()
    (inner / "mine.txt").write_text("precious")
    for one in (plain, replace(plain, eot=None)):
        prepare(corpus, "gpt2", one, folder=folder, processes=1, overwrite=True)
    finish(folder)
    assert contents(inner) == {"mine.txt": b"precious"}
    (inner / "mine.txt").unlink()
    prepare(corpus, "gpt2", replace(plain, on_error="quarantine"), folder=inner, processes=1)
    there = contents(inner)
    prepare(corpus, "gpt2", plain, folder=folder, processes=1, overwrite=True)
    finish(folder)
    assert contents(inner) == there
    with pytest.raises(UsageError, match=r"first pass of a shuffle goes into .*, where something else is: man"):
        prepare(corpus, "gpt2", OPTIONS, folder=folder, processes=1, overwrite=True)
    assert contents(inner) == there
    assert check(inner).is_whole


def test_what_is_beside_the_first_pass_stays(corpus: Source, tmp_path: Path) -> None:
    prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "out", share=Share(1, 2), processes=1)
    inner = tmp_path / "out/shuffle"
    (inner / ".part-00001.items.elsewhere-17.part").write_bytes(b"lost")
    (inner / ".mine").write_bytes(b"precious")
    assert list(inner.glob("*.items"))
    assert prepare(corpus, "gpt2", OPTIONS, folder=tmp_path / "out", processes=1).is_whole
    assert contents(inner) == {".mine": b"precious"}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_table_of_buckets_may_say_anything(place: int, tmp_path: Path) -> None:
    path = str(tmp_path / "0.items")
    with open_output(path) as output:
        BucketWriter(output, 2).finish()
    data = bytearray(Path(path).read_bytes())
    for end in (1 << 40, (1 << 63) - 1, (1 << 64) - 1):
        data[8 * place : 8 * place + 8] = end.to_bytes(8, "little")
        Path(path).write_bytes(data)
        for bucket in {max(place - 1, 0), min(place, 1)}:
            with pytest.raises(InputError, match=r"0\.items is damaged"):
                read_bucket([path], bucket, 2)


ITEMS = st.lists(st.tuples(st.integers(0, (1 << 64) - 1), st.lists(st.integers(0, 9), max_size=6)), max_size=30)


@given(parts=st.lists(ITEMS, min_size=1, max_size=3), buckets=st.integers(1, 9), run=st.integers(1, 300))
def test_buckets_hold_every_item_once(
    parts: list[list[tuple[int, list[int]]]], buckets: int, run: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from array import array

    folder = tmp_path_factory.mktemp("items")
    expected, paths = [], []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scratch, "RUN_BYTES", run)
        for part, items in enumerate(parts):
            paths.append(str(folder / f"{part}.items"))
            with open_output(paths[-1]) as output:
                writer = BucketWriter(output, buckets)
                for number, (key, ids) in enumerate(items):
                    mask = array("B", [id_ % 2 for id_ in ids]) if part else None
                    pieces = array("Q", [len(ids)]) if number % 2 else None
                    writer.add(Item(key, part, number, number % 2, Strip(array("I", ids), mask), pieces))
                    expected.append((key, part, number, ids))
                writer.finish()
    found = []
    for bucket in range(buckets):
        for item in read_bucket(paths, bucket, buckets):
            assert item.key * buckets >> 64 == bucket
            assert (item.side, item.pieces is None) == (item.number % 2, item.number % 2 == 0)
            assert item.pieces is None or item.pieces.tolist() == [len(item.strip)]
            ids = list(item.strip.ids)
            assert item.strip.mask is None if not item.part else list(item.strip.mask) == [id_ % 2 for id_ in ids]
            found.append((item.key, item.part, item.number, ids))
    assert found == sorted(expected, key=lambda each: each[:3])
    for path in folder.iterdir():
        path.unlink()


def test_orders_are_equally_likely() -> None:
    """Over many seeds each of the 24 orders of four documents comes up about as often; and none by its place."""
    orders = Counter(
        tuple(sorted(range(4), key=lambda number: key_of(seed, number // 2, 0, number % 2))) for seed in range(24_000)
    )
    assert len(orders) == 24
    chi = sum((count - 1000) ** 2 / 1000 for count in orders.values())
    assert chi < 60  # 23 degrees of freedom: one of 20,000 is larger


def test_sequences_need_a_length() -> None:
    with pytest.raises(UsageError, match="there are no sequences to shuffle"):
        PrepareOptions(shuffle="sequences")
    with pytest.raises(UsageError, match="`seed` must be at least 0"):
        PrepareOptions(shuffle="documents", seed=-1)


def test_programs_have_all_seeds(tmp_path: Path) -> None:
    """The command line has; a program had those below 2^63."""
    (tmp_path / "x.txt").write_text("a\nb\n")
    most = (1 << 64) - 1
    for seed in (0, most):
        done = bpe_cli.prepare(
            "gpt2", tmp_path / "x.txt", tmp_path / str(seed), documents="lines", shuffle="documents", seed=seed,
            processes=1,
        )  # fmt: skip
        assert done.is_whole
    with pytest.raises(UsageError, match="seed must be 18,446,744,073,709,551,615 or less"):
        bpe_cli.prepare("gpt2", tmp_path / "x.txt", tmp_path / "no", seed=most + 1, processes=1)
