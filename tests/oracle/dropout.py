"""Leave merges out at random, so that a text becomes other tokens each time: BPE-dropout.

Source: Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization",
arXiv:1910.13267, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.oracle.merging import Order, candidates


def merge_with_dropout(symbols: Sequence[str], order: Order[str], probability: float, draw: Random) -> list[str]:
    """Merge as ``merging.merge`` does, but drop each candidate of each step with a probability.

    It ends when no candidate is left, or all are dropped in one step.

    >>> from tests.oracle.character_bpe import order_of_merges
    >>> order = order_of_merges([("a", "b"), ("ab", "c")])
    >>> [merge_with_dropout("abc", order, probability, Random(1)) for probability in (0, 0.5, 1)]
    [['abc'], ['a', 'b', 'c'], ['a', 'b', 'c']]
    """
    parts = list(symbols)
    while kept := [each for each in candidates(parts, order) if draw.random() >= probability]:
        _, place, product = kept[0]
        parts[place : place + 2] = [product]
    return parts


def merge_with_lasting_dropout(
    symbols: Sequence[str], order: Order[str], probability: float, draw: Random
) -> list[str]:
    """Merge, drawing once for each candidate when its turn comes (SentencePiece).

    One that is dropped stays dropped while its two neighbours stay the same, so both of two merges that
    have nothing to do with each other are done with (1 - p)^2, while the paper gives them more.

    >>> from tests.oracle.character_bpe import order_of_merges
    >>> order = order_of_merges([("a", "b"), ("ab", "c")])
    >>> [merge_with_lasting_dropout("abc", order, probability, Random(1)) for probability in (0, 1)]
    [['abc'], ['a', 'b', 'c']]
    """
    parts = list(symbols)
    starts = list(range(len(parts)))
    ends = [start + 1 for start in starts]
    dropped: set[tuple[int, int]] = set()
    while waiting := [each for each in candidates(parts, order) if (starts[each[1]], ends[each[1] + 1]) not in dropped]:
        _, place, product = waiting[0]
        if draw.random() < probability:
            dropped.add((starts[place], ends[place + 1]))
            continue
        parts[place : place + 2] = [product]
        del starts[place + 1], ends[place]
    return parts
