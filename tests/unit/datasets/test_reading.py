"""A data set is read back row by row: the documents, or the sequences, that were written."""

from __future__ import annotations

import json
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bpe_cli
from bpe_cli import TokenDataset
from bpe_cli import datasets as module
from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.prepare import sides
from bpe_cli.jobs.prepare.sides import MOST
from bpe_cli.sinks.dataset import DATASETS
from tests.needs import needs
from tests.thorough import more

np = needs("numpy")
needs("pyarrow")
LINES = [f"line {number} " + "naïve 日本 " * (number % 5) for number in range(25)]
FORMATS = list(DATASETS)
FLAT = ["bin", "npy", "megatron", "datatrove", "npy-offsets", "litdata"]
UNINDEXED = ["bin", "npy", "litdata"]
INDEXED = [to for to in FORMATS if to not in UNINDEXED]
SIGNED = ["megatron", "litdata", "mds", "arrow", "parquet", "datasets"]


def encoded(lines: list[str], eot: bool = True) -> list[list[int]]:
    tokenizer = bpe_cli.load("gpt2")
    return [[*tokenizer.encode(line), *([50256] if eot else [])] for line in lines]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("".join(line + "\n" for line in LINES))
    return path


def prepared(lines: Path, **options: object) -> Path:
    folder = lines.parent / "out"
    options = {"documents": "lines", "part_bytes": 200, "processes": 1, **options}
    assert bpe_cli.prepare("gpt2", lines, folder, **options).parts > 2  # type: ignore[arg-type]
    return folder


@pytest.mark.parametrize("dtype", ["u16", "u32"])
@pytest.mark.parametrize("to", FORMATS)
def test_rows_are_documents(lines: Path, to: str, dtype: str) -> None:
    rows = TokenDataset(prepared(lines, to=to, eot="auto", dtype=dtype), check=True)
    expected = encoded(LINES)
    assert [row.tolist() for row in rows] == expected
    assert [rows[at].tolist() for at in np.arange(len(rows))] == expected
    assert (rows[-1].tolist(), [row.tolist() for row in rows[3:20:4]]) == (expected[-1], expected[3:20:4])
    stored = np.uint16 if dtype == "u16" else np.int32 if to in SIGNED else np.uint32
    assert {row.dtype for row in rows} == {rows.dtype} == {np.dtype(stored)}
    assert (rows.documents, rows.tokens) == (25, sum(map(len, expected)))
    assert rows.settings["format"] == to
    for out_of_range in (25, -26):
        with pytest.raises(IndexError, match=f"there is no row {out_of_range} among 25"):
            rows[out_of_range]


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("way", ["truncate", "split", "concatenate", "best-fit"])
def test_rows_are_sequences(lines: Path, to: str, way: str) -> None:
    rows = TokenDataset(prepared(lines, to=to, eot="auto", length=8, way=way, pad=0))
    assert len(rows) > 10
    assert {len(row) for row in rows} == {8}
    ids = [id_ for row in rows for id_ in row.tolist() if id_]
    expected = encoded(LINES)
    if way == "truncate":
        assert ids == [id_ for each in expected for id_ in each[:8]]
    else:
        assert sorted(ids) == sorted(id_ for each in expected for id_ in each)


@pytest.mark.parametrize("to", FORMATS)
def test_the_last_sequence_of_a_part_may_be_shorter(lines: Path, to: str) -> None:
    rows = TokenDataset(prepared(lines, to=to, eot="auto", length=7))
    assert [id_ for row in rows for id_ in row.tolist()] == [id_ for each in encoded(LINES) for id_ in each]
    assert {len(row) for row in rows} > {7}


@pytest.mark.parametrize("to", INDEXED)
def test_what_has_an_index_needs_no_eot_and_has_empty_documents(lines: Path, to: str) -> None:
    lines.write_text("\n" + "".join(f"{line}\n\n" for line in LINES))
    rows = TokenDataset(prepared(lines, to=to))
    assert [row.tolist() for row in rows] == encoded(["", *(each for line in LINES for each in (line, ""))], eot=False)


@pytest.mark.parametrize("to", FLAT)
@pytest.mark.parametrize("written", [{}, {"eot": "auto"}, {"length": 8, "way": "best-fit"}])
def test_rows_of_a_length_are_cut_out_of_all_ids(lines: Path, to: str, written: dict[str, object]) -> None:
    folder = prepared(lines, to=to, **written)
    rows = TokenDataset(folder, length=5)
    whole = list(TokenDataset(folder, length=1))
    parts = [part["tokens"] for part in json.loads((folder / "manifest.json").read_bytes())["parts"]]
    ids = iter(np.concatenate(whole).tolist())
    expected = []
    for count in parts:
        of_part = [next(ids) for _ in range(count)]
        expected += [of_part[at : at + 5] for at in range(0, count - 4, 5)]
    assert [row.tolist() for row in rows] == expected
    assert len(rows) == len(expected) > 20


@pytest.mark.parametrize("to", sorted(set(FORMATS) - set(FLAT)))
def test_rows_that_are_apart_are_not_cut(lines: Path, to: str) -> None:
    with pytest.raises(UsageError, match=f"holds {to}, whose rows are apart"):
        TokenDataset(prepared(lines, to=to), length=8)


@pytest.mark.parametrize("to", UNINDEXED)
def test_what_cannot_be_divided_is_refused(lines: Path, to: str) -> None:
    with pytest.raises(UsageError, match="nothing says where the documents") as caught:
        TokenDataset(prepared(lines, to=to))
    assert caught.value.hint is not None
    assert caught.value.hint.startswith('prepare it in a format with an index, such as megatron, or with `eot="auto"`;')
    with pytest.raises(UsageError, match="nothing says where the sequences") as caught:
        TokenDataset(prepared(lines, to=to, eot="auto", length=8, way="best-fit", overwrite=True))
    assert "eot" not in str(caught.value.hint)
    lines.write_text("a<|endoftext|>b\n" * 50)
    with pytest.raises(UsageError, match="nothing says where the documents"):
        TokenDataset(prepared(lines, to=to, eot="auto", specials="all", overwrite=True))


@pytest.mark.parametrize("to", FORMATS)
def test_numbers_are_mapped_or_converted(lines: Path, to: str) -> None:
    folder = prepared(lines, to=to, eot="auto")
    mapped, converted = TokenDataset(folder), TokenDataset(folder, dtype="int64")
    assert [row.tolist() for row in converted] == [row.tolist() for row in mapped]
    assert converted[3].dtype == converted.dtype == np.int64
    assert converted[3].flags.writeable
    same = TokenDataset(folder, dtype=mapped.dtype)[3]
    assert (same.tolist(), same.dtype, same.flags.writeable) == (mapped[3].tolist(), mapped.dtype, True)
    if to not in ("mds", "parquet"):  # whose rows may lie at odd places, or are compressed
        assert not mapped[3].flags.writeable
        assert not mapped[3].flags.owndata
    with pytest.raises(UsageError, match="`dtype` int16 does not hold every uint16"):
        TokenDataset(folder, dtype="int16")
    with pytest.raises(UsageError, match="`dtype` float64"):
        TokenDataset(folder, dtype=float)


@pytest.mark.parametrize("to", FORMATS)
def test_it_can_be_pickled(lines: Path, to: str) -> None:
    folder = prepared(lines, to=to, eot="auto")
    rows = TokenDataset(folder, dtype="int64")
    rows[0]
    data = pickle.dumps(rows)
    copy = pickle.loads(data)
    assert [row.tolist() for row in copy] == [row.tolist() for row in rows]
    assert copy.dtype == np.int64
    prepared(lines, to=to, eot="auto", length=8, way="concatenate", overwrite=True)
    with pytest.raises(InputError, match="has changed since it was opened"):
        pickle.loads(data)


@pytest.mark.parametrize("to", ["parquet", "megatron", "webdataset"])
def test_threads_share_it_and_few_parts_are_open(lines: Path, to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_OPEN_PARTS", 2)
    rows = TokenDataset(prepared(lines, to=to, eot="auto"))
    expected = encoded(LINES)
    wrong: list[int] = []

    def read(seed: int) -> None:
        order = np.random.default_rng(seed).permutation(len(rows))
        wrong.extend(at for at in order if rows[at].tolist() != expected[at])

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(rows._open) == 2


def test_what_is_not_whole_is_refused(lines: Path) -> None:
    folder = prepared(lines, to="megatron")
    with pytest.raises(InputError, match="there is no data set"):
        TokenDataset(lines.parent)
    with pytest.raises(TypeError, match="folder"):
        TokenDataset(5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="length must be 1 or more"):
        TokenDataset(folder, length=0)
    path = folder / "part-00000.bin"
    data = path.read_bytes()
    path.write_bytes(data[:-2] + b"xx")
    assert len(TokenDataset(folder)) == 25
    with pytest.raises(CheckFailed, match=r"part-00000\.bin does not match its record"):
        TokenDataset(folder, check=True)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"part-00000\.bin has 0 bytes"):
        TokenDataset(folder)
    path.unlink()
    with pytest.raises(InputError, match=r"part-00000\.bin is missing"):
        TokenDataset(folder)
    with pytest.raises(CheckFailed, match=r"part-00000\.bin is missing"):
        TokenDataset(folder, check=True)
    path.write_bytes(data)
    manifest = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(b'{"schema": "bpe-dataset/1", "settings": {}, "parts": [{}]}')
    with pytest.raises(InputError, match="is not the manifest of a data set of this version"):
        TokenDataset(folder)
    (folder / "manifest.json").write_bytes(manifest[:-9])
    with pytest.raises(InputError, match=r"manifest\.json is damaged"):
        TokenDataset(folder)
    (folder / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"is not complete: there is no manifest\.json"):
        TokenDataset(folder)


def altered(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", ["format", "dtype", "columns", "eot", "length", "way", "pad", "tokenizer", "keep"])
def test_settings_that_make_no_sense_are_refused(lines: Path, name: str) -> None:
    folder = prepared(lines, to="bin", eot="auto")
    whole = (folder / "manifest.json").read_bytes()
    fine = ("way", "nonsense"), ("tokenizer", {"x": []})  # which nothing asks for
    for value in (each for each in ([7], -1, 0.5, {"x": []}, "nonsense", True) if (name, each) not in fine):
        (folder / "manifest.json").write_bytes(whole)
        altered(folder, lambda content, value=value: content["settings"].update({name: value}))  # type: ignore[misc]
        with pytest.raises(InputError, match="is not the manifest of a data set of this version"):
            TokenDataset(folder)
    (folder / "manifest.json").write_bytes(whole)
    if name != "keep":
        altered(folder, lambda content: content["settings"].pop(name))
        with pytest.raises(InputError, match="is not the manifest of a data set of this version"):
            TokenDataset(folder)


@pytest.mark.parametrize("to", ["bin", "parquet"])
def test_settings_that_say_nothing_are_as_if_missing(lines: Path, to: str) -> None:
    folder = prepared(lines, to=to, eot="auto")
    expected = [row.tolist() for row in TokenDataset(folder)]
    altered(folder, lambda content: content["settings"].update(keep=None, shuffle=None))
    assert [row.tolist() for row in TokenDataset(folder)] == expected


@pytest.mark.parametrize("to", ["mds", "arrow"])
def test_columns_that_no_row_has_are_refused(lines: Path, to: str) -> None:
    folder = prepared(lines, to=to)
    altered(folder, lambda content: content["settings"].update(columns=["zzz"]))
    with pytest.raises(InputError, match="is not the manifest of a data set of this version"):
        TokenDataset(folder)


def test_sizes_in_archives_that_are_not_octal_are_refused(lines: Path) -> None:
    folder = prepared(lines, to="webdataset", eot="auto")
    path = folder / "part-00000.tar"
    whole = path.read_bytes()
    for size in (b"00000000189\0", b"0o000000200\0", b"           \0", b"+0000000200\0", b"00000000177\0"):
        path.write_bytes(whole[:124] + size + whole[136:])
        with pytest.raises(InputError, match=r"part-00000\.tar does not match its record"):
            TokenDataset(folder)[0]


def test_more_members_than_an_archive_holds_are_refused(lines: Path) -> None:
    """Before memory for them is asked for."""
    folder = prepared(lines, to="webdataset", eot="auto")
    altered(folder, lambda content: content["parts"][0].update(documents=MOST - 1))
    with pytest.raises(InputError, match=r"part-00000\.tar does not match its record"):
        TokenDataset(folder)[0]


def test_parts_without_their_files_or_sides_are_refused(lines: Path) -> None:
    folder = prepared(lines, to="npy-offsets", eot="auto")
    altered(folder, lambda content: content["parts"][0]["files"].pop())
    with pytest.raises(InputError, match="part-00000 does not match its record"):
        TokenDataset(folder)[0]
    altered(folder, lambda content: content["settings"].update(val=0.5))
    with pytest.raises(InputError, match="is not the manifest of a data set of this version"):
        TokenDataset(folder, side="val")


@pytest.mark.parametrize("name", ["documents", "tokens", "sequences", "divided", "left_out", "padding"])
def test_numbers_that_no_part_has_are_refused(lines: Path, name: str) -> None:
    """Fuzzing found the first: Python's len() cannot give 2**64."""
    folder = prepared(lines, to="npy-offsets", eot="auto")
    for value in (MOST, 1 << 64, -1, 0.5, "7", True):
        altered(folder, lambda content, value=value: content["parts"][0].update({name: value}))  # type: ignore[misc]
        with pytest.raises(InputError, match="is not the manifest of a data set of this version"):
            TokenDataset(folder)
    altered(folder, lambda content: content["parts"][0].update({name: MOST - 1}))
    assert (len(TokenDataset(folder)) > MOST - 1) == (name in ("documents", "sequences"))


@pytest.mark.parametrize(("name", "length"), [("documents", None), ("tokens", 1)])
def test_more_rows_than_a_length_can_say_are_refused(
    lines: Path, name: str, length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many parts, or of few that may have more rows: 32,768 records take seconds to read."""
    folder = prepared(lines, to="bin", eot="auto")
    most = more(1 << 60, MOST)
    monkeypatch.setattr(sides, "MOST", most)

    def repeat(content: dict[str, Any]) -> None:
        content["parts"] = [{**content["parts"][0], name: most - 1}] * (sys.maxsize // (most - 1))

    altered(folder, repeat)
    assert sys.maxsize - most < len(TokenDataset(folder, length=length)) <= sys.maxsize
    altered(folder, lambda content: content["parts"].extend(content["parts"][:2]))
    with pytest.raises(InputError, match="is not the manifest of a data set of this version"):
        TokenDataset(folder)


@pytest.mark.parametrize("to", sorted(set(INDEXED) - {"arrow", "datasets", "parquet"}))
def test_an_index_that_lies_is_noticed(lines: Path, to: str) -> None:
    """Each byte of what says where rows lie may be damaged: rows are other ones, or refused, and no more happens."""
    folder = prepared(lines, to=to, eot="auto")
    manifest = json.loads((folder / "manifest.json").read_bytes())
    path = folder / manifest["parts"][0]["files"][1 if len(DATASETS[to].endings) > 1 else 0]["name"]
    whole = path.read_bytes()
    refused = []
    for at in range(0, min(len(whole), 2000), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        path.write_bytes(bytes(damaged))
        try:
            for row in TokenDataset(folder)[:3]:
                row.tolist()
        except InputError as error:
            refused.append(error.message)
    assert len(refused) > 1
    assert all(path.name.partition(".")[0] in message for message in refused)


@pytest.mark.parametrize("to", ["arrow", "datasets", "parquet"])
def test_another_table_is_refused(lines: Path, to: str) -> None:
    """What pyarrow takes for a table, or not, of the same length as the one that was written."""
    folder = prepared(lines, to=to, eot="auto")
    path = folder / json.loads((folder / "manifest.json").read_bytes())["parts"][0]["files"][0]["name"]
    whole = path.read_bytes()
    for other in (whole.replace(b"input_ids", b"other_ids"), b"x" * len(whole)):
        path.write_bytes(other)
        with pytest.raises(InputError, match=path.name.replace(".", r"\.")):
            TokenDataset(folder)[0]


def test_columns_are_named_by_one_str_or_several(lines: Path) -> None:
    with pytest.raises(UsageError, match="the format npy has no column position_ids"):
        prepared(lines, to="npy", columns="position_ids")
    with pytest.raises(UsageError, match="the format arrow has no column labels"):
        prepared(lines, to="arrow", columns=["position_ids", "labels"])
