"""A row of a Parquet column is a document."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus import Source, columns, read_blocks
from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.rows import BrokenRow, Rows
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import whole_documents
from tests.needs import needs

pyarrow = needs("pyarrow")


@pytest.fixture
def write(tmp_path):
    import pyarrow.parquet as pq

    def write(rows, kind=None, name="x.parquet"):
        path = tmp_path / name
        pq.write_table(pyarrow.table({"id": list(range(len(rows))), "text": pyarrow.array(rows, kind)}), path)
        return str(path)

    return write


def read(path, field="text", **options):
    blocks = read_blocks(Source((path,), field=field), stdin=io.BytesIO(), **options)
    return [bytes(document) for block in blocks for document in block.documents()]


def test_rows_are_documents_and_hashed_and_counted(write, tmp_path):
    path = write(["a", "", "é"] * 1000)
    counted, hashes = [], []
    assert read(path, on_bytes=counted.append, hashes=hashes) == [b"a", b"", "é".encode()] * 1000
    size = (tmp_path / "x.parquet").stat().st_size
    assert sum(counted) == size
    import hashlib

    assert hashes == [(path, hashlib.sha256((tmp_path / "x.parquet").read_bytes()).hexdigest(), size)]


def test_binaries_dictionaries_and_structs(write):
    assert read(write([b"\xff", b"b"], pyarrow.binary())) == [b"\xff", b"b"]
    assert read(write(pyarrow.array(["a", "b", "a"]).dictionary_encode())) == [b"a", b"b", b"a"]
    assert read(write([{"b": "x", "c": 1}]), "text.b") == [b"x"]
    assert read(write([], pyarrow.string())) == []


KINDS = (pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.large_binary())


@given(
    st.lists(st.lists(st.one_of(st.text(max_size=9), st.none()), max_size=6), min_size=1, max_size=4),
    st.sampled_from(KINDS),
    st.integers(0, 3),
    st.integers(1, 12),
)
def test_texts_as_they_lie_in_memory_are_those_of_the_rows(batches, kind, sliced, block_bytes):
    schema = pyarrow.schema([("text", kind)])
    broken: list[BrokenRow] = []
    packer = Packer(block_bytes)
    rows = Rows(on_broken=broken.append)
    documents = columns._Documents("x", schema, "text", pyarrow, packer, rows)
    blocks, expected, nulls, row = [], [], [], 0
    for values in batches:
        batch = pyarrow.record_batch([pyarrow.array(values, kind)], schema).slice(sliced)
        blocks += documents.of(batch)
        for value in values[sliced:]:
            row += 1
            if value is None:
                nulls.append(row)
            else:
                expected.append(value.encode())
    blocks += packer.flush()
    assert [document for some in whole_documents(blocks) for document in some] == expected
    assert [each.place.row for each in broken] == nulls
    assert packer.closed == len(expected)


def test_texts_that_are_not_utf8_are_named(tmp_path):
    path = tmp_path / "x.parquet"
    import pyarrow.parquet as pq

    data = pyarrow.array([b"a", b"\xff"], pyarrow.binary())
    text = pyarrow.Array.from_buffers(pyarrow.string(), 2, data.buffers())
    pq.write_table(pyarrow.table({"text": text}), path)
    with pytest.raises(InputError, match="its Parquet data is damaged"):
        read(str(path))


@pytest.mark.parametrize(
    ("rows", "field", "message"),
    [
        (["a", None], "text", "row 2: the column 'text' is null"),
        (["a"], "body", "there is no column 'body'"),
        (["a"], "text.b", "there is no column 'text.b'"),
        ([1], "text", "the column 'text' holds int64, not strings"),
    ],
)
def test_wrong_columns_are_named(write, rows, field, message):
    with pytest.raises(InputError, match=message):
        read(write(rows), field)


def test_damage_is_named(write, tmp_path):
    path = write(["a"] * 100)
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + b"\1" * 100 + b"PAR1")
    with pytest.raises(InputError, match=r"cannot read .*x\.parquet: its Parquet data is damaged"):
        read(path)


def test_without_pyarrow_the_way_out_is_said(write, monkeypatch):
    path = write(["a"])
    monkeypatch.setattr(columns, "optional", lambda module: None)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.hint == "pip install pyarrow"


def test_folders_have_parquet_files_too(write, tmp_path):
    write(["a"])
    assert read(str(tmp_path)) == [b"a"]
