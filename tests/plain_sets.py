"""Data sets of some texts, or conversations, and beside each its rows by the plain way."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.jobs.encode_chat import ChatOptions
from bpe_cli.jobs.prepare import PrepareOptions, prepare
from tests.oracle import data_sets as plain
from tests.thorough import more

EOT, CHAT_EOT = 50256, 100257
CHAT: dict[str, Any] = {"chat": ChatOptions(), "mask": "assistant"}


def workers_for(to: str, by_two: str) -> int:
    """Return by how many processes a test makes parts: by two in a hunt, else of one of its formats alone.

    A process costs more than all parts, and what runs in it is the same for every format. Each test has one of tables
    or one that is flat, by turns.
    """
    return 2 if to == by_two else more(1, 2)


def written(folder: Path) -> dict[str, Path]:
    """Write texts, and conversations."""
    texts = [
        json.dumps({"text": f"document {number} " + "naïve 日本\n" * (number % 5) * (number % 3), "id": number})
        for number in range(30)
    ]
    texts[7] = json.dumps({"text": "", "id": None})
    talks = [
        json.dumps({"id": number, "messages": [
            {"role": "user", "content": f"question {number}?"},
            {"role": "assistant", "content": "an answer " * (number % 4) + "日本"},
            *([{"role": "user", "content": "and?"}] if number % 3 == 0 else []),
        ]})
        for number in range(18)
    ]  # fmt: skip
    found = {"texts": folder / "texts.jsonl", "talks": folder / "talks.jsonl"}
    found["texts"].write_text("\n".join(texts) + "\n", encoding="utf-8")
    found["talks"].write_text("\n\n".join(talks), encoding="utf-8")
    return found


def made(lines: dict[str, Path], folder: Path, options: PrepareOptions) -> dict[str | None, list[plain.Row]]:
    """Prepare a data set of several parts; return its rows by the plain way."""
    is_chat = options.chat is not None
    path, name, eot = lines["texts"], "gpt2", EOT
    if is_chat:
        path, name, eot = lines["talks"], "gpt-3.5-turbo", CHAT_EOT
    options = replace(options, eot=eot, part_bytes=900)
    done = prepare(Source((str(path),), documents="jsonl"), name, options, folder=folder, processes=1)
    assert done.parts > 1
    encode = bpe_cli.load("cl100k_base" if is_chat else "gpt2").encode
    document = partial(
        plain.chat_document if is_chat else plain.text_document, encode, eot=eot,
        keep=tuple(each.partition(":")[0] for each in options.keep),
    )  # fmt: skip
    plan = json.loads((folder / "plan.json").read_bytes())
    parts = plain.parts_of(plan, path.read_bytes(), lambda line: document(line=line))
    return plain.rows_of(
        parts, length=options.length, way=options.way, pad=options.pad, val=options.val,  # type: ignore[arg-type]
        shuffle=options.shuffle, seed=options.seed,
    )  # fmt: skip


def listed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with lists in place of arrays."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()}
