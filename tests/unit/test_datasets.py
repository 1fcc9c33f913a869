"""A data set is read back row by row: the documents, or the sequences, that were written."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli import TokenDataset
from bpe_cli.errors import CheckFailed, InputError, UsageError

LINES = [f"line {number} " + "naïve 日本 " * (number % 5) for number in range(25)]
READ = ["bin", "npy", "megatron", "datatrove", "npy-offsets", "litdata"]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("".join(line + "\n" for line in LINES))
    return path


def prepared(lines: Path, **options: object) -> TokenDataset:
    folder = lines.parent / "out"
    bpe_cli.prepare("gpt2", lines, folder, documents="lines", part_bytes=200, processes=1, **options)  # type: ignore[arg-type]
    return TokenDataset(folder)


@pytest.mark.parametrize("dtype", ["u16", "u32"])
@pytest.mark.parametrize("to", READ)
def test_rows_are_documents(lines: Path, to: str, dtype: str) -> None:
    rows = prepared(lines, to=to, eot="auto", dtype=dtype)
    tokenizer = bpe_cli.load("gpt2")
    expected = [[*tokenizer.encode(line), 50256] for line in LINES]
    assert [row.tolist() for row in rows] == expected
    assert [rows[at].tolist() for at in range(len(rows))] == expected
    assert (rows[-1].tolist(), [row.tolist() for row in rows[3:5]]) == (expected[-1], expected[3:5])
    assert (rows.documents, rows.tokens, rows.dtype) == (25, sum(map(len, expected)), dtype)
    copy = pickle.loads(pickle.dumps(rows))
    assert [row.tolist() for row in copy] == expected
    with pytest.raises(IndexError, match="there is no row 25 among 25"):
        rows[25]


@pytest.mark.parametrize("to", READ)
@pytest.mark.parametrize("way", ["truncate", "split", "concatenate", "best-fit"])
def test_rows_are_sequences(lines: Path, to: str, way: str) -> None:
    rows = prepared(lines, to=to, eot="auto", length=8, way=way, pad=0)
    assert len(rows) > 10
    assert {len(row) for row in rows} == {8}
    ids = [id_ for row in rows for id_ in row.tolist() if id_]
    tokenizer = bpe_cli.load("gpt2")
    expected = [[*tokenizer.encode(line), 50256] for line in LINES]
    if way == "truncate":
        assert ids == [id_ for each in expected for id_ in each[:8]]
    else:
        assert sorted(ids) == sorted(id_ for each in expected for id_ in each)


def test_what_cannot_be_divided_is_refused(lines: Path) -> None:
    with pytest.raises(UsageError, match="nothing says where the documents"):
        prepared(lines)
    bpe_cli.prepare("gpt2", lines, lines.parent / "b", documents="lines", eot="auto", length=8, way="best-fit")
    with pytest.raises(UsageError, match="nothing says where the sequences"):
        TokenDataset(lines.parent / "b")[0]
    with pytest.raises(InputError, match="there is no data set"):
        TokenDataset(lines.parent)
    (lines.parent / "b/part-00000.bin").write_bytes(b"")
    with pytest.raises(CheckFailed, match=r"part-00000\.bin has 0 bytes"):
        TokenDataset(lines.parent / "b")
    with pytest.raises(TypeError, match="folder"):
        TokenDataset(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("to", ["datatrove", "npy-offsets"])
def test_what_has_an_index_needs_no_eot(lines: Path, to: str) -> None:
    tokenizer = bpe_cli.load("gpt2")
    assert [row.tolist() for row in prepared(lines, to=to)] == [tokenizer.encode(line) for line in LINES]


def test_columns_are_named_by_one_str_or_several(lines: Path) -> None:
    with pytest.raises(UsageError, match="the format npy has no column position_ids"):
        prepared(lines, to="npy", columns="position_ids")
    with pytest.raises(UsageError, match="the format arrow has no column labels"):
        prepared(lines, to="arrow", columns=["position_ids", "labels"])


@pytest.mark.parametrize("to", ["mds", "parquet", "webdataset"])
def test_what_other_libraries_read_is_left_to_them(lines: Path, to: str) -> None:
    with pytest.raises(UsageError, match=f"of the format {to}, which is not read here"):
        prepared(lines, to=to)
