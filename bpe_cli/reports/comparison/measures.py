"""Measure how a tokenizer encodes texts, and how certain a difference between tokenizers is.

A *word* is a stretch without whitespace (Unicode's White_Space), in every script: Chinese, Japanese and Thai
write few of them, so numbers per word mean little there.

The unit of a difference is a document, never a token: tokens of one document are not independent. Of more than
``MOST_UNITS`` documents neighbours are taken together, two by two, until there are few enough, so memory
is bounded, and neighbours, which often resemble each other, are not counted as if they were independent.

The interval is a percentile interval of the paired bootstrap (Efron and Tibshirani, 1993): units are drawn
with replacement, with both tokenizers' counts. The test swaps the two tokenizers' counts at random, unit by
unit (approximate randomization: Noreen, 1989). Holm's method (1979) adjusts for the number of tests.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from bpe_cli import _core

LOST_SHARE = 0.001
"""A tokenizer that has only unknown tokens, or none at all, for more than this share of the bytes (0.1%) loses text:
that its tokens are few is no merit. A stray emoji in a corpus is less than that."""


def _ratio(count: int, of: int) -> float | None:
    return count / of if of else None


class Ratio:
    """A property: one of a value's counts per another; None where that one is 0."""

    def __init__(self, count: str, of: str) -> None:
        self._counts = attrgetter(count, of)

    def __get__(self, value: object, owner: type) -> float | None:
        return _ratio(*self._counts(value))


@dataclass(frozen=True, slots=True)
class Measure:
    """What one tokenizer makes of one input, or of all together.

    Attributes:
        character_count: Characters; a byte that is not part of well-formed UTF-8 counts as one.
        baseline_tokens: Tokens of the baseline tokenizer on the same text.
        split_words: Words that are split over several tokens.
        type_count: Different words among the first ``input_accounts.WORD_BYTES`` of the input; of all inputs together,
            the sum over inputs.
        one_token_types: Those of them that alone are one token, and not an unknown one.
        one_token_types_spaced: Those that with a space before them are one token; where the tokenizer puts a
            space before any text by itself, that space counts, and no other is put.
        vocab_size: Ids that a token has, special ones included.
        used_ids: Different ids that occurred.
        unknown_tokens: Tokens that stand for text not in the vocabulary.
        byte_tokens: Tokens that are one byte of a character of several bytes, or a byte in the model's spelling
            (``<0xE4>``): what falls back to bytes.
        checked_documents: Documents that were decoded again: all, but for those of tokenizers with normalizers
            or decoders that are longer than ``tallies.CHECKED_BYTES``.
        failed_documents: Those of them whose tokens do not decode to the text.
        shannon_entropy: Of the tokens' frequencies, in bits; None without tokens.
        renyi_entropy: Rényi's of order 2.5 (Zouhar et al., arXiv:2306.16842), in bits; None without tokens.
        mean_bytes_per_token: The mean over documents of each one's bytes per token (a mean of ratios, not the
            ratio of sums that ``bytes_per_token`` is); None where no document has tokens.
        seconds: Time that encoding took, on all threads together by the clock; None where it was not asked for.
        unknown_bytes: Bytes of the text that unknown tokens stand for.
        left_out_bytes: Bytes of the text that a model without an unknown token leaves out.
        coverage_rank: How many of the most frequent ids together make up 95% of the tokens; None without tokens.
    """

    document_count: int
    byte_count: int
    character_count: int
    token_count: int
    baseline_tokens: int
    word_count: int = 0
    split_words: int = 0
    type_count: int = 0
    one_token_types: int = 0
    one_token_types_spaced: int = 0
    vocab_size: int = 0
    used_ids: int = 0
    unknown_tokens: int = 0
    byte_tokens: int = 0
    checked_documents: int = 0
    failed_documents: int = 0
    shannon_entropy: float | None = None
    renyi_entropy: float | None = None
    mean_bytes_per_token: float | None = None
    seconds: float | None = None
    unknown_bytes: int = 0
    coverage_rank: int | None = None
    empty_documents: int = 0
    left_out_bytes: int = 0

    bytes_per_token = Ratio("byte_count", "token_count")
    """Bytes of text per token: a ratio of sums."""
    characters_per_token = Ratio("character_count", "token_count")
    """Characters of text per token: a ratio of sums."""
    ratio = Ratio("token_count", "baseline_tokens")
    """Tokens per token of the baseline."""
    fertility = Ratio("token_count", "word_count")
    """Tokens per word."""
    split_share = Ratio("split_words", "word_count")
    """Share of words that are split over several tokens."""

    @property
    def one_token_share(self) -> float | None:
        """Share of words that are not split over several tokens."""
        return _ratio(self.word_count - self.split_words, self.word_count)

    one_token_types_share = Ratio("one_token_types", "type_count")
    """Share of different words that alone are one token."""
    one_token_types_spaced_share = Ratio("one_token_types_spaced", "type_count")
    """Share of different words that with a space before them are one token."""
    vocabulary_used = Ratio("used_ids", "vocab_size")
    """Share of the vocabulary's ids that occurred."""
    unknown_share = Ratio("unknown_tokens", "token_count")
    """Share of tokens that stand for text not in the vocabulary."""

    @property
    def lost_bytes(self) -> int:
        """Bytes of the text that unknown tokens stand for, or no token at all."""
        return self.unknown_bytes + self.left_out_bytes

    unknown_bytes_share = Ratio("lost_bytes", "byte_count")
    """Share of the text's bytes that such tokens stand for, or that are left out."""

    @property
    def loses_text(self) -> bool:
        """Whether more than ``LOST_SHARE`` of the text is lost."""
        return self.lost_bytes > LOST_SHARE * self.byte_count

    byte_share = Ratio("byte_tokens", "token_count")
    """Share of tokens that are only a byte."""
    byte_fallback_share = Ratio("byte_tokens", "byte_count")
    """Share of the text's bytes that such tokens stand for: one each."""

    @property
    def failed_round_trips(self) -> int | None:
        """The failed documents; None where all that are not empty were too long to be decoded again."""
        if self.failed_share is None and self.empty_documents < self.document_count:
            return None
        return self.failed_documents

    @property
    def failed_share(self) -> float | None:
        """Share of the checked documents that do not come back; empty ones, which all do, are left out."""
        return _ratio(self.failed_documents, max(self.checked_documents - self.empty_documents, self.failed_documents))

    @property
    def shannon_efficiency(self) -> float | None:
        """Shannon's entropy of the tokens per that of as many ids, all as frequent; None below two ids."""
        return self._efficiency(self.shannon_entropy)

    @property
    def renyi_efficiency(self) -> float | None:
        """The same of Rényi's entropy of order 2.5."""
        return self._efficiency(self.renyi_entropy)

    def _efficiency(self, entropy: float | None) -> float | None:
        if entropy is None or self.used_ids < 2:
            return None
        return min(1.0, entropy / math.log2(self.used_ids))

    @property
    def megabytes_per_second(self) -> float | None:
        """Speed of encoding, in 1,000,000 bytes of text per second."""
        return self.byte_count / 1e6 / self.seconds if self.seconds else None


@dataclass(frozen=True, slots=True)
class Difference:
    """The ratio of a tokenizer's number of tokens to the baseline's, and how certain it is.

    Attributes:
        ratio: Tokens per token of the baseline (NSL: Dagan et al., arXiv:2402.01035), a ratio of sums.
        p: Probability of a difference this large if neither had fewer tokens (sign-flip test, two-sided).
        p_adjusted: The same by Holm's method over all inputs and tokenizers of the comparison; of all inputs
            together, over the tokenizers.
        units: How many units were drawn from: documents, or batches of them.
        unit_documents: Documents that a unit has; the last one may have fewer.
    """

    ratio: float
    low: float
    high: float
    p: float
    p_adjusted: float
    units: int
    unit_documents: int
    method: str = "bootstrap"


MOST_UNITS = 8192
"""There are never more units than this."""

LEAST_UNITS = 6
"""With fewer units there is no difference to be told: of the 2**n ways to swap n units two are as extreme as
can be, so that p cannot fall below 2 / 2**n, and 2 / 2**5 is over 5%."""

RESAMPLES = 10_000
"""How often units are drawn, and swapped."""

LEAST_RESAMPLES = 39
"""With fewer there is none below, or above, 95% of them."""

SEED = 0


def difference(
    units: _core.Units, baseline: _core.Units, *, resamples: int = RESAMPLES, threads: int = 1
) -> Difference | None:
    """Compare a tokenizer's tokens with the baseline's on the same documents.

    Units without a token of either are left out. None where fewer than ``LEAST_UNITS`` are left, where the
    two have the same number of tokens in every unit, and where a ratio could be infinite.

    >>> def units(counts):
    ...     found = _core.Units(MOST_UNITS)
    ...     found.extend(array("Q", counts))
    ...     return found
    >>> found = difference(units([2, 4, 2, 6, 2, 2]), units([1, 2, 1, 3, 1, 1]))
    >>> found.ratio, found.low, found.high, found.units
    (2.0, 2.0, 2.0, 6)
    """
    pairs = zip(memoryview(units.counts), memoryview(baseline.counts), strict=True)
    kept = [pair for pair in pairs if any(pair)]
    if len(kept) < LEAST_UNITS or all(one == other for one, other in kept):
        return None
    first, second = (array("Q", column) for column in zip(*kept, strict=True))
    interval = _core.bootstrap_interval(first, second, resamples, SEED, threads)
    if interval is None:
        return None
    p = _core.sign_flip(first, second, resamples, SEED, threads)
    low, high = interval
    return Difference(sum(first) / sum(second), low, high, p, p, len(kept), units.unit_documents)


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjust p by Holm's method: the i-th smallest of m times m - i + 1, none below a smaller one's, at most 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(probabilities)), key=probabilities.__getitem__)
    adjusted = [1.0] * len(probabilities)
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * probabilities[number]))
        adjusted[number] = largest
    return adjusted


def adjust(rows: Sequence[Sequence[Difference | None]]) -> list[tuple[Difference | None, ...]]:
    """Adjust the differences of several rows by Holm's method, as one family of tests."""
    family = [each.p for row in rows for each in row if each is not None]
    adjusted = iter(holm(family))
    return [tuple(each and replace(each, p_adjusted=next(adjusted)) for each in row) for row in rows]
