"""Segment words by the tokens' probabilities, and learn the tokens by leaving out the least needed.

Kudo 2018 (arXiv:1804.10959). The trainer is the one of Hugging Face's course and of the tutorials after
it: a token's probability is its share of all substring counts, and each round drops the tokens without
which the corpus costs least. Costs are negative logarithms, so the best segmentation costs least. It is
written to be read, never optimised; the trainer that is used in practice re-estimates the probabilities
by expectation maximisation, whose expectation is here as ``expected_counts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, fsum, inf, log


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


def encode(word: str, model: Mapping[str, float], start_cost: float = 1.0) -> tuple[list[str], float | None]:
    """Find the segmentation that costs least, by Viterbi's algorithm; None if there is none.

    ``start_cost`` is what a word costs before its first token: 1 in the course, by a slip that many have
    copied. It changes no segmentation but where rounding decides.

    >>> encode("ab", {"a": 1.0, "b": 1.0, "ab": 1.5})
    (['ab'], 2.5)
    >>> encode("abc", {"a": 1.0, "b": 1.0})
    (['<unk>'], None)
    """
    best = [(start_cost, 0)] + [(inf, -1)] * len(word)  # what the text up to a place costs, its last token's start
    for start in range(len(word)):
        before, _ = best[start]
        if before == inf:
            continue
        for end in range(start + 1, len(word) + 1):
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


def corpus_cost(words: Mapping[str, int], model: Mapping[str, float]) -> float:
    """Add up what the best segmentations of all words cost.

    >>> corpus_cost({"ab": 2}, {"a": 1.0, "b": 1.0})
    6.0
    """
    total = 0.0
    for word, count in words.items():
        cost = encode(word, model)[1]
        if cost is not None:
            total += count * cost
    return total


def losses(words: Mapping[str, int], model: Mapping[str, float]) -> dict[str, float]:
    """Return by how much the corpus costs more without each token of several characters.

    >>> losses({"ab": 2}, {"a": 1.0, "b": 1.0, "ab": 1.5})
    {'ab': 1.0}
    """
    whole = corpus_cost(words, model)
    return {
        token: corpus_cost(words, {other: cost for other, cost in model.items() if other != token}) - whole
        for token in model
        if len(token) > 1
    }


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


def segmentations(word: str, scores: Mapping[str, float]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield every segmentation of a word with its score, the sum of its tokens' scores.

    >>> list(segmentations("ab", {"a": -1.0, "b": -1.0, "ab": -3.0}))
    [(('a', 'b'), -2.0), (('ab',), -3.0)]
    """
    if not word:
        yield (), 0.0
    for end in range(1, len(word) + 1):
        score = scores.get(word[:end])
        if score is not None:
            for rest, rest_score in segmentations(word[end:], scores):
                yield (word[:end], *rest), score + rest_score


def probabilities(word: str, scores: Mapping[str, float], alpha: float = 1.0) -> dict[tuple[str, ...], float]:
    """Return the probability of each segmentation: its share of exp(alpha * score).

    >>> probabilities("ab", {"a": 0.0, "b": 0.0, "ab": 0.0})
    {('a', 'b'): 0.5, ('ab',): 0.5}
    """
    weights = {tokens: exp(alpha * score) for tokens, score in segmentations(word, scores)}
    total = fsum(weights.values())
    return {tokens: weight / total for tokens, weight in weights.items()}


def expected_counts(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """Return how often each token is expected to occur: the expectation step.

    >>> expected_counts({"ab": 4}, {"a": 0.0, "b": 0.0, "ab": 0.0})
    {'a': 2.0, 'b': 2.0, 'ab': 2.0}
    """
    expected = dict.fromkeys(scores, 0.0)
    for word, count in words.items():
        for tokens, probability in probabilities(word, scores).items():
            for token in tokens:
                expected[token] += count * probability
    return expected


# -- told ------------------------------------------------------------------------------------------
