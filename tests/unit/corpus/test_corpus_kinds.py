"""What a file holds is told by its first bytes and its name, and text is never taken for something else."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sqlite3
import tarfile
import zipfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli.corpus.kinds import (
    ARROW,
    CSV,
    EMPTY,
    IDS,
    IDS_RECORD,
    JSONL,
    OBJECT,
    PARQUET,
    SET_RECORD,
    TAR,
    TEXT,
    kind_of_file,
    kind_of_head,
)
from tests.cli_runner import call
from tests.needs import needs

LINES = b'{"text": "a b"}\n{"text": "c d"}\n'


MARKS = st.sampled_from(
    ["PAR1", "PARE", "FEA1", "ARROW1", "PK", "7z", "Rar!", "LZIP", "%PDF-1.7", "SQLite format 3", "Obj", "HDF", "NUMPY"]
)


@pytest.fixture
def kind(tmp_path):
    def kind(name, data):
        (tmp_path / name).write_bytes(data)
        return kind_of_file(str(tmp_path / name))[0]

    return kind


def tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"), io.BytesIO())
    return file.getvalue()


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as into:
        into.writestr("a.txt", "text")
    return file.getvalue()


def array() -> bytes:
    numpy, file = needs("numpy"), io.BytesIO()
    numpy.save(file, numpy.arange(3))
    return file.getvalue()


def database(tmp_path) -> bytes:
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("create table a (b)")
    return (tmp_path / "x.db").read_bytes()


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("a.txt", b"text", TEXT),
        ("a", b"", EMPTY),
        ("a", b"{}\n", OBJECT),
        ("a.json", b'{\n  "a": 1\n}\n', TEXT),
        ("a", LINES, JSONL),
        ("part-00000", gzip.compress(LINES, mtime=0), JSONL),
        ("a.jsonl", b"text", JSONL),
        ("A.JSONL.GZ", gzip.compress(b"text", mtime=0), JSONL),
        ("a.ndjson.bz2", bz2.compress(b"text"), JSONL),
        ("a.jsonl.xz", lzma.compress(b""), JSONL),
        ("a.jsonl.txt", b"text", TEXT),
        ("a", b"PAR1" + b"\1" * 100 + b"PAR1", PARQUET),
        ("a", b"PAR1PAR1", TEXT),
        ("a", b"PARENTS\nand other words\nPARENT", TEXT),
        ("a", b"FEA1 is", TEXT),
        ("a", b"%PDF-1.7 is a version", TEXT),
        ("a.parquet", b"text", PARQUET),
        ("a", b"PAR1\x15\x04", PARQUET),
        ("a", b"PAR1 is the mark of Parquet", TEXT),
        ("a.arrow", b"text", ARROW),
        ("a.feather", b"", ARROW),
        ("a", b"ARROW1 is the mark of Arrow", TEXT),
        ("a", b"\xff" * 300, TEXT),
        ("a", b"\xff\xff\xff\xff\x08\0\0\0text and so on", TEXT),
        ("a", b"PK is short", TEXT),
        ("a", b"SQLite format 3 is", TEXT),
        ("a", b"x" * 257 + b"ustar" + b"x" * 200, TEXT),
    ],
)  # fmt: skip
def test_kinds(kind, name, data, found):
    assert kind(name, data) is found


def test_containers_are_known_by_what_their_programs_write(kind, tmp_path):
    contents = {
        "a NumPy array": array(),
        "a zip archive": archive(),
        "an SQLite database": database(tmp_path),
        "encrypted Parquet": b"PARE" + b"\1" * 100 + b"PARE",
        "a Feather file of version 1": b"FEA1\0\0\0\0",
        "a PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "compressed Parquet": gzip.compress(b"PAR1\x15\x04"),
        "compressed Arrow": gzip.compress(b"ARROW1\0\0"),
    }
    for title, data in contents.items():
        found = kind("a", data)
        assert (found.title, bool(found.advice)) == (title, True)
    assert kind("a.tar.gz", gzip.compress(tar())) is kind("a", tar()) is kind("a.tgz", b"") is TAR
    assert kind("a.csv.zst", b"") is kind("a.CSV", b'{"a": 1}') is CSV
    assert kind("a.txt.gz", gzip.compress(b"text")) is TEXT


def test_ids_are_known_by_their_record(kind, tmp_path):
    assert call("encode", "-T", "hello", "--to", "bin", "-o", "x.bin", "-t", "gpt2", "-q", cwd=tmp_path).status == 0
    assert kind_of_file(str(tmp_path / "x.bin"))[0] is IDS
    assert kind_of_file(str(tmp_path / "x.bin.json"))[0] is IDS_RECORD
    assert kind("y.bin", (tmp_path / "x.bin").read_bytes()) is TEXT
    (tmp_path / "y.bin.json").write_text('{"schema": "another"}')
    assert kind_of_file(str(tmp_path / "y.bin"))[0] is TEXT


@pytest.mark.parametrize("name", ["plan.json", "manifest.json", "part-00000.json", "part-0f.json"])
@pytest.mark.parametrize("before", [0, 8172, 30_000])  # in the first bytes, across their end, and behind them
def test_records_of_data_sets_are_known_by_name_and_schema(kind, name, before):
    def written(schema):
        return b'{\n  "bytes": "%s",\n  "schema": "%s"\n}\n' % (b"x" * before, schema)

    assert kind(name, written(b"bpe-dataset-plan/1")) is kind(name, written(b"bpe-dataset/1")) is SET_RECORD
    assert kind(name, written(b"other-dataset/1")) is kind(f"x{name}", written(b"bpe-dataset/1")) is TEXT
    assert kind(name, b'{\n  "a": {\n    "schema": "bpe-dataset/1"\n  }\n}\n') is TEXT
    assert kind(name, b'{\n  "a": "\\n  \\"schema\\": \\"bpe-dataset/1"\n}\n') is TEXT


@given(st.one_of(st.text(max_size=400), st.builds(str.__add__, MARKS, st.text(max_size=20))))
@example("x" * 257 + "ustar" + "x" * 200)
def test_text_without_controls_is_text(text):
    """All marks hold a byte that UTF-8 text has not, or a control character that text has not."""
    text = "".join(each for each in text if each.isprintable())
    assert kind_of_head(text.encode()) is None
