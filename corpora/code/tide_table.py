"""Interpolate tide heights between known high and low waters.

A tide table lists only the turning points of the day.  Sailors who want to
know the depth at some other moment usually draw half a cosine wave between
two neighbouring turning points, and that is what this module does.

Usage:
    python tide_table.py 09:30 14:15 --draught 1.8
"""

from __future__ import annotations

import argparse
import bisect
import math
from dataclasses import dataclass
from typing import Iterable, Iterator

MINUTES_PER_DAY = 24 * 60


class TideError(ValueError):
    """Raised when a question lies outside the table."""


@dataclass(frozen=True, order=True)
class TurningPoint:
    """One high or low water: minutes after midnight and height in metres."""

    minute: int
    height_m: float

    @classmethod
    def parse(cls, text: str) -> "TurningPoint":
        """Read a line such as ``03:42 5.1``."""
        clock, height = text.split()
        return cls(parse_clock(clock), float(height))


def parse_clock(text: str) -> int:
    """Convert ``HH:MM`` into minutes after midnight."""
    hours, _, minutes = text.partition(":")
    total = int(hours) * 60 + int(minutes)
    if not 0 <= total < MINUTES_PER_DAY:
        raise TideError(f"not a time of day: {text!r}")
    return total


def format_clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


class TideTable:
    """A sorted collection of turning points for a single day."""

    def __init__(self, points: Iterable[TurningPoint]) -> None:
        self._points = sorted(points)
        if len(self._points) < 2:
            raise TideError("need at least two turning points")
        self._minutes = [p.minute for p in self._points]

    def height_at(self, minute: int) -> float:
        """Return the estimated height in metres at ``minute``."""
        if not self._minutes[0] <= minute <= self._minutes[-1]:
            raise TideError(f"{format_clock(minute)} is outside the table")
        right = bisect.bisect_left(self._minutes, minute)
        if self._minutes[right] == minute:
            return self._points[right].height_m
        before, after = self._points[right - 1], self._points[right]
        phase = (minute - before.minute) / (after.minute - before.minute)
        weight = (1 - math.cos(math.pi * phase)) / 2  # 0.0 -> 1.0, smoothly
        return before.height_m + weight * (after.height_m - before.height_m)

    def windows(self, needed_m: float) -> Iterator[tuple[int, int]]:
        """Yield (first, last) minutes between which the water is deep enough."""
        start = None
        for minute in range(self._minutes[0], self._minutes[-1] + 1):
            deep_enough = self.height_at(minute) >= needed_m
            if deep_enough and start is None:
                start = minute
            elif not deep_enough and start is not None:
                yield start, minute - 1
                start = None
        if start is not None:
            yield start, self._minutes[-1]


SAMPLE_DAY = """\
00:12 0.9
06:31 5.4
12:40 1.1
18:58 5.2
23:59 1.3
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="*", default=["08:00"])
    parser.add_argument("--draught", type=float, default=1.5)
    args = parser.parse_args()

    table = TideTable(TurningPoint.parse(s) for s in SAMPLE_DAY.splitlines())
    for clock in args.times:
        print(f"{clock}  {table.height_at(parse_clock(clock)):5.2f} m")
    for first, last in table.windows(args.draught + 0.5):
        print(f"safe from {format_clock(first)} to {format_clock(last)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
