"""A round: its texts and tokenizers, the processes of all operations, the reference's answers, the verdicts."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import instructions, machine, results, texts, vocabularies
from benchmarks.entries import Entry
from benchmarks.jobs import Job
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.operations import OPERATIONS
from benchmarks.processes import work
from benchmarks.results import Cell
from benchmarks.vocabularies import BYTE_LEVEL, STAGED, Vocabulary

TOKENIZERS = (*BYTE_LEVEL, *STAGED)


@dataclass(frozen=True, slots=True)
class Options:
    """What a round is to be.

    Attributes:
        mode: ``full``, or ``part`` for a sanity check.
        repetitions: How many rounds.
        operations: Which operations.
        texts: Names of texts, where they exist.
        tokenizers: Names of tokenizers, where they exist.
        limit: Bytes of each text, or None for all.
    """

    mode: str
    repetitions: int
    operations: tuple[str, ...]
    texts: tuple[str, ...]
    tokenizers: tuple[str, ...]
    limit: int | None


class Plan:
    """All that a round measures."""

    def __init__(self, options: Options, prepared: Sequence[texts.Text], folder: Path, repository: Path) -> None:
        self.options = options
        self.texts = {text.name: text for text in prepared if text.name not in texts.COLLECTIONS}
        self.collections = {text.name: text for text in prepared if text.name in texts.COLLECTIONS}
        self.parts: dict[str, texts.Text] = {}  # what operations cut from them
        self.folder = folder
        self.threads = (1, 2) if machine.cores() > 1 else (1,)
        self.versions = {name: machine.version_of(library.distribution) for name, library in LIBRARIES.items()}
        found = {name: vocabularies.prepare(name, folder, repository) for name in options.tokenizers}
        self.vocabularies = {name: vocabulary for name, vocabulary in found.items() if vocabulary is not None}
        self.hider = instructions.build(folder)
        self._references: dict[Job, dict[str, Any]] = {}

    def entries(self) -> Iterator[Entry]:
        """Yield all processes of a round."""
        for operation in self.options.operations:
            yield from OPERATIONS[operation].entries(self)

    def entry(self, job: Job, text: str, tokenizer: str, phases: tuple[str, ...], rounds: int) -> Entry:
        """Return one process of a round that a worker runs; with fewer instructions it is an operation of its own."""
        cells = {
            phase: Cell(job.level or job.operation, phase, text, tokenizer, job.threads, job.library, job.way)
            for phase in phases
        }
        if self.versions[job.library] is None:
            for cell in cells.values():
                cell.status = "not installed"
        return Entry(cells, rounds, lambda: work(job))

    # -- what is right -----------------------------------------------------------------------------

    def ids_of(self, text: texts.Text, vocabulary: Vocabulary, stride: int) -> Path:
        """Return the file of the ids that are to be decoded, which the reference writes."""
        path = self.folder / f"{text.name}.{vocabulary.name}.{stride}.ids"
        if not path.exists():
            library = self.reference_library(vocabulary)
            work(vocabulary.job(
                operation="encode", library=library, way=self.way_of(library), threads=max(self.threads),
                text=str(text.path), stride=stride, ids=str(path),
            ))  # fmt: skip
        return path

    def reference_library(self, vocabulary: Vocabulary) -> str:
        """State whose ids are right: ours only if the library that everybody trusts is not installed."""
        return vocabulary.reference if self.versions[vocabulary.reference] else OURS

    @staticmethod
    def way_of(library: str, *, running: bool = False) -> str:
        """State the way in which a reference encodes separate documents, or a running text."""
        return "buffers" if library == OURS and not running else ""

    def reference(self, text: str, tokenizer: str, stride: int, *, running: bool = False) -> tuple[dict[str, Any], str]:
        """Return what the reference makes of a text, and its name."""
        vocabulary, source = self.vocabularies[tokenizer], (self.texts | self.collections | self.parts)[text]
        library = self.reference_library(vocabulary)
        path = texts.without(source.path, vocabulary.lacks)
        if running:
            path = texts.running(path, stride)
        job = vocabulary.job(
            operation="encode", library=library, way=self.way_of(library, running=running), threads=max(self.threads),
            text=str(path), stride=1 if running else stride,
        )  # fmt: skip
        if job not in self._references:
            self._references[job] = work(job)
        return self._references[job], library

    def judge(self, entries: Sequence[Entry]) -> None:
        """Compare what every library gave with what it should be."""
        for entry in entries:
            operation = OPERATIONS[entry.first.operation]
            measured = entry.first.status not in results.UNMEASURED
            if entry.first.library == "python":
                entry.first.status, entry.first.note = "baseline", "an interpreter that does nothing"
                continue
            expected, whose = operation.expected(self, entry, entries) if measured else (None, "")
            accepts = getattr(operation, "accepts", operator.eq)
            for cell in entry.cells.values():
                results.judge(cell, entry.digest, expected, whose, accepts)
                if entry.imported and cell.phase != "warm":
                    cell.note += f"; its time includes importing {', '.join(entry.imported)}"
