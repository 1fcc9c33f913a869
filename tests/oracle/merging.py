"""Merge the symbols of one piece as the textbooks do: look through all neighbours before every merge.

Source: Sennrich, Haddow and Birch, arXiv:1508.07909. All that merges in this folder does it by this loop;
``bpe_cli.tokenizer.merging`` has the one that the program uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from bpe_cli.tokenizer.merging import Merge

Symbol = TypeVar("Symbol")

Order = Callable[[Symbol, Symbol], tuple[float, Symbol] | None]
"""Gives the number of two neighbours' merge, of which the lowest comes first, and what it makes."""


def candidates(symbols: Sequence[Symbol], order: Order[Symbol]) -> list[tuple[float, int, Symbol]]:
    """Return all merges that can be done, first to last: (number, place, product).

    >>> candidates("bab", lambda *pair: {("a", "b"): (0, "ab"), ("b", "a"): (1, "ba")}.get(pair))
    [(0, 1, 'ab'), (1, 0, 'ba')]
    """
    found = []
    for place, (left, right) in enumerate(pairwise(symbols)):
        merged = order(left, right)
        if merged is not None:
            found.append((merged[0], place, merged[1]))
    return sorted(found, key=lambda each: each[:2])


def merges(symbols: Sequence[Symbol], order: Order[Symbol]) -> Iterator[Merge[Symbol]]:
    """Yield every merge: of the neighbours that come first, the leftmost of equals. Complexity: quadratic.

    >>> order = {("b", "c"): (0, "bc"), ("a", "bc"): (1, "abc")}
    >>> [(step.place, step.product) for step in merges("abcbc", lambda *pair: order.get(pair))]
    [(1, 'bc'), (3, 'bc'), (0, 'abc')]
    """
    parts, starts = list(symbols), list(range(len(symbols)))
    while possible := candidates(parts, order):
        number, at, product = possible[0]
        yield Merge(number, starts[at], starts[at + 1], parts[at], parts[at + 1], product)
        parts[at : at + 2] = [product]
        del starts[at + 1]


def merge(symbols: Sequence[Symbol], order: Order[Symbol]) -> list[Symbol]:
    """Return what merging leaves.

    >>> merge("abcab", lambda *pair: {("b", "c"): (0, "bc"), ("a", "b"): (1, "ab")}.get(pair))
    ['a', 'bc', 'ab']
    """
    parts = list(symbols)
    while possible := candidates(parts, order):
        _, place, product = possible[0]
        parts[place : place + 2] = [product]
    return parts
