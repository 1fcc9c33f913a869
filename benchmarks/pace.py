"""Which passes count: those at which the machine was at its full speed, as ``yardstick.py`` tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchmarks.results import RANKED, Cell, Measurement

FULL = 1.2
"""A pass is at full speed if the work beside it took at most this many times as long as in the fastest tenth."""

ENOUGH = 3
"""How many passes at full speed each contender needs before only those count."""

CONTENDER = 2.0
"""A library may still turn out to be the fastest if the fastest so far is at most this many times as fast."""


def slowest_full(cells: Iterable[Cell]) -> float | None:
    """Return the longest time of the work, in seconds, beside a pass at full speed; None if there are no passes."""
    paces = sorted(pace for cell in cells for pace in cell.pace)
    return FULL * paces[len(paces) // 10] if paces else None


def has_enough(cell: Cell, full: float) -> bool:
    """Return whether a cell has ``ENOUGH`` passes at full speed; ``full`` is what ``slowest_full`` returned."""
    return sum(pace <= full for pace in cell.pace) >= ENOUGH


def choose(cells: Iterable[Cell]) -> float | None:
    """Choose which passes of each cell count; return the share of passes at full speed, or None if there are no passes.

    The contenders of a measurement are treated alike: if each of them has ``ENOUGH`` passes at full speed, only those
    count; otherwise all passes do.
    """
    measured = [cell for cell in cells if cell.wall]
    full = slowest_full(measured)
    if full is None:
        return None
    by_measurement: defaultdict[Measurement, list[Cell]] = defaultdict(list)
    for cell in measured:
        cell.steady = 0.0
        by_measurement[cell.measurement].append(cell)
    for several in by_measurement.values():
        fastest = contenders(several)
        if all(has_enough(cell, full) for cell in fastest):
            for cell in fastest:
                cell.steady = full
    paces = [pace for cell in measured for pace in cell.pace]
    return round(sum(pace <= full for pace in paces) / len(paces), 4)


def contenders(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a measurement that ran more than once and may be the fastest."""
    right = [cell for cell in cells if cell.status == RANKED and cell.speed and cell.runs > 1]
    best = max((cell.speed or 0.0 for cell in right), default=0.0)
    return [cell for cell in right if CONTENDER * (cell.speed or 0.0) >= best]
