"""Sum up how lengths and frequencies are distributed, in as few numbers as a picture shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

LengthRange = tuple[int, int, int]
"""The least and the greatest length of a range, both included, and how many have such a length."""

LengthBins = tuple[tuple[int, int | None, int], ...]
"""The same, where the last range may have no end."""

LAST_LENGTH = 24
"""Longer tokens are counted together."""

UsePoint = tuple[int, float]
"""So many of the most frequent tokens make up this share of all tokens, 0 to 1."""

STEPS_PER_DECADE = 10
"""How many ranks of a curve lie between 1 and 10, 10 and 100 and so on, at most."""


def length_ranges(bits: Counter[int]) -> tuple[LengthRange, ...]:
    """Return how many documents have 0, 1, 2 to 3, 4 to 7 tokens and so on, from the least length to the greatest.

    Args:
        bits: How many documents have a number of tokens with so many binary digits (0 has none).

    >>> length_ranges(Counter(map(int.bit_length, [1, 5, 6, 9])))
    ((1, 1, 1), (2, 3, 0), (4, 7, 2), (8, 15, 1))
    """
    present = [size for size, count in bits.items() if count]
    if not present:
        return ()
    sizes = range(min(present), max(present) + 1)
    return tuple((1 << size >> 1, (1 << size) - 1, bits[size]) for size in sizes)


def even_bins(lengths: Iterable[tuple[int, int]], last: int = LAST_LENGTH) -> LengthBins:
    """Return how many tokens have each length from 1 on; the longest, of which there are few, together.

    >>> even_bins([(1, 3), (4, 1), (9, 2)], last=5)
    ((1, 1, 3), (2, 2, 0), (3, 3, 0), (4, 4, 1), (5, 5, 0), (6, None, 2))
    """
    counts = dict(lengths)
    longest = max((length for length, count in counts.items() if count), default=0)
    bins: list[tuple[int, int | None, int]] = [
        (length, length, counts.get(length, 0)) for length in range(1, min(longest, last) + 1)
    ]
    if longest > last:
        bins.append((last + 1, None, sum(count for length, count in counts.items() if length > last)))
    return tuple(bins)


def use_curve(counts: Iterable[int]) -> tuple[UsePoint, ...]:
    """Return which share of all tokens the most frequent ones make up, at ranks that are spread by their logarithm.

    Args:
        counts: How often each token occurs, in any order.

    Returns:
        Points, ascending, from rank 1 to the rarest token that occurs; empty if none does.

    >>> use_curve([6, 0, 1, 3])
    ((1, 0.6), (2, 0.9), (3, 1.0))

    Complexity: O(n log n) for n tokens that occur.
    """
    ranked = sorted(filter(None, counts), reverse=True)
    if not ranked:
        return ()
    sums = list(accumulate(ranked))
    return tuple((rank, sums[rank - 1] / sums[-1]) for rank in _ranks(len(ranked)))


def _ranks(last: int) -> list[int]:
    """Return ranks from 1 to the last, about as many in each power of ten.

    >>> _ranks(30)
    [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30]
    """
    ranks = [1]
    step = 0
    while ranks[-1] < last:
        step += 1
        rank = round(10 ** (step / STEPS_PER_DECADE))
        if rank > ranks[-1]:
            ranks.append(min(rank, last))
    return ranks
