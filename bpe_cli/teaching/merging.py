"""Merge the symbols of one piece, and tell every merge.

Two formulations that tell the same: looking through all neighbours before every merge, as the textbooks
do, and with a queue of the merges that can be done, for pieces that are too long for that. Sources:
Sennrich, Haddow and Birch, arXiv:1508.07909; google/sentencepiece ``bpe_model.cc`` (the queue).

A *symbol* is anything that can be compared: bytes, text, an id.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, Generic, TypeVar

Symbol = TypeVar("Symbol")

Order = Callable[[Symbol, Symbol], tuple[float, Symbol] | None]
"""Gives the number of two neighbours' merge, of which the lowest comes first, and what it makes."""


@dataclass(frozen=True, slots=True)
class Merge(Generic[Symbol]):
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
    """Yield every merge, looking through all neighbours before each. Complexity: quadratic.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> [(step.place, step.product) for step in merges("abcbc", lambda *pair: order.get(pair))]
    [(1, 'bc'), (3, 'bc'), (0, 'abc')]
    """
    parts = list(enumerate(symbols))
    while True:
        found = []
        for at, ((_, left), (_, right)) in enumerate(pairwise(parts)):
            merged = order(left, right)
            if merged is not None:
                found.append((merged[0], at, merged[1]))
        if not found:
            return
        number, at, product = min(found, key=lambda each: each[:2])
        (place, left), (middle, right) = parts[at : at + 2]
        parts[at : at + 2] = [(place, product)]
        yield Merge(number, place, middle, left, right, product)


def merges_by_queue(symbols: Sequence[Symbol], order: Order[Symbol]) -> Iterator[Merge[Symbol]]:
    """Yield the same merges from a queue of those that can be done. Complexity: n log n.

    A merge changes two neighbourhoods only: what it makes may merge with the symbol before it and with
    the one after it. Those are put into the queue; what stands there of the parts has become void.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> [(step.place, step.product) for step in merges_by_queue("abcbc", lambda *pair: order.get(pair))]
    [(1, 'bc'), (3, 'bc'), (0, 'abc')]
    """
    # By place: the symbol that begins there, None where it was merged into the one before it.
    parts: list[Symbol | None] = list(symbols)
    count = len(parts)
    before = list(range(-1, count - 1))
    after = list(range(1, count + 1))

    def possible(place: int, middle: int) -> Iterator[tuple[float, int, int, Any, Any, Any]]:
        left, right = parts[place], parts[middle]
        merged = order(left, right)  # type: ignore[arg-type]  # neither is None: both begin a symbol
        if merged is not None:
            yield merged[0], place, middle, left, right, merged[1]

    queue = [each for place, middle in pairwise(range(count)) for each in possible(place, middle)]
    heapify(queue)
    while queue:
        number, place, middle, left, right, product = heappop(queue)
        if parts[place] != left or after[place] != middle or parts[middle] != right:
            continue  # one of them was merged with another
        yield Merge(number, place, middle, left, right, product)
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


def states(symbols: Sequence[Symbol], done: Iterable[Merge[Symbol]]) -> Iterator[tuple[int, list[Symbol]]]:
    """Yield after each merge where its product stands, and all symbols: one list, which goes on changing.

    >>> order = {("a", "b"): (0, "ab"), ("ab", "ab"): (1, "abab")}
    >>> done = merges("abab", lambda *pair: order.get(pair))
    >>> [(at, " ".join(parts)) for at, parts in states("abab", done)]
    [(0, 'ab a b'), (1, 'ab ab'), (0, 'abab')]
    """
    parts = list(symbols)
    starts = list(range(len(parts)))
    for merge in done:
        at = bisect_left(starts, merge.place)
        parts[at : at + 2] = [merge.product]
        del starts[at + 1]
        yield at, parts
