"""Sort lengths into few bins, for a histogram."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

_BINS = (*((length, length) for length in range(1, 9)), (9, 12), (13, 16), (17, 32), (33, 64), (65, 128), (129, None))


@dataclass(frozen=True, slots=True)
class LengthBin:
    """How many tokens have a length (in bytes, characters, merges) between ``lowest`` and ``highest``.

    Attributes:
        lowest: The shortest.
        highest: The longest; None for no limit.
        tokens: How many tokens.
        share: Part of all these tokens, 0 to 1.
        relative: Part of the fullest bin, 0 to 1.
    """

    lowest: int
    highest: int | None
    tokens: int
    share: float
    relative: float


def bins(lengths: Counter[int]) -> tuple[LengthBin, ...]:
    """Sort lengths into few bins.

    >>> [(bin.lowest, bin.highest, bin.tokens, bin.share) for bin in bins(Counter({1: 3, 3: 1}))]
    [(1, 1, 3, 0.75), (2, 2, 0, 0.0), (3, 3, 1, 0.25)]
    """
    total = sum(lengths.values())
    counts = [
        sum(count for length, count in lengths.items() if lowest <= length and (highest is None or length <= highest))
        for lowest, highest in _BINS
    ]
    while counts and not counts[-1]:
        counts.pop()
    return tuple(
        LengthBin(lowest, highest, count, count / total, count / max(counts))
        for (lowest, highest), count in zip(_BINS, counts, strict=False)
    )
