"""Options that meet: kept values and broken rows, of conversations and in a random order, and parts made again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import bpe_cli
from bpe_cli import TokenDataset
from bpe_cli.corpus import Source
from bpe_cli.errors import CheckFailed, InputError, UsageError
from bpe_cli.jobs.encode_chat import ChatOptions
from bpe_cli.jobs.parts import Share
from bpe_cli.jobs.prepare import PrepareOptions, check_deep, finish, prepare
from tests.needs import needs
from tests.oracle import data_sets as plain
from tests.plain_sets import CHAT, CHAT_EOT, listed, made, written
from tests.thorough import more

needs("numpy")
needs("pyarrow")
SHUFFLED: dict[str, dict[str, Any]] = {
    "documents": {"shuffle": "documents"},
    "documents, cut": {"shuffle": "documents", "length": 7, "way": "split"},
    "sequences": {"shuffle": "sequences", "length": 7, "way": "split"},
    "first sequences": {"shuffle": "sequences", "length": 7, "way": "truncate", "pad": 0},
}


@pytest.fixture
def lines(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "in").mkdir()
    return written(tmp_path / "in")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows_in(folder: Path, fields: tuple[str, ...], sides: Any) -> dict[str | None, list[dict[str, Any]]]:
    return {side: [listed(row) for row in TokenDataset(folder, side=side, fields=fields)] for side in sides}


# -- kept values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("val", [None, 0.3])
@pytest.mark.parametrize("chat", [{}, {"chat": ChatOptions()}, CHAT], ids=["texts", "chat", "mask"])
@pytest.mark.parametrize("how", ["as they come", *SHUFFLED])
def test_kept_values_go_with_their_documents(
    how: str, chat: dict[str, Any], val: float | None, lines: dict[str, Path], tmp_path: Path
) -> None:
    options = PrepareOptions(
        to="parquet", keep=("id:int64",), val=val, seed=7, columns=("seq_lengths",), **SHUFFLED.get(how, {}), **chat
    )  # fmt: skip
    expected = made(lines, tmp_path / "out", options)
    fields = ("input_ids", "id", "seq_lengths", *(["loss_mask"] if options.mask else []))
    assert rows_in(tmp_path / "out", fields, expected) == {
        side: [{name: row.fields()[name] for name in fields} for row in rows] for side, rows in expected.items()
    }
    source = Source((str(lines["talks" if chat else "texts"]),), documents="jsonl", block_bytes=50)
    name, eot = ("gpt-3.5-turbo", CHAT_EOT) if chat else ("gpt2", 50256)
    again = replace(options, eot=eot, part_bytes=900)
    by_two = val and options.mask and how == "documents"
    prepare(source, name, again, folder=tmp_path / "again", processes=more(1, 2) if by_two else 1)
    assert contents(tmp_path / "again") == contents(tmp_path / "out")
    assert check_deep(source, name, again, folder=tmp_path / "out", parts=None).is_whole


def test_columns_of_tables_are_kept_in_a_shuffle(tmp_path: Path) -> None:
    """Of any type, and of files whose other columns differ; a null stays one, and is counted."""
    import datetime

    arrow, parquet = needs("pyarrow"), needs("pyarrow.parquet")
    when = datetime.datetime(2026, 11, 23, 4, 5, 6)  # a column without a zone
    rows = [
        {"text": f"text {number}", "tags": None if number % 5 == 0 else [str(number)], "when": when,
         "meta": {"n": number, "url": None}}
        for number in range(60)
    ]  # fmt: skip
    (tmp_path / "in").mkdir()
    for number in range(3):
        table = arrow.Table.from_pylist(rows[20 * number : 20 * number + 20])
        parquet.write_table(table, tmp_path / f"in/{number}.parquet", row_group_size=7)
    options = PrepareOptions(
        to="arrow", keep=("tags", "when", "meta"), part_bytes=1, shuffle="documents", seed=3, val=0.2
    )
    done = prepare(Source((str(tmp_path / "in"),)), "gpt2", options, folder=tmp_path / "out", processes=1)
    assert (done.parts, done.nulls) == (3, {"tags": 12, "when": 0, "meta": 0})
    encode = bpe_cli.load("gpt2").encode
    parts = [
        [plain.Document(row["text"].encode(), encode(row["text"]), [], row) for row in rows[at : at + 20]]
        for at in (0, 20, 40)
    ]
    fields = ("input_ids", "tags", "when", "meta")
    expected = plain.rows_of(parts, shuffle="documents", seed=3, val=0.2)
    assert rows_in(tmp_path / "out", fields, expected) == {
        side: [{name: row.fields()[name] for name in fields} for row in rows] for side, rows in expected.items()
    }


def test_kept_values_between_the_passes_are_whole_or_named(lines: dict[str, Path], tmp_path: Path) -> None:
    """What was killed between the two passes goes on; a damaged file is named."""
    source = Source((str(lines["texts"]),), documents="jsonl")
    options = PrepareOptions(to="arrow", keep=("id:int64",), part_bytes=600, shuffle="documents")
    prepare(source, "gpt2", options, folder=tmp_path / "whole", processes=1)
    prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1, share=Share(1, 2))
    path = tmp_path / "out/shuffle/part-00000.kept"
    data = path.read_bytes()
    path.write_bytes(data[:-4] + b"xxxx")
    with pytest.raises(InputError, match=r"part-00000\.kept"):
        prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1, share=Share(2, 2))
    path.write_bytes(data[:-1])  # of another length: made again
    assert prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1).is_whole
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


# -- broken rows -------------------------------------------------------------------------------------------

BROKEN_TEXTS = ['{"text": 5}', '{"text": "a"', '{"body": ""}', '{"text": "x", "id": "no number"}']
BROKEN_TALKS = {
    "[1]": "conversation",
    '{"messages": [{"role": 5}]}': "conversation",
    '{"body": []}': "conversation",
    '{"messages": [': "json",
    '{"messages": [{"role": "user", "content": [{"type": "image"}]}]}': "template",
    '{"id": "x", "messages": [{"role": "user", "content": "a"}]}': "type",
}


def broken(path: Path, lines: list[str]) -> Path:
    """Write broken lines between those of a file."""
    good = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        good.insert(2 + 4 * number, line)
    (path.parent / "broken.jsonl").write_text("\n".join(good) + "\n", encoding="utf-8")
    return path.parent / "broken.jsonl"


@pytest.mark.parametrize("how", list(SHUFFLED))
def test_a_quarantined_row_is_the_same_one_in_a_shuffle(how: str, lines: dict[str, Path], tmp_path: Path) -> None:
    source = Source((str(broken(lines["texts"], BROKEN_TEXTS)),), documents="jsonl")
    options = PrepareOptions(
        to="arrow", keep=("id:int64",), part_bytes=700, on_error="quarantine", seed=1, **SHUFFLED[how]
    )
    done = prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1)
    plain_options = replace(options, shuffle=None, seed=0)
    as_they_come = prepare(source, "gpt2", plain_options, folder=tmp_path / "plain", processes=1)
    assert done.broken == as_they_come.broken == {"type": 2, "json": 1, "field": 1}
    files = {name: data for name, data in contents(tmp_path / "out").items() if "quarantine" in name}
    assert files == {name: data for name, data in contents(tmp_path / "plain").items() if "quarantine" in name}
    assert sorted(json.loads(line)["raw"] for data in files.values() for line in data.splitlines()) == sorted(
        BROKEN_TEXTS
    )
    prepare(source, "gpt2", options, folder=tmp_path / "again", processes=2 if how == "documents, cut" else 1)
    assert contents(tmp_path / "again") == contents(tmp_path / "out")
    assert check_deep(source, "gpt2", options, folder=tmp_path / "out", parts=None).broken == done.broken
    skipped = prepare(source, "gpt2", replace(options, on_error="skip"), folder=tmp_path / "skip", processes=1)
    assert skipped.broken == done.broken
    assert skipped.tokens == done.tokens
    (tmp_path / "out" / min(files)).unlink()
    with pytest.raises(UsageError, match=f"{min(files)} is missing"):
        prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1)
    prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1, overwrite=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "again")


@pytest.mark.parametrize("mask", [None, "assistant"])
@pytest.mark.parametrize("part_bytes", [400, 1 << 20])
def test_broken_conversations_are_left_out_and_kept(
    part_bytes: int, mask: Any, lines: dict[str, Path], tmp_path: Path
) -> None:
    path = broken(lines["talks"], list(BROKEN_TALKS))
    source = Source((str(path),), documents="jsonl")
    options = PrepareOptions(
        to="parquet", chat=ChatOptions(), mask=mask, keep=("id:int64",), part_bytes=part_bytes, on_error="quarantine",
        eot=CHAT_EOT,
    )  # fmt: skip
    done = prepare(source, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert done.broken == {"conversation": 3, "json": 1, "template": 1, "type": 1}
    document = partial(plain.chat_document, bpe_cli.load("cl100k_base").encode, eot=CHAT_EOT, keep=("id",))
    plan = json.loads((tmp_path / "out/plan.json").read_bytes())
    parts = plain.parts_of(
        plan, path.read_bytes(),
        lambda line: None if line.decode().strip() in BROKEN_TALKS else document(line=line),
    )  # fmt: skip
    fields = ("input_ids", "id", *(["loss_mask"] if mask else []))
    expected = [{name: row.fields()[name] for name in fields} for row in plain.rows_of(parts)[None]]
    assert rows_in(tmp_path / "out", fields, [None]) == {None: expected}
    found = {
        row["raw"]: row
        for name, data in sorted(contents(tmp_path / "out").items())
        if "quarantine" in name
        for row in map(json.loads, data.splitlines())
    }
    assert {raw: row["kind"] for raw, row in found.items()} == BROKEN_TALKS
    data = path.read_bytes()
    for raw, row in found.items():
        begin = row.get("from", 0)
        if begin:  # the lines of an extent are those that begin in it
            begin = data.index(b"\n", begin - 1) + 1
        assert data[begin:].splitlines()[row["line"] - 1].decode() == raw
        assert "jsonl" not in row["reason"]
    prepare(
        source, "gpt-3.5-turbo", options, folder=tmp_path / "again", processes=2 if part_bytes == 400 and mask else 1
    )
    assert contents(tmp_path / "again") == contents(tmp_path / "out")
    with pytest.raises(InputError, match=r"broken\.jsonl.*line 3|broken\.jsonl:3"):
        prepare(source, "gpt-3.5-turbo", replace(options, on_error="fail"), folder=tmp_path / "no", processes=1)


def test_special_tokens_that_are_refused_end_the_run_as_in_texts(tmp_path: Path) -> None:
    talk = {"messages": [{"role": "user", "content": "<|endoftext|>"}, {"role": "assistant", "content": "a"}]}
    (tmp_path / "x.jsonl").write_text(json.dumps(talk) + "\n")
    options = PrepareOptions(to="npy", **CHAT, specials="all", refuse_specials=True, on_error="skip")
    with pytest.raises(InputError, match="contains the special token"):
        prepare(
            Source((str(tmp_path / "x.jsonl"),), documents="jsonl"), "gpt-3.5-turbo", options, folder=tmp_path / "o"
        )


# -- parts made again --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", list(SHUFFLED))
def test_parts_of_a_shuffled_set_are_made_again(how: str, lines: dict[str, Path], tmp_path: Path) -> None:
    source = Source((str(lines["texts"]),), documents="jsonl")
    options = PrepareOptions(to="npy-offsets", eot="auto", part_bytes=600, seed=1, val=0.3, **SHUFFLED[how])
    folder = tmp_path / "out"
    done = prepare(source, "gpt2", options, folder=folder, processes=1)
    for parts, again in ((1, 1), (2, 2), (None, done.parts), (99, done.parts)):
        assert check_deep(source, "gpt2", options, folder=folder, parts=parts).again == again
    text = lines["texts"].read_text(encoding="utf-8")
    lines["texts"].write_text(text.replace("document 5", "document X"), encoding="utf-8")
    with pytest.raises(CheckFailed, match=r"cannot be compared: .*texts\.jsonl changed since"):
        check_deep(source, "gpt2", options, folder=folder, parts=None)
    lines["texts"].write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="was made with other settings: shuffle"):
        check_deep(source, "gpt2", replace(options, seed=2), folder=folder, parts=1)
    # A part that was not made of these inputs, though it is as its record says.
    path, record = folder / "train/part-00000.npy", folder / "part-00000.json"
    data = path.read_bytes()
    other = data[:-1] + bytes([data[-1] ^ 1])
    path.write_bytes(other)
    hashes = [hashlib.sha256(each).hexdigest() for each in (data, other)]
    record.write_text(record.read_text().replace(*hashes))
    finish(folder)
    with pytest.raises(CheckFailed, match=r"train/part-00000\.npy is not what its inputs make"):
        check_deep(source, "gpt2", options, folder=folder, parts=None)
