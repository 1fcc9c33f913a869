"""Learn tokens by dropping the least needed ones, and find the best segmentations of a word in its lattice.

Kudo 2018 (arXiv:1804.10959). The trainer is that of Hugging Face's course and of the tutorials based on
it: a token's probability is its share of all substring counts, and each round drops the tokens whose
removal costs the corpus least. Costs are negative logarithms, so the best segmentation costs least. The trainer that
is used in practice re-estimates the probabilities by expectation maximisation.

The lattice has all tokens that fit in a piece. Scores are natural logarithms of probabilities, so a segmentation's
score is the sum of its tokens' scores, and the highest is best. A place is a number of characters; a token goes from
one place to a later one. A character without a token of its own may be unknown, with a separate score.
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

    Characters come first, in order of first occurrence; equally frequent substrings keep that order too.

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
    """Find the segmentation that costs least, with the Viterbi algorithm; the cost is None if there is none.

    ``start_cost`` is the cost of a word before its first token: 1 in the course, a slip that many have
    copied. It changes a segmentation only where rounding decides. ``longest`` is the length of the longest token, if it
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
    """Return the sum of the costs of the best segmentations of all words; some of them may be known already.

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
    """Return how much more the corpus costs without each token of several characters.

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
"""How far the score of an unknown character is below the lowest score of a token (SentencePiece)."""


def likelihood_losses(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """Estimate how much less likely the corpus is without each token, which is what pruning goes by in training by EM.

    Each occurrence in the best segmentations is replaced by the token's best other segmentation, and probabilities
    are shares of these occurrences. The loss of a token that no best segmentation uses is 0. One that has no other
    segmentation does not compete, and is left out.

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
    """Return the tokens of the best segmentation that does not use one token; none if the text needs that token."""
    ways = [[way for way in here if way.edge.token != but] for here in arrivals(text, scores, unknown, lengths=lengths)]
    return best_path([best(here).edge for here in ways]) if all(ways) else []


def train(
    words: Mapping[str, int], vocab_size: int, initial_size: int = 300, dropped: float = 0.1
) -> Iterator[dict[str, int]]:
    """Yield the tokens with their counts: the initial ones, and what each round of dropping leaves.

    Args:
        words: Words with their frequencies; their order decides among equals.
        vocab_size: Stop as soon as there are no more than this number of tokens.
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
        known: False for a character without a token, which is unknown.
    """

    start: int
    end: int
    token: Word
    score: float
    known: bool = True


@dataclass(frozen=True, slots=True)
class Arrival(Generic[Word]):
    """A way to reach a place, or to go on from it: a token, and the best sum up to it with its score added."""

    edge: Edge[Word]
    total: float


def edges(
    piece: Word, scores: Mapping[Word, float], unknown: float, start: int, lengths: Sequence[int]
) -> Iterator[Edge[Word]]:
    """Yield the tokens that fit at a place, the shortest first; then an unknown character, if none is a single one.

    Args:
        piece: The text.
        scores: The score of each token.
        unknown: The score of an unknown character.
        start: The place.
        lengths: The lengths of tokens, ascending.

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
    """Yield, for each place after the first, all ways to reach it, those that begin furthest to the left first.

    The first of the highest is the best way (``best``); tokens that begin there continue from its sum.

    Args:
        piece: The text, or a word in units.
        scores: The score of each token.
        unknown: The score of an unknown character.
        rounded: Rounds a sum to the precision in which sums are kept.
        lengths: The lengths of tokens, ascending, if they are known.

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
    """Yield, for each place before the end, the last one first, all ways to go on from it, the longest first.

    An unknown character comes last. The first of the highest is the best way (``best``).

    Args:
        piece: The text.
        scores: The score of each token, an integer, so that sums are exact.
        unknown: The score of an unknown character.
        lengths: The lengths of tokens, ascending, if they are known.

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
    """Round a score to ten-thousandths, halves away from 0, and limit it to 32 bits.

    >>> ten_thousandths(-2.00005), ten_thousandths(-2.000049), ten_thousandths(-1e9)
    (-20001, -20000, -2147483647)
    """
    largest = 2**31 - 1
    held = max(-largest, min(largest, score * 10_000))
    return int(Decimal(held).to_integral_value(ROUND_HALF_UP))


def onward_path(first: Sequence[Edge[str]]) -> list[Edge[str]]:
    """Walk from the beginning, at each place along the token that the best way begins with.

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
    """Return the way with the highest sum; among equals, the one that begins furthest to the left."""
    return max(ways, key=lambda way: way.total)  # the first of the highest


def best_path(last: Sequence[Edge[Word]]) -> list[Edge[Word]]:
    """Walk back from the end, at each place along the token that the best way ends with.

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

    A segmentation's score minus this is the logarithm of its share of all of them.

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
    """Return the best segmentations with their sums, best first: the best ones up to each place extend earlier ones.

    Rounding cannot change the order of sums that grow by the same number. Among equal sums, the one comes first
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
