"""Conversations in a data set: the ids of the chat job, and a mask that goes with them everywhere."""

from __future__ import annotations

import csv
import io
import json
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import bpe_cli
from bpe_cli.chat import LAYOUTS
from bpe_cli.corpus import Source
from bpe_cli.errors import BpeError, CheckFailed, InputError, UsageError
from bpe_cli.jobs.documents import EncodeOptions
from bpe_cli.jobs.encode_chat import ChatOptions, encode_chat
from bpe_cli.jobs.prepare import PrepareOptions, check, prepare
from bpe_cli.sinks.dataset import DATASETS
from tests.needs import needs
from tests.plain_sets import workers_for


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def table(folder: Path) -> list[dict[str, list[int]]]:
    parquet = needs("pyarrow.parquet")
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


# -- conversations ----------------------------------------------------------------------------------------

TALKS = [
    [
        {"role": "user", "content": f"question {number}?"},
        {"role": "assistant", "content": "an answer " * (number % 4) + "日本"},
        *([{"role": "user", "content": "<|im_end|> and?"}] if number % 3 == 0 else []),
    ]
    for number in range(12)
]


@pytest.fixture
def talks(tmp_path: Path) -> Source:
    lines = "\n\n".join(json.dumps({"id": number, "messages": talk}) for number, talk in enumerate(TALKS))
    (tmp_path / "talks.jsonl").write_text(lines, encoding="utf-8")
    return Source((str(tmp_path / "talks.jsonl"),), documents="jsonl")


def encoded(source: Source) -> list[list[int]]:
    """Return the ids of conversations as the job encodes them that has no data set."""
    out = io.BytesIO()
    encode_chat(source, "gpt-3.5-turbo", output=out)
    return [list(map(int, line.split())) for line in out.getvalue().splitlines()]


CHAT = PrepareOptions(to="parquet", chat=ChatOptions(), mask="assistant")


def options_of(**changes: Any) -> PrepareOptions:
    return replace(CHAT, **changes)


def masks_of(rows: list[list[int]]) -> list[list[int]]:
    """Find the mask of ChatML by its ids: from behind the assistant's header to the end of the turn."""
    tokenizer = bpe_cli.load("cl100k_base")
    header = [100264, *tokenizer.encode("assistant\n")]
    masks = []
    for row in rows:
        mask, learning = [0] * len(row), False
        for at, id_ in enumerate(row):
            learning = learning or row[max(0, at - len(header)) : at] == header
            mask[at] = int(learning)
            learning = learning and id_ != 100265
        masks.append(mask)
    return masks


@pytest.mark.parametrize("part_bytes", [100, 1 << 20])
def test_conversations_have_the_ids_of_the_chat_job(part_bytes: int, talks: Source, tmp_path: Path) -> None:
    prepare(talks, "gpt-3.5-turbo", options_of(part_bytes=part_bytes), folder=tmp_path / "out", processes=1)
    prepare(
        talks, "gpt-3.5-turbo", options_of(mask=None, part_bytes=part_bytes), folder=tmp_path / "plain", processes=1
    )
    rows = table(tmp_path / "out")
    assert [row["input_ids"] for row in rows] == encoded(talks)
    assert [row["input_ids"] for row in table(tmp_path / "plain")] == encoded(talks)
    assert [row["loss_mask"] for row in rows] == masks_of(encoded(talks))
    assert sum(map(sum, masks_of(encoded(talks)))) > 50


@pytest.mark.parametrize("way", ["truncate", "split", "concatenate", "best-fit"])
def test_masks_go_with_their_ids_through_sequences(way: Any, talks: Source, tmp_path: Path) -> None:
    prepare(talks, "gpt-3.5-turbo", options_of(length=10, way=way), folder=tmp_path / "out", processes=1)
    prepare(talks, "gpt-3.5-turbo", options_of(mask=None, length=10, way=way), folder=tmp_path / "ids", processes=1)
    rows = table(tmp_path / "out")
    assert [row["input_ids"] for row in rows] == [row["input_ids"] for row in table(tmp_path / "ids")]
    assert all(len(row["input_ids"]) == len(row["loss_mask"]) for row in rows)
    ids, whole = encoded(talks), masks_of(encoded(talks))
    if way == "truncate":
        assert [row["loss_mask"] for row in rows] == [mask[:10] for mask in whole]
    if way in ("split", "concatenate"):
        flat = [(id_, mark) for row in rows for id_, mark in zip(row["input_ids"], row["loss_mask"], strict=True)]
        assert flat == [pair for row, mask in zip(ids, whole, strict=True) for pair in zip(row, mask, strict=True)]
    if way == "best-fit":
        pairs = sorted(pair for row in rows for pair in zip(row["input_ids"], row["loss_mask"], strict=True))
        assert pairs == sorted(
            pair for row, mask in zip(ids, whole, strict=True) for pair in zip(row, mask, strict=True)
        )


@pytest.mark.parametrize("to", sorted(DATASETS))
def test_every_format_has_the_mask(to: str, talks: Source, tmp_path: Path) -> None:
    options = options_of(to=to, eot=100257, part_bytes=400)
    done = prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert check(tmp_path / "out").tokens == done.tokens
    prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "again", processes=workers_for(to, "datasets"))
    files = contents(tmp_path / "out")
    assert files == contents(tmp_path / "again")
    # What --eot writes is learnt if what it ends is: here the line end behind a turn is nobody's.
    expected = b"".join(bytes([*mask, 0]) for mask in masks_of(encoded(talks)))
    named = {name: files[name] for name in sorted(files)}
    if to in ("bin", "datatrove", "megatron"):
        end = {"bin": ".mask.bin", "datatrove": ".ds.loss", "megatron": ".mask.bin"}[to]
        assert b"".join(data for name, data in named.items() if name.endswith(end)) == expected
    elif to in ("npy", "npy-offsets", "litdata"):
        assert b"".join(data[128:] for name, data in named.items() if name.endswith(".mask.npy")) == expected
    if to == "megatron":
        for name in (name for name in named if name.endswith(".mask.idx")):
            ids = named[name.replace(".mask", "")]
            sequences = int.from_bytes(ids[18:26], "little")
            assert (ids[17], named[name][17]) == (4, 1)
            assert named[name][18 : 34 + 4 * sequences] == ids[18 : 34 + 4 * sequences]
            places = array("q", named[name][34 + 4 * sequences : 34 + 12 * sequences])
            assert [4 * place for place in places] == list(array("q", ids[34 + 4 * sequences : 34 + 12 * sequences]))


CELLS = [
    json.dumps({"id": 7, "messages": TALKS[0]}), None, "no JSON", json.dumps(TALKS[1]), '{"a": 1}',
    json.dumps({"id": 8, "messages": TALKS[2]}), None,
]  # fmt: skip


def tables(folder: Path, kind: str) -> Source:
    """Write two tables whose ids are not those in the JSON of a cell, and in which some rows are broken."""
    for name, first in (("a", 10), ("b", 20)):
        path, ids = folder / f"{name}.{kind}", range(first, first + len(CELLS))
        if kind == "csv":
            with open(path, "w", encoding="utf-8", newline="") as file:
                rows = ([id_, cell] if cell is not None else [id_] for id_, cell in zip(ids, CELLS, strict=True))
                csv.writer(file, lineterminator="\n").writerows([["id", "messages"], *rows])
            continue
        content = needs("pyarrow").table({"id": list(ids), "messages": CELLS})
        if kind == "parquet":
            needs("pyarrow.parquet").write_table(content, path)
        else:
            with needs("pyarrow.ipc").new_file(str(path), content.schema) as writer:
                writer.write_table(content)
    return Source((str(folder / f"a.{kind}"), str(folder / f"b.{kind}")), block_bytes=64)


@pytest.mark.parametrize("shuffle", [None, "documents"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_conversations_in_tables_keep_columns_and_leave_rows_out(kind: str, shuffle: Any, tmp_path: Path) -> None:
    source, id_column = tables(tmp_path, kind), "id:int64" if kind == "csv" else "id"
    options = options_of(keep=(id_column,), on_error="quarantine", shuffle=shuffle)
    done = prepare(source, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    (tmp_path / "good.jsonl").write_text("".join(json.dumps(talk) + "\n" for talk in TALKS[:3]), encoding="utf-8")
    good = encoded(Source((str(tmp_path / "good.jsonl"),), documents="jsonl"))
    expected: list[Any] = [*zip((10, 13, 15, 20, 23, 25), good * 2, strict=True)]
    assert sorted((row["id"], row["input_ids"]) for row in table(tmp_path / "out")) == expected
    assert done.nulls == {"id": 0}
    missing = "columns" if kind == "csv" else "type"
    assert done.broken == {missing: 4, "json": 2, "conversation": 2}
    lines = (tmp_path / "out/part-00000.quarantine.jsonl").read_bytes().splitlines()
    found = [(row["input"][-len(kind) - 2], row.get("row"), row["kind"]) for row in map(json.loads, lines)]
    of_reader = (None, None) if kind == "csv" else (2, 7)
    assert found == [
        (name, number, what)
        for name in "ab"
        for number, what in ((of_reader[0], missing), (3, "json"), (5, "conversation"), (of_reader[1], missing))
    ]


def archive(path: Path, members: dict[str, bytes]) -> Source:
    """Write a tar archive of JSON."""
    import tarfile

    with tarfile.open(path, "w") as into:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            into.addfile(info, io.BytesIO(data))
    return Source((str(path),), member="json")


def test_members_of_archives_are_conversations(tmp_path: Path) -> None:
    """Their messages were looked for as a text, and refused as a list."""
    several = {f"{number}.json": json.dumps({"id": number, "messages": TALKS[number]}).encode() for number in range(3)}
    (tmp_path / "good.jsonl").write_bytes(b"\n".join(several.values()))
    good = encoded(Source((str(tmp_path / "good.jsonl"),), documents="jsonl"))
    source = archive(tmp_path / "x.tar", several)
    assert encoded(source) == good
    broken = archive(tmp_path / "y.tar", {**several, "1b.json": b"[", "2b.json": b'{"messages": 1}'})
    with pytest.raises(InputError, match=r"y\.tar, document 4:1:2: invalid JSON"):
        encoded(broken)
    with pytest.raises(InputError, match=r"y\.tar, member 1b\.json:1:2: invalid JSON"):
        prepare(broken, "gpt-3.5-turbo", replace(CHAT, to="npy-offsets"), folder=tmp_path / "no", processes=1)
    options = PrepareOptions(to="npy-offsets", chat=ChatOptions(), on_error="quarantine")
    done = prepare(broken, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert (done.documents, done.broken) == (3, {"json": 1, "conversation": 1})
    lines = (tmp_path / "out/part-00000.quarantine.jsonl").read_bytes().splitlines()
    rows = [(row["member"], row["kind"], row["raw"]) for row in map(json.loads, lines)]
    assert rows == [("1b.json", "json", "["), ("2b.json", "conversation", '{"messages": 1}')]
    assert [row.tolist() for row in bpe_cli.TokenDataset(tmp_path / "out")] == good


def test_errors_in_tables_name_the_row(tmp_path: Path) -> None:
    source = tables(tmp_path, "parquet")
    with pytest.raises(InputError, match=r"a\.parquet, row 2: the column 'messages' is null"):
        prepare(source, "gpt-3.5-turbo", CHAT, folder=tmp_path / "out", processes=1)
    (tmp_path / "c.csv").write_text('messages\n"[{""role"": ""user"", ""content"": ""hi""}]"\n"\n\n{}"\n')
    with pytest.raises(InputError, match=r"c\.csv, row 2"):
        prepare(Source((str(tmp_path / "c.csv"),)), "gpt-3.5-turbo", CHAT, folder=tmp_path / "out", processes=1)


def test_errors_in_tables_name_the_document_where_no_part_is_made(tmp_path: Path) -> None:
    path, talk = tmp_path / "c.csv", json.dumps(TALKS[0]).replace('"', '""')
    path.write_text(f'messages\n"{talk}"\n"[1]"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"c\.csv, document 2: messages\[0\] is not an object"):
        encoded(Source((str(path),)))
    path.write_text(f'messages\n"{talk}"\n"{talk}"\n', encoding="utf-8")
    with pytest.raises(CheckFailed, match=r"c\.csv, document 1 has [0-9]+ tokens; [^;]*c\.csv, document 2 has"):
        encode_chat(Source((str(path),)), "gpt-3.5-turbo", None, EncodeOptions(max_tokens=3), output=io.BytesIO())


def test_an_empty_file_between_tables_moves_no_row(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    first, second = tables(tmp_path, "parquet").paths
    source = Source((first, str(tmp_path / "empty.txt"), second))
    options = options_of(keep=("id",), on_error="skip")
    done = prepare(source, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    ids: list[Any] = [10, 13, 15, 20, 23, 25]
    assert [row["id"] for row in table(tmp_path / "out")] == ids
    assert done.broken == {"type": 4, "json": 2, "conversation": 2}


HARD = """{%- macro deep() %}{{ deep() }}{% endmacro -%}
{%- for m in messages -%}
{%- if m.content == 'large' %}{{ 'x' * 10 ** 10 }}
{%- elif m.content == 'deep' %}{{ deep() }}
{%- elif m.content == 'odd' %}{{ ''.__class__.__mro__ }}
{%- else %}{{ ('x' ~ m.content) | upper | lower }}
{%- endif -%}
{%- endfor -%}"""
"""A template that some conversations are too much for."""

TOO_HARD = {
    "large": "t.jinja is stopped: it makes too much data from too little input",
    "deep": "t.jinja is stopped: it goes too deep",
    "odd": "t.jinja does something that chat templates may not do: it uses '__class__' of a str",
    "<|endoftext|>ß": "the chat template makes <|endoftext|> in a way that cannot be followed, so it may come from a "
    "message",
}


def said(folder: Path, *contents: str) -> Source:
    """Make lines of conversations of one message each, and a template for them."""
    (folder / "t.jinja").write_text(HARD, encoding="utf-8")
    lines = [json.dumps([{"role": "user", "content": content}]) for content in contents]
    (folder / "said.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return Source((str(folder / "said.jsonl"),), documents="jsonl")


@pytest.mark.parametrize("mask", [None, "assistant"])
def test_what_a_template_does_not_finish_is_a_broken_row(mask: Any, tmp_path: Path) -> None:
    needs("jinja2")
    source = said(tmp_path, "hi", *TOO_HARD, "ho")
    chat = ChatOptions(str(tmp_path / "t.jinja"))
    options = options_of(chat=chat, mask=mask, on_error="quarantine")
    done = prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1)
    assert (done.documents, done.broken) == (2, {"template": len(TOO_HARD)})
    assert [row["input_ids"] for row in table(tmp_path / "out")] == [*map(bpe_cli.load("gpt2").encode, ("xhi", "xho"))]
    lines = (tmp_path / "out/part-00000.quarantine.jsonl").read_bytes().splitlines()
    found = [(row["line"], row["kind"], row["reason"].replace(f"{tmp_path}/", "")) for row in map(json.loads, lines)]
    assert found == [(number, "template", reason) for number, reason in enumerate(TOO_HARD.values(), 2)]


@pytest.mark.parametrize("content", TOO_HARD)
def test_what_a_template_does_not_finish_is_named(content: str, tmp_path: Path) -> None:
    needs("jinja2")
    source = said(tmp_path, "hi", content)
    options = options_of(chat=ChatOptions(str(tmp_path / "t.jinja")))
    with pytest.raises(BpeError) as caught:
        prepare(source, "gpt2", options, folder=tmp_path / "out", processes=1)
    assert caught.value.message.replace(f"{tmp_path}/", "") == f"said.jsonl:2: {TOO_HARD[content]}"
    with pytest.raises(BpeError) as of_the_chat_job:
        encode_chat(source, "gpt2", options.chat, output=io.BytesIO())
    assert of_the_chat_job.value.message == caught.value.message


@pytest.mark.parametrize("mask", [None, "assistant"])
def test_what_is_refused_is_no_broken_row(mask: Any, tmp_path: Path) -> None:
    source = said(tmp_path, "hi", "<|im_end|>")
    options = options_of(mask=mask, on_error="skip", specials="all", refuse_specials=True)
    with pytest.raises(InputError, match=r"said\.jsonl:2: the text of a message contains the special token"):
        prepare(source, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)


def test_what_is_said_of_conversations_is_checked(talks: Source, tmp_path: Path) -> None:
    def refused(match: str, options: PrepareOptions, source: Source = talks, name: str = "gpt-3.5-turbo") -> None:
        with pytest.raises(BpeError, match=match):
            prepare(source, name, options, folder=tmp_path / "out", processes=1)

    refused("the format litdata has no column seq_lengths", options_of(to="litdata", columns=("seq_lengths",)))
    refused("comes with no chat template", CHAT, name="gpt2")
    refused("openai counts what OpenAI bills", options_of(chat=ChatOptions("openai")))
    (tmp_path / "date.jinja").write_text("{{ strftime_now('%d') }}{{ messages[0].content }}")
    refused("writes what day it is", options_of(chat=ChatOptions(str(tmp_path / "date.jinja"))))
    (tmp_path / "broken.jinja").write_text("{% if %}")
    refused("broken", options_of(chat=ChatOptions(str(tmp_path / "broken.jinja"))))
    refused("reads JSON, not lines", CHAT, Source(talks.paths, documents="lines"))
    (tmp_path / "bad.jsonl").write_text('[]\n\n{"messages": [{"role": 5}]}\n')
    refused(
        r"bad\.jsonl:3: messages\[0\]\.role is not a string",
        CHAT,
        Source((str(tmp_path / "bad.jsonl"),), None, "jsonl"),
    )
    for match, changes in (
        ("`mask` is for conversations", {"mask": "assistant"}),
        ("a chat template itself writes", {"chat": ChatOptions(), "bos": 1}),
        ("there are no sequences", {"columns": ("spans",)}),
        ("is written with `mask`", {"columns": ("loss_mask",)}),
    ):
        with pytest.raises(UsageError, match=match):
            PrepareOptions(**changes)  # type: ignore[arg-type]


def test_tools_choose_the_template_for_tools(tmp_path: Path) -> None:
    """One template marks what the model generates, and the other does not."""
    marked = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    plain = (
        "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}[assistant] {% endif %}"
    )
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    talks = [{"messages": talk}, {"messages": talk, "tools": [{}]}]
    (tmp_path / "talks.jsonl").write_text("\n".join(map(json.dumps, talks)))
    source = Source((str(tmp_path / "talks.jsonl"),), documents="jsonl")

    def folder_of(name: str, default: str, tool_use: str) -> Path:
        folder = tmp_path / name
        (folder / "additional_chat_templates").mkdir(parents=True)
        bpe_cli.load("gpt2").save(folder / "tokenizer.json")
        (folder / "chat_template.jinja").write_text(default)
        (folder / "additional_chat_templates" / "tool_use.jinja").write_text(tool_use)
        return folder

    prepare(source, str(folder_of("a", marked, plain)), CHAT, folder=tmp_path / "out", processes=1)
    decode = bpe_cli.load("gpt2").decode
    columns = [(row["input_ids"], row["loss_mask"]) for row in table(tmp_path / "out")]
    learnt = [decode([id_ for id_, mark in zip(ids, mask, strict=True) if mark]) for ids, mask in columns]
    assert [decode(ids) for ids, _ in columns] == ["hiyo", "[user] hi\n[assistant] yo\n"]
    assert learnt == ["hiyo", " yo\n"]
    with pytest.raises(UsageError, match="made with other settings: "):
        prepare(source, str(folder_of("b", marked, plain + " ")), CHAT, folder=tmp_path / "out", processes=1)
    dated = str(folder_of("c", marked, plain + "{{ strftime_now('%d') }}"))
    with pytest.raises(UsageError, match="the tokenizer's chat template tool_use writes what day it is"):
        prepare(source, dated, CHAT, folder=tmp_path / "dated", processes=1)


def test_the_plan_knows_the_template(talks: Source, tmp_path: Path) -> None:
    path = tmp_path / "t.jinja"
    path.write_text("{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}")
    options = options_of(chat=ChatOptions(str(path)), eot=100257)
    prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert {mark for row in table(tmp_path / "out") for mark in row["loss_mask"]} == {1}
    path.write_text(path.read_text() + " ")
    with pytest.raises(UsageError, match="made with other settings: chat"):
        prepare(talks, "gpt-3.5-turbo", options, folder=tmp_path / "out", processes=1)
    assert LAYOUTS["gpt-3.5"].marks_generation
