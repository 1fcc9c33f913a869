"""The rows of a data set by the plain way: all documents in lists, and nothing but lists.

What is judged by it: how documents are divided into sets, put into an order and made into sequences, and what stands
beside the ids of each row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Document:
    """A document: its text, its ids with the tokens around them, which of them are learnt, and what is kept of it."""

    text: bytes
    ids: list[int]
    mask: list[int]
    kept: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A row: its ids, which of them are learnt, how many it has of each document, and what is kept of its document."""

    ids: list[int]
    mask: list[int]
    pieces: list[int]
    kept: Mapping[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """Return all that can be asked of it."""
        size = len(self.ids)
        attention, positions, segments, spans = [0] * size, [0] * size, [0] * size, []
        start = 0
        for number, length in enumerate(self.pieces, 1):
            for at in range(length):
                attention[start + at], positions[start + at], segments[start + at] = 1, at, number
            spans.append([start, start + length])
            start += length
        return {
            "input_ids": self.ids, "attention_mask": attention, "position_ids": positions, "segment_ids": segments,
            "seq_lengths": self.pieces, "spans": spans, "loss_mask": self.mask, **self.kept,
        }  # fmt: skip


def parts_of(plan: Mapping[str, Any], data: bytes, made: Callable[[bytes], Document | None]) -> list[list[Document]]:
    """Return the documents of each part of a plan that cuts one file: a line is of the part of its first byte."""
    parts: list[list[Document]] = []
    for inputs in plan["parts"]:
        (only,) = inputs
        first, last = only.get("from", 0), only.get("to", len(data))
        place, documents = 0, []
        for line in data.splitlines(keepends=True):
            if first <= place < last and line.strip():
                documents.append(made(line))
            place += len(line)
        parts.append([each for each in documents if each is not None])
    return parts


def is_of_val(text: bytes, share: float) -> bool:
    """Return whether a document is of the validation set."""
    digest = hashlib.blake2b(text, digest_size=16, person=b"bpe document").digest()
    return int.from_bytes(digest[:8], "big") < int(share * 2**64)


def in_order(parts: Sequence[Sequence[Any]], side: int, seed: int) -> list[list[Any]]:
    """Shuffle the items of one set: all by their keys, those of each equal range of keys in a part."""
    keyed = []
    for number, items in enumerate(parts):
        for at, item in enumerate(items):
            text = b"".join(value.to_bytes(8, "little") for value in (seed, number, side, at))
            key = int.from_bytes(hashlib.blake2b(text, digest_size=8, person=b"bpe shuffle").digest(), "big")
            keyed.append((key, number, at, item))
    keyed.sort(key=lambda each: each[:3])
    return [[item for key, *_, item in keyed if key * len(parts) >> 64 == number] for number in range(len(parts))]


def best_fit(sizes: Sequence[int], length: int) -> list[list[int]]:
    """Put pieces together, the longest first, each where it leaves the least room."""
    made: list[list[int]] = []
    for number in sorted(range(len(sizes)), key=lambda at: (-sizes[at], at)):
        rooms = [(length - sum(sizes[at] for at in each), place) for place, each in enumerate(made)]
        fitting = [each for each in rooms if each[0] >= sizes[number]]
        if fitting:
            made[min(fitting)[1]].append(number)
        else:
            made.append([number])
    return sorted(sorted(each) for each in made)


def in_sequences(documents: Sequence[Document], length: int | None, way: str, pad: int | None) -> list[Row]:
    """Make the rows of a part of its documents."""
    if length is None:
        return [Row(each.ids, each.mask, [len(each.ids)] if each.ids else [], each.kept) for each in documents]
    cut = [
        [Row(each.ids[at : at + length], each.mask[at : at + length], [len(each.ids[at : at + length])], each.kept)
         for at in range(0, len(each.ids), length)]
        for each in documents
    ]  # fmt: skip
    if way == "concatenate":
        together = [(id_, mark, number) for number, each in enumerate(documents)
                    for id_, mark in zip(each.ids, each.mask, strict=True)]  # fmt: skip
        rows = []
        for at in range(0, len(together), length):
            some = together[at : at + length]
            numbers = [number for *_, number in some]
            pieces = [numbers.count(number) for number in sorted(set(numbers))]
            rows.append(Row([each[0] for each in some], [each[1] for each in some], pieces))
    elif way == "best-fit":
        pieces_of_all = [piece for each in cut for piece in each]
        rows = [
            Row([id_ for at in numbers for id_ in pieces_of_all[at].ids],
                [mark for at in numbers for mark in pieces_of_all[at].mask],
                [len(pieces_of_all[at].ids) for at in numbers])
            for numbers in best_fit([len(each.ids) for each in pieces_of_all], length)
        ]  # fmt: skip
    else:
        rows = [piece for each in cut for piece in (each if way == "split" else each[:1])]
    if pad is None:
        return rows
    more = [length - len(row.ids) for row in rows]
    return [
        Row(row.ids + [pad] * rest, row.mask + [0] * rest, row.pieces, row.kept)
        for row, rest in zip(rows, more, strict=True)
    ]


def rows_of(
    parts: Sequence[Sequence[Document]], *, length: int | None = None, way: str = "concatenate",
    pad: int | None = None, val: float | None = None, shuffle: str | None = None, seed: int = 0,
) -> dict[str | None, list[Row]]:  # fmt: skip
    """Return the rows of each set: ``train`` and ``val``, or the only one, called None."""
    names: list[str | None] = [None] if val is None else ["train", "val"]
    found: dict[str | None, list[Row]] = {}
    for side, name in enumerate(names):
        mine = [[each for each in part if val is None or is_of_val(each.text, val) == bool(side)] for part in parts]
        if shuffle == "documents":
            mine = in_order(mine, side, seed)
        rows = [in_sequences(each, length, way, pad) for each in mine]
        if shuffle == "sequences":
            rows = in_order(rows, side, seed)
        found[name] = [row for part in rows for row in part]
    return found


def text_document(
    encode: Callable[[str], list[int]], line: bytes, eot: int | None, keep: Sequence[str] = ()
) -> Document:
    """Return the document of a line of JSON that holds a text."""
    row = json.loads(line)
    ids = [*encode(row["text"]), *([] if eot is None else [eot])]
    return Document(row["text"].encode(), ids, [0] * len(ids), {name: row.get(name) for name in keep})


OPENS, CLOSES = 100264, 100265


def chat_document(
    encode: Callable[[str], list[int]], line: bytes, eot: int | None, keep: Sequence[str] = ()
) -> Document:
    """Return the document of a conversation in ChatML, by a tokenizer of cl100k_base; the assistant's turns are learnt.

    Contents must not begin with whitespace, which would be put together with the line end before it.
    """
    text, ids, mask = "", list[int](), list[int]()

    def add(some: list[int], *, learnt: bool) -> None:
        ids.extend(some)
        mask.extend([int(learnt)] * len(some))

    row = json.loads(line)
    messages = row["messages"]
    for message in messages:
        role, content = message["role"], message["content"]
        add([OPENS, *encode(role + "\n")], learnt=False)
        add([*encode(content), CLOSES], learnt=role == "assistant")
        add(encode("\n"), learnt=False)
        text += f"<|im_start|>{role}\n{content}<|im_end|>\n"
    if messages[-1]["role"] != "assistant":
        add([OPENS, *encode("assistant\n")], learnt=False)
        text += "<|im_start|>assistant\n"
    if eot is not None:
        add([eot], learnt=bool(mask[-1]))
    return Document(text.encode(), ids, mask, {name: row.get(name) for name in keep})
