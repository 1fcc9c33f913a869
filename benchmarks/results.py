"""What a round measured: cells, their medians, who was best; and results.json, which holds one whole round.

A cell is a library in a way of its own, at one measurement (operation, phase, text, tokenizer,
threads). Numbers and verdicts are made here, once, when the round is stored; ``render.py`` only shows them.
"""

from __future__ import annotations

import json
import operator
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

SCHEMA = "bpe-benchmarks/3"
PATH = Path(__file__).resolve().parent / "results.json"

OURS = "bpe"

Measurement = tuple[str, str, str, str, int]
"""Operation, phase, text, tokenizer, threads: what cells have in common that are compared."""

RANKED = "same"
"""The status of a cell that did the work: its result was what it should be."""


TOO_SLOW = "too slow"
"""The status of a cell whose process was stopped at its limit."""

MORE_THREADS = 1.1
"""By how much CPU time exceeds wall time where there was more than one thread."""

UNMEASURED = ("failed", "not installed", TOO_SLOW)
"""The status of cells that have no figure."""

ONE_RUN = 2.0
"""How far ahead we have to be where a side ran once: no run of the stored rounds was further from its cell's median."""

VERDICTS = ("won", "lost", "level", "one run", "alone")
"""What becomes of a row; the last two are not ranked: ahead by less than ``ONE_RUN`` of one run, or beside nobody."""


@dataclass
class Cell:
    """One library at one measurement.

    Attributes:
        operation: A key of ``operations.OPERATIONS``.
        phase: ``cold`` (first pass of a process), ``warm`` (later passes), ``""`` where there is no such thing;
            of growth ``encode``, ``train`` or ``hostile``.
        text: Name of the text.
        tokenizer: Name of the tokenizer, or what is trained.
        threads: How many it may use.
        library: Name of the library.
        way: Which of its ways.
        status: ``same`` result as the reference, ``different``, ``unchecked``, ``not installed``, ``failed`` or
            ``too slow``.
        note: What there is to say of it.
        bytes: UTF-8 bytes that a pass takes.
        documents: Documents that a pass takes.
        tokens: Tokens that a pass makes (of training: the vocabulary's).
        wall: Seconds of every pass.
        cpu: CPU seconds of every pass, all threads together.
        pace: Seconds of a piece of work that is always the same, beside every pass; see ``pace.py``.
        steady: The longest of these at which a pass counts; 0 if all count.
        peak: Most memory of every process, in bytes: library, input and result.
        runs: How many processes there were; a process has several passes where there are later ones.
        limit: Seconds after which it was stopped, if it was too slow.
    """

    operation: str
    phase: str
    text: str
    tokenizer: str
    threads: int
    library: str
    way: str = ""
    status: str = "unchecked"
    note: str = ""
    bytes: int = 0
    documents: int = 0
    tokens: int = 0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    pace: list[float] = field(default_factory=list)
    steady: float = 0.0
    peak: list[int] = field(default_factory=list)
    runs: int = 0
    limit: int = 0

    @property
    def measurement(self) -> Measurement:
        """What it is compared within."""
        return (self.operation, self.phase, self.text, self.tokenizer, self.threads)

    @property
    def name(self) -> str:
        """The library, and its way if it has several."""
        return f"{self.library} ({self.way})" if self.way else self.library

    @property
    def passes(self) -> list[float]:
        """Seconds of every pass that counts: wall time, or CPU time where a library that may have one thread has more.

        fastokens and tokie use all processors whatever they are told: two for a second are not one for a second.
        """
        takes_more = (
            self.threads == 1 and self.wall and self.cpu and median(self.cpu) > MORE_THREADS * median(self.wall)
        )
        passes = self.cpu if takes_more else self.wall
        if not self.steady:
            return passes
        return [seconds for seconds, pace in zip(passes, self.pace, strict=True) if pace <= self.steady]

    @property
    def seconds(self) -> float | None:
        """How long a pass takes: the median."""
        return median(self.passes) if self.passes else None

    @property
    def speed(self) -> float | None:
        """Return work per second: bytes, or tokens, calls or runs, as ``WORK`` says; None if unmeasured."""
        work = getattr(self, WORK[self.operation]) if self.operation in WORK else self.bytes
        return (work if self.operation not in ONCE else 1) / self.seconds if self.seconds else None


WORK = {"decode": "tokens", "decode_batch": "tokens", "stream": "tokens", "short": "documents"}
"""What is counted of operations that are not measured by the byte."""

ONCE = ("start", "load")
"""Operations that do one thing, however long."""

IDLE = 0.9
"""Share of the processors that has to be free, before and after each round, for it to count as undisturbed."""


def summary(numbers: Sequence[float]) -> dict[str, float] | None:
    """Return median, least and most; None of nothing.

    >>> summary([3.0, 1.0, 2.0])
    {'median': 2.0, 'min': 1.0, 'max': 3.0}
    """
    return {"median": median(numbers), "min": min(numbers), "max": max(numbers)} if numbers else None


def is_level(ratio: float) -> bool:
    """Return whether two speeds are too close to call.

    >>> is_level(0.99), is_level(1.05)
    (True, False)
    """
    return 0.98 <= ratio <= 1.02


def rivals(cells: Iterable[Cell], ours: Cell) -> list[Cell]:
    """Return the cells of other libraries that stand beside ours: where we got separate texts, no file is read."""
    return [
        cell for cell in cells
        if cell.measurement == ours.measurement and cell.library != OURS
        and not (ours.way == "buffers" and cell.way == "file")
    ]  # fmt: skip


def verdict(ours: Cell, best: Cell | None, ratio: float | None) -> str:
    """Return the verdict on a row, one of ``VERDICTS``. A wrong result of ours is a loss, and so is one slower run."""
    if ours.status in ("different", "failed", TOO_SLOW):
        return "lost"
    if best is None or ratio is None:
        return "alone"
    if is_level(ratio):
        return "level"
    if ratio < 1:
        return "lost"
    return "one run" if ratio < ONE_RUN and min(ours.runs, best.runs) == 1 else "won"


def compare(cells: Sequence[Cell]) -> list[dict[str, object]]:
    """Hold each way of ours against the fastest other library, measurement by measurement.

    Only cells with the right result count; if there are none, one that was stopped at its limit. ``ratio`` is our
    speed by theirs: under 1 we lose; ``at_least`` if theirs would have taken longer than its limit.
    """
    comparisons: list[dict[str, object]] = []
    for cell in cells:
        if cell.library != OURS or cell.operation == "growth" or cell.status == "not installed":
            continue
        others = rivals(cells, cell)
        right = [rival for rival in others if rival.status == RANKED and rival.speed]
        stopped = [rival for rival in others if rival.status == TOO_SLOW]
        best = max(right, key=_speed) if right else max(stopped, key=lambda rival: rival.limit, default=None)
        ratio = None
        if best is not None and cell.status == RANKED and cell.seconds:
            # Who is stopped may have had less to do than we, never more: the limit stands for its time.
            ratio = round(_speed(cell) / _speed(best) if right else best.limit / cell.seconds, 4)
        names = ("operation", "phase", "text", "tokenizer", "threads")
        entry: dict[str, object] = dict(zip(names, cell.measurement, strict=True))
        entry["ours"] = cell.name
        entry["best_rival"] = best.name if best else None
        entry["runs"] = [cell.runs, best.runs if best else 0]
        entry["ratio"] = ratio
        entry["at_least"] = ratio is not None and not right
        entry["verdict"] = verdict(cell, best, ratio)
        comparisons.append(entry)
    return comparisons


def growth(cells: Iterable[Cell]) -> list[dict[str, object]]:
    """Return how our time and memory grow; of hostile texts, the CPU time a byte as a multiple of English's."""
    measured = [cell for cell in cells if cell.operation == "growth" and cell.wall]
    costs = {(cell.phase, cell.text): median(cell.cpu) / cell.bytes for cell in measured}
    normal = costs.get(("hostile", "English"))
    return [
        {
            "phase": cell.phase, "text": cell.text, "threads": cell.threads, "bytes": cell.bytes,
            "wall": median(cell.wall), "cpu": round(median(cell.cpu), 4),
            "cpu_per_100_mb": round(costs[cell.phase, cell.text] * 1e8, 4), "peak_bytes": median(cell.peak),
            "relative": round(costs[cell.phase, cell.text] / normal, 3) if normal and cell.phase == "hostile" else None,
        }
        for cell in measured
    ]  # fmt: skip


def _speed(cell: Cell) -> float:
    return cell.speed or 0.0


def disturbed(cells: Iterable[Cell]) -> float:
    """Return the share of one-thread passes that waited for the processor: wall over CPU time by more than a tenth.

    On an idle machine it is next to nothing. (Passes under a millisecond are left out.)
    """
    passes = [
        (wall, cpu)
        for cell in cells
        if cell.threads == 1 and cell.operation != "start"
        for wall, cpu in zip(cell.wall, cell.cpu, strict=True)
        if wall > 1e-3
    ]
    waited = sum(wall > 1.1 * cpu for wall, cpu in passes)
    return round(waited / len(passes), 4) if passes else 0.0


def judge(
    cell: Cell,
    found: object,
    expected: object,
    whose: str,
    accepts: Callable[[object, object], bool] = operator.eq,
) -> None:
    """Set a cell's status by comparing its result with the reference.

    Args:
        cell: The cell; one that failed stays failed.
        found: Hash or number of what it gave.
        expected: That of the reference, or None if there is none.
        whose: Who the reference is.
        accepts: Tells whether what it gave is right, if that is not to be equal.
    """
    if cell.status in UNMEASURED:
        return
    if expected is None:
        cell.status, cell.note = "unchecked", "there was nothing to compare with"
    elif accepts(found, expected):
        cell.status, cell.note = RANKED, f"equal to {whose}"
    else:
        cell.status, cell.note = "different", f"not equal to {whose}"


def describe(cell: Cell) -> dict[str, object]:
    """Return a cell as results.json holds it: raw numbers, and what follows from them."""
    speed = cell.speed
    return asdict(cell) | {
        "wall_seconds": summary(cell.wall),
        "cpu_seconds": summary(cell.cpu),
        "seconds": cell.seconds,
        "peak_bytes": median(cell.peak) if cell.peak else None,
        "cpu_seconds_per_100_mb": round(median(cell.cpu) / cell.bytes * 1e8, 4) if cell.cpu and cell.bytes else None,
        "speed": None if speed is None else round(speed, 3),
    }


def build(head: dict[str, Any], cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the contents of results.json."""
    return {
        "schema": SCHEMA,
        **head,
        "disturbed": disturbed(cells),
        "cells": [describe(cell) for cell in cells],
        "comparisons": compare(cells),
        "growth": growth(cells),
    }


def text_of(round_: dict[str, Any]) -> str:
    """Return the text of results.json: a line for every cell, so that two rounds can be compared by eye."""
    parts = []
    for name, value in round_.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines = ",\n  ".join(json.dumps(item, ensure_ascii=False, allow_nan=False) for item in value)
            parts.append(f" {json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def save(round_: dict[str, Any], path: Path) -> None:
    """Write results.json: all of it or nothing."""
    replace_file(path, text_of(round_))


def replace_file(path: Path, text: str) -> None:
    """Put a file in place of another, whole, also if the power goes."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load(path: Path) -> dict[str, Any]:
    """Read results.json.

    Raises:
        ValueError: It is no round, or one of another schema.
    """
    contents = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(contents, dict) or contents.get("schema") != SCHEMA:
        raise ValueError(f"{path.name} is not a round of {SCHEMA}")
    return contents
