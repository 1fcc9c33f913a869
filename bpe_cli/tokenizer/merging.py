"""Merge the symbols of one piece, and tell every merge: for what the core does not do.

The core compiles a model once and runs it fast. Here stands the loop for a model that changes with every token that
goes, for the parts that a single token comes of, and for who wants to see each merge. Source: google/sentencepiece
``bpe_model.cc``. The tests hold it to the core, and to the textbooks' way of looking through all neighbours.

A *symbol* is anything that can be compared: bytes, text, an id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

Symbol = TypeVar("Symbol")

Order = Callable[[Symbol, Symbol], tuple[float, Symbol] | None]
"""Gives the number of two neighbours' merge, of which the lowest comes first, and what it makes."""


class Merge(NamedTuple, Generic[Symbol]):
    """One merge of two neighbours.

    Attributes:
        number: What it was chosen by: lower numbers come first, and the leftmost of equals.
        place: Number of the first symbol's beginning, counted in the symbols that merging began with.
        middle: Where the second one begins, counted alike.
        left: The first symbol.
        right: The second.
        product: What they became.
    """

    number: float
    place: int
    middle: int
    left: Symbol
    right: Symbol
    product: Symbol


def merges(symbols: Sequence[Symbol], order: Order[Symbol]) -> Iterator[Merge[Symbol]]:
    """Yield every merge, from a queue of those that can be done. Complexity: n log n.

    A merge changes two neighbourhoods only: what it makes may merge with the symbol before it and with
    the one after it. Those are put into the queue; what stands there of the parts has become void.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> [(step.place, step.product) for step in merges("abcbc", lambda *pair: order.get(pair))]
    [(1, 'bc'), (3, 'bc'), (0, 'abc')]
    """
    # By place: the symbol that begins there, None where it was merged into the one before it.
    parts: list[Symbol | None] = list(symbols)
    count = len(parts)
    before = list(range(-1, count - 1))
    after = list(range(1, count + 1))

    def possible(place: int, middle: int) -> Iterator[Merge[Any]]:
        left, right = parts[place], parts[middle]
        merged = order(left, right)  # type: ignore[arg-type]  # neither is None: both begin a symbol
        if merged is not None:
            yield Merge(merged[0], place, middle, left, right, merged[1])

    queue = [each for place, middle in pairwise(range(count)) for each in possible(place, middle)]
    heapify(queue)
    while queue:
        merge = heappop(queue)
        _, place, middle, left, right, product = merge
        if parts[place] != left or after[place] != middle or parts[middle] != right:
            continue  # one of them was merged with another
        yield merge
        parts[place], parts[middle] = product, None
        after[place] = after[middle]
        neighbours = []
        if before[place] >= 0:
            neighbours.append((before[place], place))
        if after[place] < count:
            before[after[place]] = place
            neighbours.append((place, after[place]))
        for pair in neighbours:
            for each in possible(*pair):
                heappush(queue, each)


def merged(symbols: Sequence[Symbol], order: Order[Symbol]) -> list[Symbol]:
    """Return what merging leaves.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> merged("abcbc", lambda *pair: order.get(pair))
    ['abc', 'bc']
    """
    parts: list[Symbol | None] = list(symbols)
    for merge in merges(symbols, order):
        parts[merge.place], parts[merge.middle] = merge.product, None
    return [part for part in parts if part is not None]
