"""Lay out all tokens that fit in a piece, and find its best segmentations: Viterbi's lattice, in order.

Source: Kudo, arXiv:1804.10959. Scores are natural logarithms of probabilities, so a segmentation's score
is the sum of its tokens' and the best one is the highest. A place is a number of characters; a token goes
from one place to a later one. A character that no token is by itself may be unknown, at a score of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import exp, fsum, inf, log


@dataclass(frozen=True, slots=True)
class Edge:
    """A token that fits.

    Attributes:
        start: The place before its first character.
        end: The place after its last one.
        token: Its text.
        score: Its score.
        known: False for a character that no token is, which is unknown.
    """

    start: int
    end: int
    token: str
    score: float
    known: bool = True


@dataclass(frozen=True, slots=True)
class Arrival:
    """A way to come to a place, or to go on from it: a token, and the best sum beside it with its score added."""

    edge: Edge
    total: float


def edges(
    piece: str, scores: Mapping[str, float], unknown: float, start: int, lengths: Sequence[int]
) -> Iterator[Edge]:
    """Yield the tokens that fit at a place, the shortest first; then an unknown character, if none is that one.

    Args:
        piece: The text.
        scores: Score of each token.
        unknown: Score of an unknown character.
        start: The place.
        lengths: The lengths that tokens have, ascending.

    >>> [edge.token for edge in edges("abc", {"ab": -1.0, "abc": -2.0}, -9.0, 0, [2, 3])]
    ['ab', 'abc', 'a']
    """
    single = False
    for length in lengths:
        if start + length > len(piece):
            break
        token = piece[start : start + length]
        score = scores.get(token)
        if score is not None:
            single |= length == 1
            yield Edge(start, start + length, token, score)
    if not single:
        yield Edge(start, start + 1, piece[start], unknown, known=False)


def arrivals(
    piece: str,
    scores: Mapping[str, float],
    unknown: float,
    rounded: Callable[[float], float] = float,
    lengths: Sequence[int] = (),
) -> Iterator[list[Arrival]]:
    """Yield for each place after the first all ways to come to it, those from the left first.

    The first of the highest is the best way (``best``); what ends there goes on from its sum.

    Args:
        piece: The text.
        scores: Score of each token.
        unknown: Score of an unknown character.
        rounded: Rounds a sum to the precision that sums are kept in.
        lengths: The lengths that tokens have, ascending, if they are known.

    >>> found = list(arrivals("ab", {"a": -1.0, "b": -1.0, "ab": -1.5}, -9.0))
    >>> [[(way.edge.token, way.total) for way in ways] for ways in found]
    [[('a', -1.0)], [('ab', -1.5), ('b', -2.0)]]
    """
    lengths = lengths or sorted({len(token) for token in scores})
    waiting: dict[int, list[Arrival]] = {}
    total = 0.0
    for start in range(len(piece)):
        for edge in edges(piece, scores, unknown, start, lengths):
            waiting.setdefault(edge.end, []).append(Arrival(edge, rounded(edge.score + total)))
        # Every place is reached: each character is a token, or unknown.
        here = waiting.pop(start + 1)
        yield here
        total = best(here).total


def departures(
    piece: str, scores: Mapping[str, float], unknown: float, lengths: Sequence[int] = ()
) -> Iterator[list[Arrival]]:
    """Yield for each place before the end, the last one first, all ways to go on from it, the longest first.

    An unknown character comes last. The first of the highest is the best way (``best``).

    Args:
        piece: The text.
        scores: Score of each token, as integers, so that sums are exact.
        unknown: Score of an unknown character.
        lengths: The lengths that tokens have, ascending, if they are known.

    >>> found = list(departures("ab", {"a": -1, "b": -1, "ab": -2}, -9))
    >>> [[(way.edge.token, way.total) for way in ways] for ways in found]
    [[('b', -1.0)], [('ab', -2.0), ('a', -2.0)]]
    """
    lengths = lengths or sorted({len(token) for token in scores})
    totals = [0.0] * (len(piece) + 1)
    for start in reversed(range(len(piece))):
        fit = sorted(edges(piece, scores, unknown, start, lengths), key=lambda edge: edge.start - edge.end)
        here = [Arrival(edge, edge.score + totals[edge.end]) for edge in fit]
        yield here
        totals[start] = best(here).total


def ten_thousandths(score: float) -> int:
    """Round a score to ten-thousandths, a half away from 0, and hold it to 32 bits.

    >>> ten_thousandths(-2.00005), ten_thousandths(-2.000049), ten_thousandths(-1e9)
    (-20001, -20000, -2147483647)
    """
    largest = 2**31 - 1
    held = max(-largest, min(largest, score * 10_000))
    return int(Decimal(held).to_integral_value(ROUND_HALF_UP))


def onward_path(first: Sequence[Edge]) -> list[Edge]:
    """Walk from the beginning by the token that the best way from each place begins with.

    >>> first = [Edge(0, 1, "a", -1.0), Edge(1, 3, "bc", -1.5), Edge(2, 3, "c", -1.0)]
    >>> [edge.token for edge in onward_path(first)]
    ['a', 'bc']
    """
    path = []
    place = 0
    while place < len(first):
        path.append(first[place])
        place = first[place].end
    return path


def best(ways: Sequence[Arrival]) -> Arrival:
    """Return the way with the highest sum, of equals the one from furthest to the left."""
    return max(ways, key=lambda way: way.total)  # the first of the highest


def best_path(last: Sequence[Edge]) -> list[Edge]:
    """Walk back from the end by the token that the best way to each place ends with.

    >>> last = [Edge(0, 1, "a", -1.0), Edge(0, 2, "ab", -1.5), Edge(2, 3, "c", -1.0)]
    >>> [edge.token for edge in best_path(last)]
    ['ab', 'c']
    """
    path = []
    place = len(last)
    while place:
        path.append(last[place - 1])
        place = last[place - 1].start
    return path[::-1]


def log_total(ways: Sequence[Sequence[Edge]]) -> float:
    """Return the logarithm of the sum of all segmentations' probabilities, from the tokens that end at each place.

    A segmentation's score less this is the logarithm of its share of them all.

    >>> one, two = Edge(0, 1, "a", -1.0), Edge(1, 2, "b", -1.0)
    >>> round(exp(log_total([[one], [Edge(0, 2, "ab", -2.0), two]])) / exp(-2.0), 9)
    2.0
    """
    totals = [0.0]
    for here in ways:
        sums = [totals[edge.start] + edge.score for edge in here]
        highest = max(sums, default=-inf)
        totals.append(highest + log(fsum(exp(each - highest) for each in sums)))
    return totals[-1]


def best_segmentations(ways: Sequence[Sequence[Edge]], wanted: int) -> list[tuple[float, list[Edge]]]:
    """Return the best segmentations with their sums, best first: the best up to each place grow from those before.

    Rounding cannot change the order of what grows by the same number. Of equal sums the one comes first
    whose last token begins further to the left.

    Complexity: tokens * wanted * log(tokens * wanted).

    >>> a, b, ab = Edge(0, 1, "a", -1.0), Edge(1, 2, "b", -1.0), Edge(0, 2, "ab", -1.5)
    >>> for total, path in best_segmentations([[a], [ab, b]], 5):
    ...     print(total, *(edge.token for edge in path))
    -1.5 ab
    -2.0 a b
    """
    # By place: sum, last token, and which of those that were kept where it begins comes before it.
    kept: list[list[tuple[float, Edge | None, int]]] = [[(0.0, None, 0)]]
    for here in ways:
        grown: list[tuple[float, Edge | None, int]] = [
            (total + edge.score, edge, rank) for edge in here for rank, (total, _, _) in enumerate(kept[edge.start])
        ]
        kept.append(sorted(grown, key=lambda each: -each[0])[:wanted])  # equals keep their order
    found = []
    for total, last, before in kept[-1]:
        path = []
        edge, rank = last, before
        while edge is not None:
            path.append(edge)
            _, edge, rank = kept[edge.start][rank]
        found.append((total, path[::-1]))
    return found
