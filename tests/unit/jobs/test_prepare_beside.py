"""What stands beside the ids of a data set: columns, spans, masks; and a validation set beside the training set."""

from __future__ import annotations

import io
import json
import tarfile
from array import array
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from bpe_cli.sinks.dataset import DATASETS
from bpe_cli.sinks.dataset.columns import COLUMNS, ColumnValues
from bpe_cli.sinks.dataset.documents import Row
from tests.needs import needs

EOT = 50256
TEXTS = [f"document {number} " + "naïve 日本\n" * (number % 5) for number in range(40)]


@pytest.fixture
def corpus(tmp_path: Path) -> Source:
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return Source((str(tmp_path / "in.jsonl"),), documents="jsonl")


def table(folder: Path) -> list[dict[str, list[int]]]:
    parquet = needs("pyarrow.parquet")
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def documents() -> list[list[int]]:
    tokenizer = bpe_cli.load("gpt2")
    return [[*tokenizer.encode(text), EOT] for text in TEXTS]


# -- columns --------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.lists(st.integers(1, 5), max_size=4), st.integers(0, 3)), max_size=6))
def test_columns_are_those_of_the_plain_way(rows: list[tuple[list[int], int]]) -> None:
    by_document, by_row = (ColumnValues(COLUMNS, way) for way in ("document", "sequence"))
    expected: dict[str, list[list[int]]] = {name: [] for name in COLUMNS}
    for lengths, filled in rows:
        row = Row(sum(lengths) + filled, pieces=lengths)
        by_document.add(row)
        by_row.add(row)
        expected["attention_mask"].append([1] * sum(lengths) + [0] * filled)
        expected["position_ids"].append([at for length in lengths for at in range(length)] + [0] * filled)
        expected["segment_ids"].append(
            [n + 1 for n, length in enumerate(lengths) for _ in range(length)] + [0] * filled
        )
        expected["seq_lengths"].append(lengths)
    for name, lists in expected.items():
        assert by_document.of(name).tolist() == [value for values in lists for value in values]
        assert by_document.counts(name) == list(map(len, lists))
    assert by_row.of("position_ids").tolist() == [at for lengths, filled in rows for at in range(sum(lengths) + filled)]


@pytest.mark.parametrize("pad", [None, 0])
@pytest.mark.parametrize("way", ["concatenate", "best-fit", "split", "truncate"])
def test_columns_follow_the_documents_of_a_sequence(way: Any, pad: int | None, corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(to="parquet", eot="auto", length=24, way=way, pad=pad, columns=COLUMNS, part_bytes=900)
    prepare(corpus, "gpt2", options, folder=tmp_path / "out", processes=1)
    rows = table(tmp_path / "out")
    settings = json.loads((tmp_path / "out/plan.json").read_bytes())["settings"]
    assert settings.get("positions") == ("document" if way in ("concatenate", "best-fit") else None)
    pieces = []
    for row in rows:
        lengths, ids = row["seq_lengths"], row["input_ids"]
        filled = len(ids) - sum(lengths)
        assert ids[len(ids) - filled :] == [0] * filled
        assert pad is None or len(ids) == 24
        assert row["attention_mask"] == [1] * sum(lengths) + [0] * filled
        assert row["position_ids"] == [at for length in lengths for at in range(length)] + [0] * filled
        assert row["segment_ids"] == [n for n, size in enumerate(lengths, 1) for _ in range(size)] + [0] * filled
        ends = list(accumulate(lengths, initial=0))
        pieces += [ids[start:end] for start, end in pairwise(ends)]
    # A piece is of one document: it has an eot at its end, and nowhere else.
    assert all(EOT not in piece[:-1] for piece in pieces)
    if way != "truncate":
        assert sorted(id_ for piece in pieces for id_ in piece) == sorted(id_ for each in documents() for id_ in each)


def test_positions_of_sequences_as_they_were(corpus: Source, tmp_path: Path) -> None:
    options = PrepareOptions(
        to="parquet", eot="auto", length=24, pad=0, columns=("position_ids",), positions="sequence"
    )
    prepare(corpus, "gpt2", options, folder=tmp_path / "out", processes=1)
    assert {tuple(row["position_ids"]) for row in table(tmp_path / "out")} == {tuple(range(24))}


@pytest.mark.parametrize("way", ["split", "truncate"])
def test_positions_of_padded_rows_are_a_setting(way: Any, corpus: Source, tmp_path: Path) -> None:
    """Padding is at place 0, or at the next ones: rows of both kinds never mix."""
    options = PrepareOptions(to="parquet", eot="auto", length=24, way=way, pad=0, columns=("position_ids",))
    prepare(corpus, "gpt2", options, folder=tmp_path / "out", processes=1)
    by_row = replace(options, positions="sequence")
    with pytest.raises(UsageError, match="made with other settings: positions"):
        prepare(corpus, "gpt2", by_row, folder=tmp_path / "out", processes=1)
    prepare(corpus, "gpt2", by_row, folder=tmp_path / "out", processes=1, overwrite=True)
    assert {tuple(row["position_ids"]) for row in table(tmp_path / "out")} == {tuple(range(24))}
    settings = json.loads((tmp_path / "out/plan.json").read_bytes())["settings"]
    assert settings["positions"] == "sequence"
    # Without padding, both are the same, and the plan stays as it was.
    for name, each in (("one", options), ("two", by_row)):
        prepare(corpus, "gpt2", replace(each, pad=None), folder=tmp_path / name, processes=1)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize("to", ["mds", "webdataset"])
def test_columns_of_samples(to: str, corpus: Source, tmp_path: Path) -> None:
    """The same as in a table, by readers of a few lines."""
    for each in (to, "parquet"):
        options = PrepareOptions(to=each, eot="auto", length=24, way="best-fit", pad=0, columns=COLUMNS)
        prepare(corpus, "gpt2", options, folder=tmp_path / each, processes=1)
    rows = table(tmp_path / "parquet")
    path = tmp_path / to / f"part-00000{DATASETS[to].endings[0]}"
    found: list[dict[str, list[int]]] = []
    if to == "webdataset":
        numpy = needs("numpy")
        with tarfile.open(path) as archive:
            for member in archive:
                key, _, rest = member.name.partition(".")
                if int(key[-9:]) == len(found):
                    found.append({})
                file = archive.extractfile(member)
                assert file is not None
                found[-1][rest.removesuffix(".npy")] = numpy.load(io.BytesIO(file.read())).tolist()
    else:
        codes = {"uint16": "H", "int32": "i", "int8": "b"}
        index = json.loads((tmp_path / to / "index.json").read_bytes())["shards"][0]
        data = path.read_bytes()
        offsets = array("I", data[4 : 8 + 4 * index["samples"]])
        for start in offsets[:-1]:
            names = index["column_names"]
            sizes, place = array("I", data[start : start + 4 * len(names)]), start + 4 * len(names)
            found.append({})
            for name, encoding, size in zip(names, index["column_encodings"], sizes, strict=True):
                width = 1 << (data[place] & 3)
                values = array(codes[encoding.removeprefix("ndarray:")], data[place + 1 + width : place + size])
                found[-1][name], place = values.tolist(), place + size
    assert [{"input_ids": row.pop("tokens"), **row} for row in found] == rows


# -- spans ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["bin", "npy", "npy-offsets", "datatrove", "litdata", "megatron"])
@pytest.mark.parametrize("way", ["concatenate", "best-fit"])
def test_spans_are_the_documents_in_sequences(to: str, way: Any, corpus: Source, tmp_path: Path) -> None:
    for each, columns in ((to, ("spans",)), ("parquet", ("seq_lengths",))):
        options = PrepareOptions(to=each, eot="auto", length=24, way=way, pad=0, columns=columns)
        prepare(corpus, "gpt2", options, folder=tmp_path / each, processes=1)
    expected, place, rows = [], 0, table(tmp_path / "parquet")
    for row in rows:
        ends = list(accumulate(row["seq_lengths"], initial=place))
        expected += [[start, end] for start, end in pairwise(ends)]
        place += len(row["input_ids"])
    if to != "megatron":
        numpy = needs("numpy")
        spans = numpy.load(tmp_path / to / "part-00000.spans.npy")
        assert (spans.dtype, spans.tolist()) == (numpy.int64, expected)
        return
    data = (tmp_path / to / "part-00000.idx").read_bytes()
    sequences, boundaries = (int.from_bytes(data[at : at + 8], "little") for at in (18, 26))
    lengths = array("i", data[34 : 34 + 4 * sequences])
    borders = array("q", data[34 + 12 * sequences :])
    assert len(borders) == boundaries == len(rows) + 1
    for row, (start, end) in zip(rows, pairwise(borders), strict=True):
        filled = len(row["input_ids"]) - sum(row["seq_lengths"])
        assert lengths[start:end].tolist() == row["seq_lengths"] + [filled] * (filled > 0)
