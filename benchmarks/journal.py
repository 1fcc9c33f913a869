"""What a round has measured so far, in a file, so that a round that was interrupted goes on where it stopped.

A line is an answer of one process. The first line says what is measured on what: a journal of anything else is refused.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.entries import Entry
from benchmarks.processes import TooSlow, WorkerFailed


class Journal:
    """Write answers down, and give those that were written down before in place of measuring again.

    Attributes:
        free: How many processors were free, at all times when somebody looked.
        seconds: How long the answers took that are not measured again.
    """

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        """Open a journal, or begin one.

        Raises:
            WorkerFailed: if it is one of another round.
        """
        self._path = path
        self._known: dict[tuple[str, int], dict[str, Any]] = {}
        self._runs: Counter[str] = Counter()
        self.free: list[float] = []
        self.seconds = 0.0
        head = json.loads(json.dumps(head))
        lines = self._whole_lines()
        if lines and lines[0] != head:
            other = ", ".join(sorted(name for name in head if lines[0].get(name) != head[name]))
            raise WorkerFailed(f"{path.name} is the journal of a round with another {other}: remove it to begin anew")
        for line in lines[1:]:
            if "free" in line:
                self.free.append(line["free"])
            else:
                self._known[line["entry"], line["run"]] = line
        if not lines:
            self._append(head)

    def _whole_lines(self) -> list[dict[str, Any]]:
        """Read the lines, and cut off one that was being written when its process ended."""
        if not self._path.exists():
            return []
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            self._path.write_bytes(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def note_free(self, cores: float) -> None:
        """Write down how many processors are free."""
        self.free.append(cores)
        self._append({"free": cores})

    def keep(self, entries: Iterable[Entry]) -> None:
        """Let entries ask the journal first, each by what is measured, and how often it was."""
        names: Counter[str] = Counter()
        for entry in entries:
            cell = entry.first
            name = "/".join(
                map(str, (cell.operation, cell.text, cell.tokenizer, cell.threads, cell.library, cell.way, cell.phase))
            )
            names[name] += 1
            entry.measure = self._asked_first(f"{name}/{names[name]}", entry.measure)

    def _asked_first(self, name: str, measure: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        def answer() -> dict[str, Any]:
            self._runs[name] += 1
            run = self._runs[name]
            line = self._known.get((name, run))
            if line is None:
                began = time.perf_counter()
                try:
                    found = {"answer": measure()}
                except TooSlow as error:
                    found = {"too_slow": error.limit}
                # Another failure is not written down: it may be the machine's, and is tried again.
                line = {"entry": name, "run": run, **found, "seconds": round(time.perf_counter() - began, 3)}
                self._append(line)
            else:
                self.seconds += line["seconds"]
            if "too_slow" in line:
                raise TooSlow(line["too_slow"])
            return line["answer"]

        return answer
