"""What has to run more often before a row can be trusted: what ran once, and what the machine's moods decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks import results
from benchmarks.entries import Entry
from benchmarks.pace import contenders, has_enough, slowest_full
from benchmarks.results import Cell

MORE = 6
"""How many more rounds the libraries of an unsettled row run."""

MOST = 15
"""How many more rounds they run at most, while they have too few passes at the machine's full speed."""

SHORT = 30.0
"""Seconds of a process that is not too long to run so often."""

Side = tuple[Entry, Cell]


def near(entries: Iterable[Entry]) -> list[Entry]:
    """Return the processes that ran once and turned out to be the best beside ours, too near for one run to tell."""
    return _each_once(
        entry
        for row, _, (entry, _) in _rows(entries)
        if row["verdict"] in ("one run", "lost", "level") and entry.first.runs == 1 and entry.rounds == 1
    )


def unsettled(entries: Iterable[Entry]) -> list[Entry]:
    """Return both sides of each row that chance may have decided, and all other contenders in it.

    These are rows where some pass of either side is faster than some pass of the other, whoever is ahead. A machine
    that others use too is half as fast at times, for seconds, and the median of three processes then tells who ran at
    such a time.
    """
    entries = list(entries)
    doubtful = [
        cell
        for _, *sides in _rows(entries)
        for _, cell in sides
        if _overlap(*(cell for _, cell in sides)) and max(entry.seconds for entry, _ in sides) <= SHORT
    ]
    cells = [cell for entry in entries for cell in entry.cells.values()]
    for measurement in {cell.measurement for cell in doubtful}:
        doubtful += contenders([cell for cell in cells if cell.measurement == measurement])
    wanted = {id(cell) for cell in doubtful}
    return [entry for entry in entries if any(id(cell) in wanted for cell in entry.cells.values())]


def lacking(entries: Iterable[Entry], cells: Iterable[Cell]) -> list[Entry]:
    """Return the processes that have too few passes at full speed, by the pace of all cells of the round."""
    full = slowest_full(cells)
    if full is None:
        return []
    return [entry for entry in entries if not all(has_enough(cell, full) for cell in entry.cells.values())]


def _rows(entries: Iterable[Entry]) -> Iterator[tuple[dict[str, Any], Side, Side]]:
    """Yield each row that has two sides, with the processes and cells of both: ours, and the best beside it."""
    by_cell = {(cell.measurement, cell.name): (entry, cell) for entry in entries for cell in entry.cells.values()}
    names = ("operation", "phase", "text", "tokenizer", "threads")
    for row in results.compare([cell for _, cell in by_cell.values()]):
        if row["best_rival"]:
            measurement = tuple(row[name] for name in names)
            yield row, *(by_cell[measurement, row[side]] for side in ("ours", "best_rival"))


def _overlap(one: Cell, other: Cell) -> bool:
    passes = one.passes, other.passes
    return all(passes) and max(map(min, passes)) <= min(map(max, passes))


def _each_once(entries: Iterable[Entry]) -> list[Entry]:
    return list({id(entry): entry for entry in entries}.values())
