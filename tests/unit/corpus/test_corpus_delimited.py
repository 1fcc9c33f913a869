"""Rows of CSV and TSV are those that Python's own module reads, however the bytes arrive; broken ones say where."""

from __future__ import annotations

import contextlib
import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source, delimited, read_blocks
from bpe_cli.corpus.delimited import rows_of
from bpe_cli.corpus.rows import BrokenRow, Place, Rows
from bpe_cli.errors import InputError

PLACE = Place("x.csv", "x.csv", 1, 0)
FIELDS = st.text(st.sampled_from('ab,\t"\n é'), max_size=6)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def rows(data: bytes, size: int = 1 << 20, delimiter: bytes = b",") -> list[list[str]]:
    return [[field.decode() for field in row.fields] for row in rows_of(cut(data, size), PLACE, delimiter)]


def read(path: Path, rows: Rows | None = None, field: str = "text") -> list[bytes]:
    blocks = read_blocks(Source((str(path),), field=field), stdin=io.BytesIO(), rows=rows or Rows())
    return [bytes(document) for block in blocks for document in block.documents()]


def broken(path: Path, field: str = "text") -> tuple[list[bytes], list[BrokenRow]]:
    found: list[BrokenRow] = []
    return read(path, Rows(found.append), field), found


@given(st.lists(st.lists(FIELDS, min_size=1, max_size=4)), st.integers(1, 40), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_read_however_it_arrives(table: list[list[str]], size: int, end: str) -> None:
    for delimiter in (",", "\t"):
        written = io.StringIO()
        csv.writer(written, delimiter=delimiter, lineterminator=end).writerows(table)
        assert rows(written.getvalue().encode(), size, delimiter.encode()) == table


@given(st.text(st.sampled_from('ab,"\n'), max_size=30), st.integers(1, 8))
def test_rows_are_those_of_python(text: str, size: int) -> None:
    expected: list[list[str]] = []
    fault = ""
    try:
        expected += [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as error:
        fault = str(error)
    found: list[list[str]] = []
    error = ""
    try:
        for row in rows_of(cut(text.encode(), size), PLACE, b","):
            if row.fault is not None:
                error = row.fault.reason
                break
            found.append([field.decode() for field in row.fields])
    except InputError as raised:
        error = raised.message
    assert bool(fault) == bool(error)
    assert ("expected after" in fault) == ("after the quote" in error)
    assert fault or found == expected


@given(st.binary(max_size=30).map(lambda data: data.translate(bytes(b'ab,"\n\r'[at % 6] for at in range(256)))))
def test_every_byte_belongs_to_a_row(data: bytes) -> None:
    """Rows follow each other, and their lines are counted."""
    reached = 0
    for row in quietly(cut(data, 7)):
        assert not data[reached : row.offset].strip(b"\r\n")  # blank lines
        assert row.line == 1 + data.count(b"\n", 0, row.offset)
        assert data[row.offset :].startswith(row.data())
        reached = row.offset + row.end - row.start
    assert b'"' in data[reached:] or not data[reached:].strip(b"\r\n")
    whole = [(row.offset, row.fields, row.fault and row.fault.kind) for row in quietly(cut(data, len(data) or 1))]
    assert whole == [(row.offset, row.fields, row.fault and row.fault.kind) for row in quietly(cut(data, 1))]


def quietly(chunks: list[bytes]) -> list[delimited.Row]:
    found = []
    with contextlib.suppress(InputError):
        found.extend(rows_of(chunks, PLACE, b","))
    return found


def test_a_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b'\xef\xbb\xbfid,text\r\n\r\n1,"a ""b""\n"\r\n2,\xff\n3,\n')
    assert read(tmp_path / "x.csv") == [b'a "b"\n', b"\xff", b""]
    assert read(tmp_path / "x.csv", field="id") == [b"1", b"2", b"3"]
    (tmp_path / "x.tsv").write_bytes(b"text\tid\na,b\t1")
    assert read(tmp_path / "x.tsv") == [b"a,b"]
    (tmp_path / "empty.csv").write_bytes(b"")
    assert read(tmp_path / "empty.csv") == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"id,body\n1,a\n", "x.csv:1: there is no column 'text'"),
        (b"text,text\n", "x.csv:1: several columns are called 'text'"),
        (b"\ntext,id\na,1\nb\n", "x.csv:4: the row has 1 column, and the first row 2"),
        (b'text,id\n"a\nb",1\nb,2,3\n', "x.csv:4: the row has 3 columns, and the first row 2"),
        (b'text\n"a"b\n', "x.csv:2: there is text after the quote that ends a field"),
        (b'text\na\n"b\nc\n', "x.csv:3: the row that begins here has a quote that is not closed"),
        (b'"text"x\n', "x.csv:1: there is text after"),
    ],
)
def test_errors_say_where(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "x.csv")
    assert caught.value.message.removeprefix(f"{tmp_path}/").startswith(message)


def test_broken_rows_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b'id,text\n1,a\n2\n3,"b"c\n4,"d\ne"f\n5,g\n')
    documents, found = broken(tmp_path / "x.csv")
    assert documents == [b"a", b"g"]
    assert [(row.kind, row.place.line, row.place.offset, row.data) for row in found] == [
        ("columns", 3, 12, b"2"),
        ("quotes", 4, 14, b'3,"b"c'),
        ("quotes", 5, 21, b'4,"d\ne"f'),
    ]
    (tmp_path / "x.csv").write_bytes(b'text\na\n"b\nc\n')
    with pytest.raises(InputError, match="not closed"):  # nobody knows which rows it swallowed
        broken(tmp_path / "x.csv")


def test_a_row_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "LARGEST_ROW", 1 << 16)
    data = b'text\na\n"' + b"x" * (1 << 17) + b'"\n'
    with pytest.raises(InputError, match=r"x\.csv:3: the row that begins here has more than 65,536 bytes"):
        rows(data, 1000)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_ones_are_read(ending: str, tmp_path: Path) -> None:
    import bz2
    import gzip
    import lzma

    from tests.needs import needs

    make = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    compress = make.get(ending) or needs("zstandard").ZstdCompressor().compress
    path = tmp_path / f"x.csv{ending}"
    path.write_bytes(compress(b'id,text\n1,"a\nb"\n'))
    assert read(path) == [b"a\nb"]


def test_names_of_columns_in_another_encoding_are_not_just_missing(tmp_path: Path) -> None:
    """A spreadsheet may have written UTF-16, whose names look like others."""
    path = tmp_path / "x.csv"
    path.write_text("id,text\n1,a\n", encoding="utf-16")
    with pytest.raises(InputError, match="there is no column 'text'") as caught:
        read(path)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(
        "the first row is not UTF-8: if the file is UTF-16 or the like, write it anew; "
    )
    path.write_text("id,naïve\n1,a\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("the first row has the names of the columns: 'id', 'naïve'; ")
