"""Learn tokens by dropping the least needed, and find the best segmentations of a word over its lattice.

Kudo 2018 (arXiv:1804.10959). The trainer is the one of Hugging Face's course and of the tutorials after
it: a token's probability is its share of all substring counts, and each round drops the tokens without
which the corpus costs least. Costs are negative logarithms, so the best segmentation costs least. The trainer that is
used in practice re-estimates the probabilities by expectation maximisation.

The lattice is of all tokens that fit in a piece. Scores are natural logarithms of probabilities, so a segmentation's
score is the sum of its tokens' and the best one is the highest. A place is a number of characters; a token goes from
one place to a later one. A character that no token is by itself may be unknown, at a score of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import exp, fsum, inf, log
from typing import Generic

from bpe_cli.teaching.longest_match import Word


def initial_tokens(words: Mapping[str, int], size: int) -> dict[str, int]:
    """Count all characters, and the most frequent longer substrings, up to ``size`` tokens in all.

    Characters stand first, in order of first occurrence; equally frequent substrings keep that order too.

    >>> initial_tokens({"aba": 2, "ab": 1}, 4)
    {'a': 5, 'b': 3, 'ab': 3, 'aba': 2}
    """
    characters: dict[str, int] = {}
    substrings: dict[str, int] = {}
    for word, count in words.items():
        for start, character in enumerate(word):
            characters[character] = characters.get(character, 0) + count
            for end in range(start + 2, len(word) + 1):
                substring = word[start:end]
                substrings[substring] = substrings.get(substring, 0) + count
    frequent = sorted(substrings.items(), key=lambda item: item[1], reverse=True)
    return characters | dict(frequent[: max(0, size - len(characters))])


def costs(counts: Mapping[str, int]) -> dict[str, float]:
    """Turn counts into costs: minus the logarithm of each token's share.

    >>> costs({"a": 3, "b": 1})["b"] == -log(1 / 4)
    True
    """
    total = sum(counts.values())
    return {token: -log(count / total) for token, count in counts.items()}


def encode(
    word: str, model: Mapping[str, float], start_cost: float = 1.0, longest: int | None = None
) -> tuple[list[str], float | None]:
    """Find the segmentation that costs least, by Viterbi's algorithm; None if there is none.

    ``start_cost`` is what a word costs before its first token: 1 in the course, by a slip that many have
    copied. It changes no segmentation but where rounding decides. ``longest`` is the length of the longest token, if it
    is known.

    >>> encode("ab", {"a": 1.0, "b": 1.0, "ab": 1.5})
    (['ab'], 2.5)
    >>> encode("abc", {"a": 1.0, "b": 1.0})
    (['<unk>'], None)
    """
    most = len(word) if longest is None else longest
    best = [(start_cost, 0)] + [(inf, -1)] * len(word)  # what the text up to a place costs, its last token's start
    for start in range(len(word)):
        before, _ = best[start]
        if before == inf:
            continue
        for end in range(start + 1, min(start + most, len(word)) + 1):
            token = word[start:end]
            if token in model and model[token] + before < best[end][0]:
                best[end] = (model[token] + before, start)
    whole, _ = best[len(word)]
    if whole == inf:
        return ["<unk>"], None
    tokens: list[str] = []
    end = len(word)
    while end > 0:
        _, start = best[end]
        tokens.insert(0, word[start:end])
        end = start
    return tokens, whole


def corpus_cost(
    words: Mapping[str, int], model: Mapping[str, float], known: Mapping[str, float | None] | None = None
) -> float:
    """Return the sum of the costs of the best segmentations of all words, of which some may be known.

    >>> corpus_cost({"ab": 2}, {"a": 1.0, "b": 1.0})
    6.0
    """
    longest = max(map(len, model), default=0)
    total = 0.0
    for word, count in words.items():
        cost = known[word] if known and word in known else encode(word, model, longest=longest)[1]
        if cost is not None:
            total += count * cost
    return total


def losses(words: Mapping[str, int], model: Mapping[str, float]) -> dict[str, float]:
    """Return by how much the corpus costs more without each token of several characters.

    >>> losses({"ab": 2}, {"a": 1.0, "b": 1.0, "ab": 1.5})
    {'ab': 1.0}
    """
    longest = max(map(len, model), default=0)
    each = {word: encode(word, model, longest=longest)[1] for word in words}
    whole = corpus_cost(words, model, each)
    found = {}
    for token in (token for token in model if len(token) > 1):
        others = {other: cost for other, cost in model.items() if other != token}
        same = {word: cost for word, cost in each.items() if token not in word}
        found[token] = corpus_cost(words, others, same) - whole
    return found


UNKNOWN_PENALTY = 10.0
"""How far the score of an unknown character lies below the lowest score of a token (SentencePiece)."""


def likelihood_losses(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """Estimate by how much the corpus becomes less likely without each token: what expectation maximisation prunes by.

    Each occurrence in the best segmentations becomes the best other way to put the token together, and probabilities
    are shares of these occurrences. The loss of a token that no best segmentation uses is 0. One that cannot be put
    together otherwise does not compete, and is left out.

    >>> found = likelihood_losses({"ab": 3, "b": 1}, {"a": -1.0, "b": -1.0, "ab": -1.5})
    >>> {token: round(loss, 4) for token, loss in found.items()}
    {'a': 0.0, 'ab': 0.8394}
    """
    unknown = min(scores.values(), default=0.0) - UNKNOWN_PENALTY
    lengths = sorted({len(token) for token in scores})

    frequencies = dict.fromkeys(scores, 0)
    for word, count in words.items():
        for edge in _best_segmentation(word, scores, unknown, lengths):
            if edge.known:
                frequencies[edge.token] += count
    total = sum(frequencies.values())
    found = {}
    for token, frequency in frequencies.items():
        if not frequency:
            found[token] = 0.0
        elif others := _best_segmentation(token, scores, unknown, lengths, but=token):
            more = frequency * (len(others) - 1)
            parts = (frequencies[edge.token] if edge.known else 0 for edge in others)
            without = fsum(log((part + frequency) / (total + more)) for part in parts)
            found[token] = frequency / total * (log(frequency / total) - without)
    return found


def _best_segmentation(
    text: str, scores: Mapping[str, float], unknown: float, lengths: Sequence[int], but: str | None = None
) -> list[Edge[str]]:
    """Return the tokens of the best segmentation, one token left out; none if the text needs that one."""
    ways = [[way for way in here if way.edge.token != but] for here in arrivals(text, scores, unknown, lengths=lengths)]
    return best_path([best(here).edge for here in ways]) if all(ways) else []


def train(
    words: Mapping[str, int], vocab_size: int, initial_size: int = 300, dropped: float = 0.1
) -> Iterator[dict[str, int]]:
    """Yield the tokens with their counts: the initial ones, and what each round of dropping leaves.

    Args:
        words: Words with their frequencies; among equals their order decides.
        vocab_size: Stop when there are no more tokens than this.
        initial_size: How many tokens to begin with.
        dropped: The share of the tokens that a round drops (at least one, never a character).

    >>> [len(tokens) for tokens in train({"hug": 10, "pug": 5, "hugs": 5}, 6, initial_size=15, dropped=0.3)]
    [13, 10, 7, 5]
    """
    counts = initial_tokens(words, initial_size)
    yield counts
    while len(counts) > vocab_size:
        ordered = sorted(losses(words, costs(counts)).items(), key=lambda item: item[1])
        if not ordered:
            return
        gone = {token for token, _ in ordered[: max(1, int(len(counts) * dropped))]}
        counts = {token: count for token, count in counts.items() if token not in gone}
        yield counts


@dataclass(frozen=True, slots=True)
class Edge(Generic[Word]):
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
    token: Word
    score: float
    known: bool = True


@dataclass(frozen=True, slots=True)
class Arrival(Generic[Word]):
    """A way to come to a place, or to go on from it: a token, and the best sum beside it with its score added."""

    edge: Edge[Word]
    total: float


def edges(
    piece: Word, scores: Mapping[Word, float], unknown: float, start: int, lengths: Sequence[int]
) -> Iterator[Edge[Word]]:
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
        yield Edge(start, start + 1, piece[start : start + 1], unknown, known=False)


def arrivals(
    piece: Word,
    scores: Mapping[Word, float],
    unknown: float,
    rounded: Callable[[float], float] = float,
    lengths: Sequence[int] = (),
) -> Iterator[list[Arrival[Word]]]:
    """Yield for each place after the first all ways to come to it, those from the left first.

    The first of the highest is the best way (``best``); what ends there goes on from its sum.

    Args:
        piece: The text, or a word in units.
        scores: Score of each token.
        unknown: Score of an unknown character.
        rounded: Rounds a sum to the precision that sums are kept in.
        lengths: The lengths that tokens have, ascending, if they are known.

    >>> found = list(arrivals("ab", {"a": -1.0, "b": -1.0, "ab": -1.5}, -9.0))
    >>> [[(way.edge.token, way.total) for way in ways] for ways in found]
    [[('a', -1.0)], [('ab', -1.5), ('b', -2.0)]]
    """
    lengths = lengths or sorted({len(token) for token in scores})
    waiting: dict[int, list[Arrival[Word]]] = {}
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
) -> Iterator[list[Arrival[str]]]:
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


def onward_path(first: Sequence[Edge[str]]) -> list[Edge[str]]:
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


def best(ways: Sequence[Arrival[Word]]) -> Arrival[Word]:
    """Return the way with the highest sum, of equals the one from furthest to the left."""
    return max(ways, key=lambda way: way.total)  # the first of the highest


def best_path(last: Sequence[Edge[Word]]) -> list[Edge[Word]]:
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


def log_total(ways: Sequence[Sequence[Edge[str]]]) -> float:
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


def best_segmentations(ways: Sequence[Sequence[Edge[str]]], number: int) -> list[tuple[float, list[Edge[str]]]]:
    """Return the best segmentations with their sums, best first: the best up to each place grow from those before.

    Rounding cannot change the order of what grows by the same number. Of equal sums the one comes first
    whose last token begins further to the left.

    Complexity: tokens * number * log(tokens * number).

    >>> a, b, ab = Edge(0, 1, "a", -1.0), Edge(1, 2, "b", -1.0), Edge(0, 2, "ab", -1.5)
    >>> for total, path in best_segmentations([[a], [ab, b]], 5):
    ...     print(total, *(edge.token for edge in path))
    -1.5 ab
    -2.0 a b
    """
    # By place: sum, last token, and which of those that were kept where it begins comes before it.
    kept: list[list[tuple[float, Edge[str] | None, int]]] = [[(0.0, None, 0)]]
    for here in ways:
        grown: list[tuple[float, Edge[str] | None, int]] = [
            (total + edge.score, edge, rank) for edge in here for rank, (total, _, _) in enumerate(kept[edge.start])
        ]
        kept.append(sorted(grown, key=lambda each: -each[0])[:number])  # equals keep their order
    segmentations = []
    for total, last, before in kept[-1]:
        path = []
        edge, rank = last, before
        while edge is not None:
            path.append(edge)
            _, edge, rank = kept[edge.start][rank]
        segmentations.append((total, path[::-1]))
    return segmentations
