"""What stands beside the ids of a row is read back from every format, as the plain way has it."""

from __future__ import annotations

import json
import os
import pickle
import random
import struct
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli import TokenDataset
from bpe_cli.corpus import Source
from bpe_cli.datasets.fields import Spans, are_pieces, made_of, pieces_in
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from bpe_cli.sinks.dataset import DATASETS
from bpe_cli.sinks.dataset.columns import COLUMNS, TYPES
from tests.needs import needs
from tests.oracle import data_sets as plain
from tests.plain_sets import CHAT, EOT, listed, made, written
from tests.thorough import more

np = needs("numpy")
needs("pyarrow")
PAD = 5
FORMATS = list(DATASETS)
TABLES = ["arrow", "parquet", "datasets"]
FLAT = ["bin", "npy", "npy-offsets", "megatron", "datatrove", "litdata"]
UNINDEXED = ["bin", "npy", "litdata"]
SHAPES: dict[str, dict[str, Any]] = {
    "documents": {},
    "packed": {"length": 24, "way": "concatenate"},
    "best-fit": {"length": 24, "way": "best-fit"},
    "padded": {"length": 24, "way": "best-fit", "pad": PAD},
    "packed and padded": {"length": 24, "way": "concatenate", "pad": PAD},
    "split": {"length": 7, "way": "split"},
    "truncated and padded": {"length": 7, "way": "truncate", "pad": PAD},
}
HOW: dict[str, dict[str, Any]] = {
    "plain": {},
    "val": {"val": 0.3},
    "shuffled": {"shuffle": "documents", "seed": 7},
    "shuffled sequences, val": {"shuffle": "sequences", "seed": 7, "val": 0.3},
    "chat": {**CHAT, "shuffle": "documents", "seed": 3, "val": 0.4},
}  # fmt: skip


Case = tuple[str, str, str]
CASES = [(to, shape, how) for to in FORMATS for shape in SHAPES for how in HOW]


def covering(cases: list[Case]) -> list[Case]:
    """Return few of the cases in which every two values come together that do so in any; all of them for a hunt."""
    chosen: list[Case] = []
    missing = {pair for case in cases for pair in combinations(case, 2)}
    while missing:
        case = max(cases, key=lambda case: len(missing.intersection(combinations(case, 2))))
        missing -= {*combinations(case, 2)}
        chosen.append(case)
    return more(chosen, cases)


def is_divided(to: str, shape: str, how: str) -> bool:
    """Return whether something says where the rows end."""
    length, way, pad = (SHAPES[shape].get(name) for name in ("length", "way", "pad"))
    last_is_anywhere = HOW[how].get("shuffle") == "sequences"
    return to not in UNINDEXED or length is None or pad is not None or (way == "concatenate" and not last_is_anywhere)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk: what is read back here was not lost with the power."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written(tmp_path_factory.mktemp("in"))


def columns_for(to: str, shape: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return sets of columns that each say all of a row."""
    if to in FLAT:
        return [("spans",) if shape else ()]
    return [COLUMNS, ("segment_ids",), ("seq_lengths",)] if shape else [COLUMNS, ()]


def options_for(to: str, shape: str, how: str) -> PrepareOptions:
    changes = {"to": to, **SHAPES[shape], **HOW[how]}
    if "length" not in changes and changes.get("shuffle") == "sequences":
        changes["shuffle"] = "documents"
    is_packed = changes.get("way") in ("concatenate", "best-fit")
    return PrepareOptions(
        **changes, keep=("id:int64",) if to in TABLES and how in ("plain", "val") and not is_packed else ()
    )


@pytest.mark.parametrize(("to", "shape", "how"), covering([case for case in CASES if is_divided(*case)]))
def test_rows_have_all_fields(to: str, shape: str, how: str, lines: dict[str, Path], tmp_path: Path) -> None:
    options = options_for(to, shape, how)
    kept = ["id"] if options.keep else []
    fields = ["input_ids", *COLUMNS, "spans", *(["loss_mask"] if options.mask else []), *kept]
    some = columns_for(to, SHAPES[shape])
    for number, columns in enumerate(some if how in ("plain", "chat") else some[:1]):
        folder = tmp_path / str(number)
        for side, expected in made(lines, folder, replace(options, columns=columns)).items():
            ids = TokenDataset(folder, side=side)  # type: ignore[arg-type]
            assert list(ids.fields) == fields
            assert [row.tolist() for row in ids] == [row.ids for row in expected]
            rows = TokenDataset(folder, side=side, fields=fields)  # type: ignore[arg-type]
            plain_rows = [{name: row.fields()[name] for name in fields} for row in expected]
            assert [listed(row) for row in rows] == plain_rows
            order = random.Random(1).sample(range(len(rows)), len(rows))
            assert [listed(rows[at - len(rows)]) for at in order] == [plain_rows[at] for at in order]
            types = {(name, str(row[name].dtype)) for row in rows for name in fields if name in TYPES}
            assert types <= {*TYPES.items()}


@pytest.mark.parametrize(("to", "shape", "how"), covering([case for case in CASES if not is_divided(*case)]))
def test_rows_that_nothing_divides_are_refused(
    to: str, shape: str, how: str, lines: dict[str, Path], tmp_path: Path
) -> None:
    for side in made(lines, tmp_path / "out", replace(options_for(to, shape, how), columns=("spans",))):
        with pytest.raises(UsageError, match="nothing says where the sequences"):
            TokenDataset(tmp_path / "out", side=side)  # type: ignore[arg-type]


@pytest.mark.parametrize("to", FLAT)
@pytest.mark.parametrize("shape", ["documents", "packed", "padded"])
@pytest.mark.parametrize("how", ["plain", "chat"])
def test_rows_of_a_length_have_fields(to: str, shape: str, how: str, lines: dict[str, Path], tmp_path: Path) -> None:
    """All that is beside the ids of a part is cut with them."""
    talks = CHAT if how == "chat" else {}
    columns = ("spans",) if SHAPES[shape] else ()
    expected = made(lines, tmp_path / "out", PrepareOptions(to=to, columns=columns, **SHAPES[shape], **talks))[None]
    manifest = json.loads((tmp_path / "out/manifest.json").read_bytes())
    rows = TokenDataset(tmp_path / "out", length=10, fields=TokenDataset(tmp_path / "out", length=10).fields)
    marked = []
    for number, row in enumerate(expected):
        pieces = [(number, at) for at, length in enumerate(row.pieces) for _ in range(length)]
        pieces += [None] * (len(row.ids) - len(pieces))
        marked += list(zip(row.ids, row.mask, pieces, strict=True))
    blocks, start = [], 0
    for part in manifest["parts"]:
        blocks += [marked[start + at : start + at + 10] for at in range(0, part["tokens"] - 9, 10)]
        start += part["tokens"]
    assert len(rows) == len(blocks) > 10
    for row, block in zip(rows, blocks, strict=True):
        ids, marks, of_piece = zip(*block, strict=True)
        assert row["input_ids"].tolist() == list(ids)
        assert "loss_mask" not in row or row["loss_mask"].tolist() == list(marks)
        assert row["attention_mask"].tolist() == [int(each is not None) for each in of_piece]
        numbers = list(dict.fromkeys(each for each in of_piece if each is not None))
        assert row["segment_ids"].tolist() == [numbers.index(each) + 1 if each else 0 for each in of_piece]
        spans = [[of_piece.index(each), of_piece.index(each) + of_piece.count(each)] for each in numbers]
        assert row["spans"].tolist() == spans
        assert row["seq_lengths"].tolist() == [end - begin for begin, end in spans]
        begins = {each: begin for each, (begin, _) in zip(numbers, spans, strict=True)}
        assert row["position_ids"].tolist() == [at - begins[each] if each else 0 for at, each in enumerate(of_piece)]


def test_fields_that_nothing_says_are_refused(lines: dict[str, Path], tmp_path: Path) -> None:
    made(lines, tmp_path / "out", PrepareOptions(to="npy", length=8, pad=PAD))
    rows = TokenDataset(tmp_path / "out")
    assert rows.fields == ("input_ids",)
    for name in ("position_ids", "spans", "attention_mask"):
        with pytest.raises(UsageError, match=f"says what the {name} of a row is") as caught:
            TokenDataset(tmp_path / "out", fields=["input_ids", name])
        assert caught.value.hint == '`columns="spans"` writes where documents lie in sequences; there are input_ids'
    with pytest.raises(UsageError, match="loss_mask of a row is") as caught:
        TokenDataset(tmp_path / "out", fields="loss_mask")
    assert str(caught.value.hint).startswith("`mask` writes one")
    with pytest.raises(UsageError, match="names input_ids twice"):
        TokenDataset(tmp_path / "out", fields=["input_ids", "input_ids"])
    with pytest.raises(TypeError, match="fields"):
        TokenDataset(tmp_path / "out", fields=5)  # type: ignore[arg-type]
    # What is packed and not filled up is all attended to.
    made(lines, tmp_path / "full", PrepareOptions(to="npy", length=8))
    assert TokenDataset(tmp_path / "full").fields == ("input_ids", "attention_mask")
    assert listed(TokenDataset(tmp_path / "full", fields="attention_mask")[0]) == {"attention_mask": [1] * 8}


@pytest.mark.parametrize("eot", [None, 5])
def test_what_only_fills_sequences_of_megatron_is_found_or_refused(
    eot: int | None, lines: dict[str, Path], tmp_path: Path
) -> None:
    """A text may end with the token that fills sequences: its last piece is then like what only fills them."""
    path = lines["texts"].parent / "same.jsonl"
    texts = ["a", "<|endoftext|>", "b c d e", "<|endoftext|><|endoftext|>"] * 5
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    options = PrepareOptions(
        to="megatron", length=8, way="best-fit", pad=EOT, columns=("spans",), specials="all", eot=eot
    )
    prepare(Source((str(path),), documents="jsonl"), "gpt2", options, folder=tmp_path / "out", processes=1)
    rows = TokenDataset(tmp_path / "out", fields=["input_ids", "attention_mask"])
    if eot is None:
        with pytest.raises(InputError, match="does not say which ids are padding"):
            rows[0]
    else:  # so no text ends with what fills sequences
        real = [int(id_) for row in rows for id_ in row["input_ids"][row["attention_mask"] == 1]]
        encode = bpe_cli.load("gpt2").encode
        assert sorted(real) == sorted(id_ for text in texts for id_ in [*encode(text, specials="all"), 5])


def test_positions_are_those_that_were_written(lines: dict[str, Path], tmp_path: Path) -> None:
    options = PrepareOptions(to="arrow", length=24, columns=("position_ids", "segment_ids"), positions="sequence")
    made(lines, tmp_path / "out", options)
    for row in TokenDataset(tmp_path / "out", fields=("input_ids", "position_ids")):
        assert row["position_ids"].tolist() == list(range(len(row["input_ids"])))


@pytest.mark.parametrize("to", FORMATS)
def test_fields_are_mapped_or_copied_and_pickled(to: str, lines: dict[str, Path], tmp_path: Path) -> None:
    made(lines, tmp_path / "out", PrepareOptions(to=to, **CHAT))
    fields = ("loss_mask", "input_ids", "position_ids")
    mapped = TokenDataset(tmp_path / "out", fields=fields)
    copied = TokenDataset(tmp_path / "out", fields=fields, dtype="int64")
    assert tuple(mapped[0]) == tuple(copied[0]) == fields
    assert [listed(row) for row in mapped] == [listed(row) for row in copied]
    assert all(value.flags.writeable for value in copied[0].values())
    assert copied[0]["input_ids"].dtype == np.int64
    assert copied[0]["loss_mask"].dtype == np.uint8
    again = pickle.loads(pickle.dumps(copied))
    assert [listed(row) for row in again.stream(seed=1)] == [listed(row) for row in copied.stream(seed=1)]


@pytest.mark.parametrize(("to", "end"), [("bin", ".mask.bin"), ("npy", ".mask.npy"), ("datatrove", ".ds.loss")])
def test_a_mask_of_another_length_is_noticed(to: str, end: str, lines: dict[str, Path], tmp_path: Path) -> None:
    made(lines, tmp_path / "out", PrepareOptions(to=to, **CHAT))
    manifest = json.loads((tmp_path / "out/manifest.json").read_bytes())
    for file in (file for part in manifest["parts"] for file in part["files"] if file["name"].endswith(end)):
        path = tmp_path / "out" / file["name"]
        path.write_bytes(path.read_bytes()[:-1])
        file["bytes"] -= 1
    (tmp_path / "out/manifest.json").write_text(json.dumps(manifest))
    assert len(TokenDataset(tmp_path / "out")[0])
    with pytest.raises(InputError, match=f"part-00000{end} does not match its record"):
        TokenDataset(tmp_path / "out", fields="loss_mask")[0]


pieces = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=9)


@given(pieces, st.integers(0, 40), st.integers(0, 40))
def test_pieces_within_a_row_are_those_of_the_plain_way(some: list[tuple[int, int]], first: int, last: int) -> None:
    """Pieces, some without ids, with room between them; a row begins and ends anywhere."""
    first, last = sorted((first, last))
    starts, ends, place, owner = [], [], 0, []
    for number, (length, room) in enumerate(some):
        starts.append(place)
        place += length
        ends.append(place)
        place += room
        owner += [number] * length + [None] * room
    owner = (owner + [None] * last)[first:last]
    found = Spans(np.array(starts, np.int64), np.array(ends, np.int64)).within(first, last)
    numbers = list(dict.fromkeys(each for each in owner if each is not None))
    spans = [[owner.index(each), owner.index(each) + owner.count(each)] for each in numbers]
    assert [list(each) for each in zip(*(one.tolist() for one in found), strict=True)] == spans
    size = last - first
    assert made_of("attention_mask", *found, size).tolist() == [int(each is not None) for each in owner]
    assert made_of("segment_ids", *found, size).tolist() == [
        0 if each is None else numbers.index(each) + 1 for each in owner
    ]
    assert made_of("position_ids", *found, size).tolist() == [
        0 if each is None else at - spans[numbers.index(each)][0] for at, each in enumerate(owner)
    ]


@given(st.lists(st.integers(1, 5), max_size=6), st.integers(0, 4))
def test_columns_say_the_pieces(lengths: list[int], room: int) -> None:
    size = sum(lengths) + room
    row = plain.Row([0] * size, [0] * size, lengths)
    for known in ("seq_lengths", "segment_ids"):
        found = pieces_in(known, np.array(row.fields()[known], TYPES[known]), size)  # type: ignore[arg-type]
        assert made_of("spans", *found, size).tolist() == row.fields()["spans"]


@given(st.lists(st.integers(-2, 6), max_size=6), st.integers(0, 12), st.sampled_from(["seq_lengths", "segment_ids"]))
def test_columns_that_say_no_pieces_are_found(values: list[int], size: int, known: Any) -> None:
    """What is taken can be made into every field of the row."""
    value = np.array(values, np.int32)
    if known == "seq_lengths":
        assert are_pieces(known, value, size) == (min(values, default=0) >= 0 and sum(values) <= size)
    else:
        is_fine = len(values) == size and all(0 <= each <= size for each in values)
        assert are_pieces(known, value, size) == is_fine
    if are_pieces(known, value, size):
        found = pieces_in(known, value, size)
        assert all(len(made_of(name, *found, size)) == size for name in ("attention_mask", "position_ids"))


@pytest.mark.parametrize("known", ["seq_lengths", "segment_ids", "attention_mask"])
@pytest.mark.parametrize("wrong", ["negative", "large", "longer"])
def test_columns_that_say_no_pieces_are_refused(known: str, wrong: str, lines: dict[str, Path], tmp_path: Path) -> None:
    ipc, arrow = needs("pyarrow.ipc"), needs("pyarrow")
    options = PrepareOptions(to="arrow", length=7, way="truncate", pad=PAD, columns=(known,))
    made(lines, tmp_path / "out", options)
    path = tmp_path / "out/part-00000.arrow"
    table = ipc.open_file(path.read_bytes()).read_all()
    rows = table[known].to_pylist()
    if wrong == "longer":
        rows[0] = [*rows[0], 1, *[1] * 7]
    else:
        rows[0][0] = -1 if wrong == "negative" else 127 if known == "attention_mask" else (1 << 31) - 1
    column = arrow.array(rows, table[known].type)
    table = table.set_column(table.schema.get_field_index(known), table.schema.field(known), column)
    with arrow.OSFile(str(path), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    manifest = json.loads((tmp_path / "out/manifest.json").read_bytes())
    manifest["parts"][0]["files"][0]["bytes"] = path.stat().st_size
    (tmp_path / "out/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"part-00000\.arrow does not match its record"):
        TokenDataset(tmp_path / "out", fields=("input_ids", "position_ids"))[0]


@pytest.mark.parametrize("to", ["arrow", "datasets"])
@pytest.mark.parametrize("offset", [1 << 30, -4000])
def test_an_offset_of_a_damaged_table_is_not_followed(tmp_path: Path, to: str, offset: int) -> None:
    source, folder = tmp_path / "rows.jsonl", tmp_path / "out"
    source.write_text("".join(f'{{"text": "a b", "name": "kept{number}"}}\n' for number in range(8)))
    bpe_cli.prepare("gpt2", source, folder, documents="jsonl", to=to, keep=("name",), processes=1)
    (part,) = (path for path in folder.iterdir() if path.suffix == ".arrow")
    content = part.read_bytes()
    (kind,) = (kind for kind in ("i", "q") if struct.pack(f"<9{kind}", *range(0, 45, 5)) in content)
    places = struct.pack(f"<9{kind}", *range(0, 45, 5))
    broken = struct.pack(f"<9{kind}", 0, 5, offset, *range(15, 45, 5))
    part.write_bytes(content.replace(places, broken))
    rows = TokenDataset(folder, fields=("input_ids", "name"))
    with pytest.raises(InputError, match="does not match its record"):
        rows[1]
    assert TokenDataset(folder)[1].tolist() == bpe_cli.load("gpt2").encode("a b")


def test_a_column_of_the_source_may_be_called_as_a_field(tmp_path: Path) -> None:
    """Only ``spans`` may be: tables have no column of that name, and rows of documents always have the field."""
    source, folder = tmp_path / "rows.jsonl", tmp_path / "out"
    source.write_text('{"text": "a b", "spans": "0-1"}\n')
    bpe_cli.prepare("gpt2", source, folder, documents="jsonl", to="arrow", keep=("spans",), processes=1)
    fields = TokenDataset(folder).fields
    assert len(set(fields)) == len(fields)
    assert TokenDataset(folder, fields=fields)[0]["spans"] == "0-1"
