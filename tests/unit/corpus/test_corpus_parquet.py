"""A row of a Parquet column is a document."""

from __future__ import annotations

import io

import pytest

from bpe_cli.corpus import Source, columns, read_blocks
from bpe_cli.errors import InputError
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
