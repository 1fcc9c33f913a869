"""List all segmentations of a word, and weigh them: what a unigram model is by definition (Kudo, arXiv:1804.10959)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, fsum


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
