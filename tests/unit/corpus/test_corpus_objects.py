"""Objects are found, listed and read as files are, whatever their servers do meanwhile."""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.corpus import Inputs, Source, read_blocks
from bpe_cli.corpus.extents import read_lines_in
from bpe_cli.corpus.objects import reading
from bpe_cli.corpus.objects.ranged import open_object
from bpe_cli.corpus.opening import head_of, read_chunks
from bpe_cli.errors import InputError, UsageError
from tests.needs import needs
from tests.object_store import Shelf, every, in_reach, put, roots, serving

TEXT = b"".join(b"line %d of the text\n" % number for number in range(20_000))  # some hundred KB


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    with in_reach(monkeypatch, {}) as shelf:
        yield shelf


EACH = pytest.mark.parametrize("scheme", ["s3", "gs", "az", "hf", "http"])


def whole(url: str, **known: object) -> bytes:
    return b"".join(read_chunks(url, stdin=io.BytesIO(), **known))  # type: ignore[arg-type]


# -- reading ------------------------------------------------------------------------------------------


@EACH
def test_bytes_are_those_of_the_object(scheme: str, shelf: Shelf) -> None:
    for name, data in {"empty": b"", "one": b"x", "text": TEXT}.items():
        shelf.objects[f"bucket/data/{name}"] = data
        url = roots(shelf)[scheme] + name
        item = Inputs.resolve([url]).items[0]
        assert item.size == len(data)
        for known in ({}, {"version": item.version, "size": item.size}):
            assert whole(url, **known) == data
            assert whole(url, chunk_bytes=100, **known) == data
        assert head_of(url) == data[: 1 << 16]
        assert b"".join(reading.stream(url, 0, 1)) == data[:1]
        assert b"".join(reading.stream(url, min(7, len(data)), 1 << 60, size=len(data))) == data[7:]


@EACH
def test_an_object_may_be_as_long_as_what_is_fetched_to_look_at_it(scheme: str, shelf: Shelf) -> None:
    for more in (-1, 0, 1):
        data = b'{"text": "%s"}' % (b"x" * ((1 << 16) - 12 + more))
        shelf.objects["bucket/data/text"] = data
        assert len(data) == (1 << 16) + more
        assert whole(roots(shelf)[scheme] + "text", chunk_bytes=100) == data


@pytest.mark.parametrize(
    ("scheme", "marks", "ranges"),
    [*((scheme, True, True) for scheme in ("s3", "gs", "az", "hf")),
     *(("http", marks, ranges) for marks in (True, False) for ranges in (True, False))],
)  # fmt: skip
def test_failures_change_nothing(scheme: str, marks: bool, ranges: bool, shelf: Shelf) -> None:
    shelf.objects["bucket/data/text"] = TEXT
    shelf.marks, shelf.ranges = marks, ranges
    shelf.faults = every(2, "cut", "500", "reset", "503", "429")
    url = roots(shelf)[scheme] + "text"
    for number in range(3):
        assert whole(url) == TEXT, number
    assert b"".join(reading.stream(url, 1000, 9000)) == TEXT[1000:9000]


def test_large_files_of_the_hub_lie_elsewhere(shelf: Shelf) -> None:
    shelf.objects |= {"org/name/data/a b.txt": TEXT, "org/name/data/small": b"small"}
    shelf.large, shelf.token = ".txt", "token"
    large, small = Inputs.resolve(["hf://datasets/org/name/data/"]).items
    assert large.version == hashlib.sha256(TEXT).hexdigest(), "the hash of its bytes"
    shelf.faults = every(3, "cut", "500", "reset")
    assert whole(large.path, version=large.version, size=large.size) == TEXT
    assert whole(small.path, version=small.version, size=small.size) == b"small"
    shelf.faults = lambda *_: None
    shelf.objects["org/name/data/a b.txt"] = TEXT[:-1] + b"!"
    with pytest.raises(InputError, match="it has changed since it was listed"):
        whole(large.path, version=large.version, size=large.size)
    assert shelf.leaked == [], "the token went nowhere else"


def test_an_answer_without_a_length_is_read_to_its_end(shelf: Shelf) -> None:
    shelf.objects["bucket/text"] = TEXT
    shelf.lengths = shelf.ranges = False
    assert Inputs.resolve([f"{shelf.url}/bucket/text"], examined=True).items[0].size is None
    assert whole(f"{shelf.url}/bucket/text") == TEXT
    shelf.objects["bucket/text"] = b"short"
    assert whole(f"{shelf.url}/bucket/text", chunk_bytes=10) == b"short"


@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_reading_goes_on_where_it_was(scheme: str, shelf: Shelf) -> None:
    text = shelf.objects["bucket/text"] = TEXT * 20
    shelf.faults = lambda number, _: "cut" if number < 4 else None
    assert (
        b"".join(reading.stream(("s3://" if scheme == "s3" else f"{shelf.url}/") + "bucket/text", size=len(text)))
        == text
    )
    starts = [int(found[1]) for _, _, wanted in shelf.seen if (found := re.match(r"bytes=(\d+)", wanted))]
    assert starts == sorted(set(starts)), "never twice from the same byte"
    assert len(starts) == 3 + (scheme == "http")


@EACH
def test_it_ends_at_last(scheme: str, shelf: Shelf) -> None:
    shelf.objects["bucket/data/text"] = TEXT
    url = roots(shelf)[scheme] + "text"
    shelf.faults = lambda *_: "503"
    with pytest.raises(InputError, match=r"cannot read .*text, at byte 200,000: 503.*\(10 tries\)") as caught:
        list(reading.stream(url, 200_000, size=len(TEXT)))
    assert "later" in str(caught.value.hint)
    shelf.faults = lambda *_: "reset"
    with pytest.raises(InputError, match=r"\(10 tries\)"):
        reading.find(url)


@EACH
@pytest.mark.parametrize("status", ["403", "401", "404", "400"])
def test_what_no_second_try_mends_is_said_at_once(scheme: str, status: str, shelf: Shelf) -> None:
    shelf.objects["bucket/data/text"] = TEXT
    shelf.faults = lambda *_: status
    said = {"403": "permission denied", "401": "permission denied", "404": "no such object", "400": "cannot read .*400"}
    with pytest.raises(InputError, match=said[status]) as caught:
        whole(roots(shelf)[scheme] + "text")
    assert "tries" not in str(caught.value)
    assert len(shelf.seen) == 1


@EACH
def test_another_version_is_refused(scheme: str, shelf: Shelf) -> None:
    shelf.objects["bucket/data/text"] = TEXT
    url = roots(shelf)[scheme] + "text"
    item = Inputs.resolve([url]).items[0]
    for other in (TEXT[:-1] + b"!", TEXT + b"more", TEXT[:-1]):
        shelf.objects["bucket/data/text"] = other
        with pytest.raises(InputError, match=r"it has changed since it was listed|it is shorter"):
            whole(url, version=item.version, size=item.size)


def test_another_version_is_refused_between_two_answers(shelf: Shelf) -> None:
    for marks, ranges in ((True, True), (False, False), (True, False)):
        shelf.objects["bucket/text"], shelf.marks, shelf.ranges = TEXT, marks, ranges
        shelf.faults = lambda *_: "cut"
        chunks = reading.stream(f"{shelf.url}/bucket/text")
        got = [next(chunks)]
        shelf.faults = lambda *_: None
        shelf.objects["bucket/text"] = b"!" + TEXT[1:]  # of the same size
        with pytest.raises(InputError, match="it has changed"):
            got.extend(chunks)
        assert TEXT.startswith(b"".join(got)), "no byte of the other version came"


def test_marks_of_lists_and_answers_may_differ(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.objects["bucket/text"] = TEXT
    listed = reading.find("s3://bucket/text")
    real = reading.find
    monkeypatch.setattr(reading, "find", lambda url: type(listed)(url, len(TEXT), "as it stands in lists"))
    assert b"".join(reading.stream("s3://bucket/text", version="as it stands in lists")) == TEXT
    with pytest.raises(InputError, match="it has changed"):
        b"".join(reading.stream("s3://bucket/text", version="another"))
    assert real("s3://bucket/text") == listed


@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"bc\n", b"long" * 9]), max_size=30).map(b"".join),
    cuts=st.tuples(st.integers(0, 120), st.integers(0, 120)),
)
@settings(max_examples=60, deadline=None)
def test_lines_of_a_range_are_those_of_a_file(data: bytes, cuts: tuple[int, int]) -> None:
    start, end = sorted(min(cut, len(data)) for cut in cuts)
    with served_once({"bucket/lines": data}) as url, TemporaryDirectory() as folder:
        path = Path(folder) / "lines"
        path.write_bytes(data)
        heard: list[bytes] = []
        got = b"".join(read_lines_in(f"{url}/bucket/lines", start, end, on_raw=heard.append, size=len(data)))
        assert got == b"".join(read_lines_in(str(path), start, end)) == b"".join(heard)


@contextmanager
def served_once(objects: dict[str, bytes]) -> Iterator[str]:
    with serving(Shelf(objects)) as shelf:
        yield shelf.url


def test_long_lines_are_followed_beyond_a_range(shelf: Shelf) -> None:
    line = b"x" * 500_000 + b"\n"
    shelf.objects["bucket/text"] = line * 3
    parts = [b"".join(reading.lines_in("s3://bucket/text", at, at + 10, version=None, size=len(line) * 3))
             for at in (0, 10, 500_000, 500_001, 1_000_002)]  # fmt: skip
    assert [len(part) for part in parts] == [500_001, 0, 500_001, 500_001, 500_001]


def test_nobody_fetches_on_when_nobody_reads(shelf: Shelf) -> None:
    shelf.objects["bucket/text"] = b"x" * (40 << 20)
    chunks = read_chunks("s3://bucket/text", stdin=io.BytesIO())
    next(chunks)
    held = [thread for thread in threading.enumerate() if thread.name == "bpe-ahead"]
    assert len(held) == 1
    chunks.close()
    held[0].join(10)
    assert not held[0].is_alive()


# -- what is in them ----------------------------------------------------------------------------------


def documents(source: Source) -> list[bytes]:
    found: list[bytes] = []
    for block in read_blocks(source, stdin=io.BytesIO()):
        for data, begins, _ in block.parts():
            if begins:
                found.append(b"")
            found[-1] += bytes(data)
    return found


@EACH
def test_documents_are_those_of_files(scheme: str, shelf: Shelf, tmp_path: Path) -> None:
    import bz2
    import gzip
    import lzma

    lines = b"".join(b'{"text": "document %d"}\n' % number for number in range(500))
    pack = {"0.jsonl": bytes, "1.jsonl.gz": gzip.compress, "2.jsonl.bz2": bz2.compress, "3.jsonl.xz": lzma.compress}
    put(shelf, tmp_path, {name: make(lines) for name, make in pack.items()})
    names = [roots(shelf)[scheme] + name for name in pack]
    expected = documents(Source((str(tmp_path),), documents="jsonl"))
    assert documents(Source(tuple(names), documents="jsonl")) == expected
    assert len(expected) == 2000
    with pytest.raises(UsageError, match="JSON lines, which would be read as text"):
        documents(Source((names[1],)))


def table(rows: int) -> object:
    pyarrow = needs("pyarrow")
    columns = {"id": list(range(rows)), "text": [f"document {number} " * 20 for number in range(rows)],
               "large": [os.urandom(2000) for _ in range(rows)]}  # fmt: skip
    return pyarrow.table(columns)


@pytest.mark.parametrize("scheme", ["s3", "hf", "http"])
def test_tables_are_read_by_ranges(scheme: str, shelf: Shelf, tmp_path: Path) -> None:
    parquet, feather = needs("pyarrow.parquet", "pyarrow"), needs("pyarrow.feather", "pyarrow")
    content = table(3000)
    parquet.write_table(content, tmp_path / "a.parquet", row_group_size=700)
    feather.write_feather(content, str(tmp_path / "b.feather"), chunksize=700)
    put(shelf, tmp_path, {name: (tmp_path / name).read_bytes() for name in ("a.parquet", "b.feather")})
    for name in ("a.parquet", "b.feather"):
        shelf.faults = every(4, "cut", "500", "reset")
        shelf.seen.clear()
        assert documents(Source((roots(shelf)[scheme] + name,))) == documents(Source((str(tmp_path / name),)))
        assert len(shelf.seen) < 60
    assert all(wanted for method, _, wanted in shelf.seen if method == "GET"), "each a range"


def test_a_column_is_fetched_without_the_others(shelf: Shelf, tmp_path: Path) -> None:
    parquet = needs("pyarrow.parquet", "pyarrow")
    parquet.write_table(table(3000), tmp_path / "a.parquet", row_group_size=1000)
    shelf.objects["bucket/a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    assert len(documents(Source((f"{shelf.url}/bucket/a.parquet",)))) == 3000
    fetched = 0
    for _, _, wanted in shelf.seen:
        start, end = re.findall(r"\d*", wanted.removeprefix("bytes="))[0], wanted.rpartition("-")[2]
        fetched += int(end) + 1 - int(start)
    assert fetched < len(shelf.objects["bucket/a.parquet"]) / 5


def test_a_table_needs_ranges(shelf: Shelf, tmp_path: Path) -> None:
    parquet = needs("pyarrow.parquet", "pyarrow")
    parquet.write_table(table(3), tmp_path / "a.parquet")
    shelf.objects["bucket/a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    shelf.ranges = False
    with pytest.raises(InputError, match="its server does not send ranges of bytes") as caught:
        documents(Source((f"{shelf.url}/bucket/a.parquet",)))
    assert "download it" in str(caught.value.hint)


def test_failures_are_said_through_the_reader_of_tables(shelf: Shelf, tmp_path: Path) -> None:
    parquet = needs("pyarrow.parquet", "pyarrow")
    parquet.write_table(table(300), tmp_path / "a.parquet", row_group_size=100)
    data = shelf.objects["bucket/a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    source = Source(("s3://bucket/a.parquet",))
    inputs = source.inputs()
    shelf.objects["bucket/a.parquet"] = data[:100] + b"!" + data[101:]
    with pytest.raises(InputError, match="it has changed since it was listed"):
        list(read_blocks(source, stdin=io.BytesIO(), inputs=inputs))
    shelf.objects["bucket/a.parquet"] = data
    shelf.faults = lambda number, _: "500" if number > len(shelf.seen) // 2 + 4 else None
    with pytest.raises(InputError, match="10 tries"):
        list(read_blocks(source, stdin=io.BytesIO(), inputs=inputs))


def test_a_saved_data_set_is_read_in_its_order(shelf: Shelf, tmp_path: Path) -> None:
    datasets = needs("datasets")
    texts = [f"row {number}" for number in range(50)]
    datasets.Dataset.from_dict({"text": texts}).save_to_disk(str(tmp_path / "saved"), num_shards=3)
    tree = {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()}
    put(shelf, tmp_path / "copy", tree | {"cache-1.arrow": b"not of it"})
    notes: list[str] = []
    inputs = Source(("s3://bucket/data",)).inputs(on_skip=notes.append)
    assert [item.path.rpartition("/")[2] for item in inputs.items] == sorted(n for n in tree if n.endswith(".arrow"))
    assert documents(Source(("s3://bucket/data",))) == [text.encode() for text in texts]
    assert any("cache-1.arrow skipped" in note for note in notes)


# -- a file of random access --------------------------------------------------------------------------


@given(
    reads=st.lists(st.tuples(st.integers(0, 450_000), st.sampled_from([0, 1, 100, 70_000, 400_000])), max_size=12),
    stretches=st.lists(st.tuples(st.integers(0, 400_000), st.integers(1, 60_000)), max_size=3),
    in_order=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_any_reads_give_the_bytes_there(
    reads: list[tuple[int, int]], stretches: list[tuple[int, int]], in_order: bool
) -> None:
    data = (TEXT * 2)[:450_000]
    with served_once({"bucket/text": data}) as url, open_object(f"{url}/bucket/text", None) as file:
        file.will_read([(start, start + size) for start, size in stretches])
        there = io.BytesIO(data)
        for place, size in sorted(reads) if in_order else reads:
            assert file.seek(place) == there.seek(place)
            assert file.read(size) == there.read(size)
            assert file.tell() == there.tell()
        assert (file.seek(-3, io.SEEK_END), file.read()) == (len(data) - 3, data[-3:])
        assert (file.seek(0), file.seek(5, io.SEEK_CUR), file.size()) == (0, 5, len(data))


def test_stretches_are_fetched_side_by_side(shelf: Shelf) -> None:
    data = shelf.objects["bucket/text"] = TEXT * 4
    stretches = [(number * 100_000, number * 100_000 + 90_000) for number in range(10)]
    with open_object("s3://bucket/text", None) as file:
        file.will_read(stretches)
        before = len(shelf.seen)
        for offset in range(0, 90_000, 9_000):
            for start, _ in stretches[:8]:
                file.seek(start + offset)
                assert file.read(9_000) == data[start + offset : start + offset + 9_000]
        assert len(shelf.seen) - before == 8, "each by one request"
        for offset in range(0, 90_000, 45_000):  # too many at a time: some are fetched twice
            for start, _ in stretches:
                file.seek(start + offset)
                assert file.read(45_000) == data[start + offset : start + offset + 45_000]
