"""One line of text through a fresh process; and a large tokenizer.json read."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.entries import Entry, first_digest
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.processes import bpe_command, start
from benchmarks.results import Cell
from benchmarks.texts import LINE

ENCODINGS = ("cl100k_base", "o200k_base")
LOADED = "o200k_base"
RUNS = 2
SLOW = ("tokenizers", "gigatoken")
"""Who needs ten times as long as the fastest."""


class Start:
    """Encode one line in a fresh process."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        for encoding in ENCODINGS:
            vocabulary = plan.vocabularies.get(encoding)
            if vocabulary is None:
                continue
            arguments = [
                encoding, LINE, vocabulary.pattern, vocabulary.ranks, vocabulary.tokenizer_json, vocabulary.scheme,
            ]  # fmt: skip
            commands = {(OURS, "command"): [*bpe_command(), "encode", "-T", LINE, "-t", encoding]}
            for name, library in LIBRARIES.items():
                if "start" in library.operations:
                    way = "library" if name == OURS else ""
                    commands[name, way] = [sys.executable, "-c", library.start, *arguments]
            commands["python", "alone"] = [sys.executable, "-c", "pass"]
            for (name, way), line in commands.items():
                cell = Cell("start", "", "one line", encoding, 1, name, way)
                if name in plan.versions and plan.versions[name] is None:
                    cell.status = "not installed"
                rounds = 1 if name in SLOW else plan.options.repetitions
                yield Entry({"": cell}, rounds, partial(start, line, LINE, RUNS))

    def expected(self, _: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return the ids that the trusted library printed."""
        digest, library = first_digest(entries, ("tiktoken", OURS), entry)
        return digest, f"the ids of {library}"


class Load:
    """Read a tokenizer.json of about 16 MB and make it ready to encode."""

    def entries(self, plan: Any) -> Iterator[Entry]:
        """Yield the processes of a round."""
        vocabulary = plan.vocabularies.get(LOADED)
        if vocabulary is None:
            return
        for name, library in LIBRARIES.items():
            if "load" in library.operations:
                job = vocabulary.job(operation="load", library=name, text=vocabulary.tokenizer_json)
                yield plan.entry(job, "tokenizer.json", vocabulary.name, ("cold",), plan.options.repetitions)

    def expected(self, _: Any, entry: Entry, entries: Sequence[Entry]) -> tuple[object, str]:
        """Return the ids of a line."""
        digest, library = first_digest(entries, ("tokenizers", OURS), entry)
        return digest, f"the ids of {library}"
