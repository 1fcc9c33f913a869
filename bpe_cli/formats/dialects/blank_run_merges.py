"""Find the merges that do with runs of one character what equal scores do.

Models of Llama's family have a piece for 2, 3, ... 16 blanks, all with one score. Scores merge the
leftmost of equals, so a run is eaten up from its left end: at any time it is a few finished pieces, and
behind them single characters. A list of merges has an order and takes the leftmost only of the same pair.
It does the same if, in each state that a run goes through, the pair that is leftmost is also the first
in the list of those that are there. States come again once a piece is finished that no piece goes on
from, so the states up to there are all that need be looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

Pair = tuple[int, int]
"""A merge of two runs, as the lengths of both."""


def order_of_runs(lengths: Collection[int], ids: Mapping[int, int]) -> list[Pair] | None:
    """Return the order of the merges of one character's runs; None if none that is tried does what scores do.

    Args:
        lengths: Of the runs that have one score; all are made of runs that are among them.
        ids: Of the character (1) and of these runs, by length.

    >>> order_of_runs([2, 3], {1: 0, 2: 1, 3: 2})
    [(2, 1), (1, 2), (1, 1)]
    """
    products = set(lengths)
    pairs = [(left, total - left) for total in products for left in range(1, total)]
    pairs = [pair for pair in pairs if pair[0] in ids and pair[1] in ids]
    # The first is the order in which Hugging Face's converters write them.
    for order in (
        sorted(pairs, key=lambda pair: (ids[pair[0]], ids[pair[1]])),
        sorted(pairs, key=lambda pair: (-pair[0], -pair[1])),
    ):
        if _does_the_same(products, order):
            return order
    return None


def _does_the_same(products: Collection[int], order: Sequence[Pair]) -> bool:
    """Return whether the leftmost pair of each state is the first of its pairs in an order."""
    ranks = {pair: rank for rank, pair in enumerate(order)}
    finished: list[int] = []
    for _ in range(4 * max(products)):
        if finished and not any(total > finished[-1] for total in products):
            return True  # nothing goes on from it: what follows is as at the beginning
        there = list(_pairs(finished, ranks))
        if not there:
            return False
        place, pair = there[0]
        if min(ranks[other] for _, other in there) != ranks[pair]:
            return False
        finished[place : place + 2] = [sum(pair)]
    return False


def _pairs(finished: Sequence[int], ranks: Mapping[Pair, int]) -> Iterator[tuple[int, Pair]]:
    """Yield the pairs of a state that can merge, from the left: (place, lengths)."""
    state = [*finished, 1, 1]
    for place in range(len(state) - 1):
        pair = state[place], state[place + 1]
        if pair in ranks:
            yield place, pair
