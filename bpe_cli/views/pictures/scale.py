"""Find the place of a value on an axis, and the round values that are written at it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis between two values, drawn between two places.

    Attributes:
        low: The value at ``start``.
        high: The value at ``end``, above ``low``.
        start: A place in pixels.
        end: Another one.
        logarithmic: Whether equal ratios are equally far from each other; then all values are positive.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies, never beyond the ends.

        >>> Scale(0, 10, 100, 200).place(5), Scale(1, 100, 0, 10, logarithmic=True).place(10)
        (150.0, 5.0)
        """
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        part = min(1.0, max(0.0, (value - low) / (high - low)))
        return self.start + part * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """Return round values on the axis, about ``most`` at most: by 1, 2 or 5 times a power of ten; or its powers.

        >>> Scale(0, 8933, 0, 1).ticks(6), Scale(1, 5000, 0, 1, logarithmic=True).ticks(9)
        ([0.0, 2000.0, 4000.0, 6000.0, 8000.0], [1.0, 10.0, 100.0, 1000.0])
        """
        if self.logarithmic:
            powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            return [10.0**power for power in powers][:: max(1, -(-len(powers) // most))]
        step = round_step((self.high - self.low) / max(1, most))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(least: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is not below a positive number.

    >>> [round_step(least) for least in (1, 1.2, 30, 0.07)]
    [1.0, 2.0, 50.0, 0.1]
    """
    power = 10.0 ** math.floor(math.log10(least) + 1e-9)
    factor = next(each for each in (1, 2, 5, 10) if each * power >= least * (1 - 1e-9))
    return factor * power if power >= 1 else factor / round(1 / power)


def from_zero(values: Sequence[float], start: float, end: float) -> Scale:
    """Return an axis from 0 that holds values which are not negative."""
    return Scale(0, max([*values, 0.0]) or 1.0, start, end)


def around(values: Sequence[float], start: float, end: float) -> Scale:
    """Return an axis that holds values with some room at both ends, but never begins below 0 if none of them does.

    >>> found = around([1.0, 1.0], 0, 1)
    >>> found.low < 1 < found.high
    True
    """
    low, high = min(values), max(values)
    room = (high - low) * 0.06 or max(abs(high) * 0.06, 0.06)
    return Scale(max(0.0, low - room) if low >= 0 else low - room, high + room, start, end)


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Write the values at an axis, all with as many decimals as the step between them needs.

    >>> tick_texts([0.0, 2000.0]), tick_texts([0.5, 1.0, 1.5]), tick_texts([0.0, 0.00002])
    (['0', '2,000'], ['0.5', '1.0', '1.5'], ['0', '2e-05'])
    """
    steps = [after - before for before, after in pairwise(ticks)] or [abs(each) for each in ticks]
    step = min((each for each in steps if each > 0), default=1.0)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    if digits > 4 or max(map(abs, ticks), default=0) >= 1e15:
        return [f"{each:g}" for each in ticks]
    return [f"{each:,.{digits}f}" for each in ticks]
