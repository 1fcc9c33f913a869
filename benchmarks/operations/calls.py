"""Many small calls: one short text again and again, lists of ids, token by token, tokens with their places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import texts
from benchmarks.entries import Entry, first_digest
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.operations.encoding import FIRST_ENCODING
from benchmarks.vocabularies import Vocabulary

STREAM_BYTES = 4_000_000
"""About a million tokens of English are given out one by one."""

TOKENS_STRIDE = 20
"""Tokens with their places are asked of every 20th document: it takes that long."""


def measured(plan: Any, operation: str) -> Iterator[tuple[str, str, int]]:
    """Yield every library that has an operation, its way, and in how many rounds it is measured."""
    for name, library in LIBRARIES.items():
        if operation in library.operations:
            ways = ("", "columns") if operation == "tokens" and name == OURS else ("",)
            yield from ((name, way, plan.options.repetitions if name == OURS else 1) for way in ways)


class Short:
    """Encode one short text a million times, and each of many messages once: what a call costs."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None:
            return
        messages = plan.collections.get(texts.MESSAGES)
        for text, path in [("one short text", ""), *([(messages.name, str(messages.path))] if messages else [])]:
            for name, way, rounds in measured(plan, "short"):
                job = vocabulary.job(operation="short", library=name, way=way, text=path)
                yield plan.entry(job, text, vocabulary.name, ("",), rounds)

    def expected(self, _: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return the ids of the trusted library."""
        digest, library = first_digest(entries, ("tiktoken", "tokenizers", OURS), entry)
        return digest, f"the ids of {library}"


class Tokens:
    """Find the tokens of documents and their offsets."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None:
            return
        text = next(iter(plan.texts.values()))
        for name, way, rounds in measured(plan, "tokens"):
            job = vocabulary.job(operation="tokens", library=name, way=way, text=str(text.path), stride=TOKENS_STRIDE)
            yield plan.entry(job, text.name, vocabulary.name, ("",), rounds)

    def expected(self, _: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return the ids and places of the trusted library."""
        digest, library = first_digest(entries, ("tokenizers", OURS), entry)
        return digest, f"the ids and places of {library}"


class DecodeBatch:
    """Decode many short lists of ids into as many strings."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary, text = plan.vocabularies.get(FIRST_ENCODING), plan.collections.get(texts.MESSAGES)
        if vocabulary is None or text is None:
            return
        for threads in plan.threads:
            for name, way, rounds in measured(plan, "decode_batch"):
                job = vocabulary.job(
                    operation="decode_batch", library=name, way=way, threads=threads, text=str(text.path),
                    ids=str(lists_of(text, vocabulary, plan.folder)),
                )  # fmt: skip
                yield plan.entry(job, text.name, vocabulary.name, ("",), rounds)

    def expected(self, *_: Any) -> tuple[object, str]:
        """Return what the worker says when the texts came back."""
        return True, "the texts"


class Stream:
    """Decode token by token, as a model gives them."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(FIRST_ENCODING)
        if vocabulary is None:
            return
        whole = next(iter(plan.texts.values()))
        text = texts.shortened(whole, STREAM_BYTES, plan.folder)
        plan.parts[text.name] = text
        for name, way, rounds in measured(plan, "stream"):
            job = vocabulary.job(
                operation="stream",
                library=name,
                way=way,
                text=str(text.path),
                ids=str(plan.ids_of(text, vocabulary, 1)),
            )
            yield plan.entry(job, text.name, vocabulary.name, ("",), rounds)

    def expected(self, *_: Any) -> tuple[object, str]:
        """Return what the worker says when the text came back."""
        return True, "the text"


def lists_of(text: texts.Text, vocabulary: Vocabulary, folder: Path) -> Path:
    """Write the ids of each document of a text as a list, as JSON, and give the file."""
    from bpe_cli import load

    path = folder / f"{text.name}.{vocabulary.name}.lists"
    if not path.exists():
        batch = load(vocabulary.load).encode_batch(texts.read(text.path))
        path.write_text(json.dumps(batch.to_lists()), encoding="ascii")
    return path
