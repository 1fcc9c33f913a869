"""An entry of a round: a process to run, and the cells that its answers go to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.processes import TooSlow, WorkerFailed
from benchmarks.results import TOO_SLOW, UNMEASURED, Cell


@dataclass
class Entry:
    """A process to run in every round, and the cells that its answers belong to, by phase."""

    cells: dict[str, Cell]
    rounds: int
    measure: Callable[[], dict[str, Any]]
    digest: object = None
    seconds: float = 0.0  # of the last round
    imported: tuple[str, ...] = ()  # in the first pass, where it counts
    stride: int = 1

    @property
    def first(self) -> Cell:
        """Any of its cells, for what they have in common."""
        return next(iter(self.cells.values()))

    def run(self) -> None:
        """Measure once more; after a failure, never again."""
        if self.first.status in UNMEASURED:
            return
        began = time.perf_counter()
        try:
            self.take(self.measure())
        except TooSlow as error:
            for cell in self.cells.values():
                cell.status, cell.note, cell.limit, cell.runs = TOO_SLOW, str(error), error.limit, 1
        except WorkerFailed as error:
            for cell in self.cells.values():
                cell.status, cell.note = "failed", str(error)
        self.seconds = time.perf_counter() - began

    def take(self, answer: dict[str, Any]) -> None:
        """Note down what a worker answered."""
        digest = answer["tokens"] if self.first.operation == "count" else answer["digest"]
        if self.digest not in (None, digest):
            raise WorkerFailed("gave another result when it ran again")
        self.digest = digest
        self.imported = tuple(answer.get("imported", ()))
        for number, (phase, cell) in enumerate(self.cells.items()):
            cell.bytes, cell.documents, cell.tokens = answer["bytes"], answer["documents"], answer["tokens"]
            passes = answer["passes"]
            cell.runs += len(passes) if cell.operation == "start" else 1
            chosen = passes if len(self.cells) == 1 else passes[:1] if number == 0 else passes[1:]
            cell.wall += [one["wall"] for one in chosen]
            cell.cpu += [one["cpu"] for one in chosen]
            cell.pace += [one["pace"] for one in chosen]
            if answer.get("peak") is not None and phase != "warm":
                cell.peak.append(answer["peak"])


def first_digest(entries: Iterable[Entry], libraries: Sequence[str], like: Entry) -> tuple[object, str]:
    """Return what the first of these libraries gave at a measurement, and its name; (None, "") if none was measured."""
    wanted = like.first.measurement
    found = {
        entry.first.library: entry.digest
        for entry in entries
        if entry.first.measurement == wanted and entry.digest is not None
    }
    return next(((found[library], library) for library in libraries if library in found), (None, ""))
