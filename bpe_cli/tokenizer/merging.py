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
    return map(Merge._make, _run(symbols, order))


def _run(symbols: Sequence[Symbol], order: Order[Symbol]) -> Iterator[tuple[float, int, int, Any, Any, Any]]:
    # By place: the symbol that begins there, None where it was merged into the one before it.
    parts: list[Any] = list(symbols)
    count = len(parts)
    before = list(range(-1, count - 1))
    after = list(range(1, count + 1))
    queue = []
    for place, (left, right) in enumerate(pairwise(symbols)):
        found = order(left, right)
        if found is not None:
            queue.append((found[0], place, place + 1, left, right, found[1]))
    heapify(queue)
    while queue:
        merge = heappop(queue)
        _, place, middle, left, right, product = merge
        if parts[place] != left or after[place] != middle or parts[middle] != right:
            continue  # one of them was merged with another
        yield merge
        parts[place], parts[middle] = product, None
        end = after[place] = after[middle]
        start = before[place]
        if end < count:
            before[end] = place
            found = order(product, parts[end])
            if found is not None:
                heappush(queue, (found[0], place, end, product, parts[end], found[1]))
        if start >= 0:
            found = order(parts[start], product)
            if found is not None:
                heappush(queue, (found[0], start, place, parts[start], product, found[1]))


def merged(symbols: Sequence[Symbol], order: Order[Symbol]) -> list[Symbol]:
    """Return what merging leaves.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> merged("abcbc", lambda *pair: order.get(pair))
    ['abc', 'bc']
    """
    parts: list[Symbol | None] = list(symbols)
    for _, place, middle, _, _, product in _run(symbols, order):
        parts[place], parts[middle] = product, None
    return [part for part in parts if part is not None]
