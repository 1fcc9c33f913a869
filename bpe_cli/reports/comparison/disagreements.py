"""Find where tokenizers cut the same text differently, by the byte offsets at which their tokens end.

A *boundary* is an offset inside a text at which a token ends. Where a tokenizer drops bytes (BERT's drops spaces),
the boundary is before them. A *segment* is a stretch between two boundaries that both tokenizers have, with no such
boundary in it; where it is not one token for both, they disagree. Segments are found by merging two sorted lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.boundaries import (
    Cutter,
    Segment,
    Span,
    cut_words,
    segments,
    segments_at,
    unseen,
    words_of,
)
from bpe_cli.reports.comparison.measures import Ratio

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.input_accounts import Excerpt, Sample
    from bpe_cli.tokenizer import Specials, Tokenizer

SHOWN = 10
"""Differences that are listed."""

CONTEXT = 24
"""Bytes of text on each side of a difference's first occurrence that are given with it."""

LONGEST = 256
"""Bytes of a segment that are given at most."""

_BATCH = 1 << 18


@dataclass(frozen=True, slots=True)
class Difference:
    """A segment that two tokenizers cut differently.

    Attributes:
        text: Its bytes, at most ``LONGEST`` of them.
        first_ends: Where the tokens of the baseline end in it.
        second_ends: Where those of the other end.
        first_tokens: How many tokens the baseline has for it.
        source: The name of the input of that occurrence.
        offset: Where in the document it begins, in bytes.
    """

    text: bytes
    byte_count: int
    first_ends: tuple[int, ...]
    second_ends: tuple[int, ...]
    first_tokens: int
    second_tokens: int
    times: int
    before: bytes
    after: bytes
    source: str
    document: int
    offset: int

    @property
    def cost(self) -> int:
        """Tokens that the other has more than the baseline (fewer if negative), over all occurrences."""
        return (self.second_tokens - self.first_tokens) * self.times


@dataclass(frozen=True, slots=True)
class Disagreement:
    """How differently two tokenizers cut the same texts.

    Attributes:
        whole: Whether they are all that was compared, and not its beginning.
        boundaries: How many each has.
        common: How many both have.
        words: Words: stretches without whitespace (Unicode's White_Space).
        words_finer: Words in which the other has all the baseline's boundaries (those cut alike among them).
        words_coarser: Words in which the baseline has all the other's.
        segments: Segments that they cut differently, over all occurrences.
        kinds: How many different ones.
        unknown: Tokens of each that stand for what the vocabulary does not have, and what is left out instead: text
            that is lost, not short.
        differences: The most costly of them, whoever pays; of equally costly ones the more frequent first.
    """

    first: int
    second: int
    byte_count: int
    whole: bool
    boundaries: tuple[int, int]
    common: int
    words: int
    words_alike: int
    words_finer: int
    words_coarser: int
    segments: int
    kinds: int
    unknown: tuple[int, int]
    differences: tuple[Difference, ...]

    @property
    def jaccard(self) -> float:
        """Common boundaries among all that one or the other has; 1 where neither has any."""
        union = sum(self.boundaries) - self.common
        return self.common / union if union else 1.0

    @property
    def precision(self) -> float:
        """Share of the other's boundaries that the baseline has; 1 where there are none."""
        return self.common / self.boundaries[1] if self.boundaries[1] else 1.0

    @property
    def recall(self) -> float:
        """Share of the baseline's boundaries that the other has; 1 where there are none."""
        return self.common / self.boundaries[0] if self.boundaries[0] else 1.0

    share_alike = Ratio("words_alike", "words")
    """Share of the words that both cut at the same places."""
    share_finer = Ratio("words_finer", "words")
    """Share of the words in which the other has all the baseline's boundaries: how far it refines it."""
    share_coarser = Ratio("words_coarser", "words")
    """Share of the words in which the baseline has all the other's boundaries."""

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall: the same whichever is the baseline."""
        total = sum(self.boundaries)
        return 2 * self.common / total if total else 1.0


def disagreements(
    tokenizers: Sequence[Tokenizer],
    sample: Sample,
    *,
    specials: Specials = (),
    shown: int = SHOWN,
    threads: int = 1,
) -> list[Disagreement]:
    """Compare how each tokenizer cuts texts with how the first one does.

    Raises:
        UsageError: if a name in ``specials`` is unknown to a tokenizer.
        InputError: if a byte of a text has no token.

    Complexity: linear in the texts, with memory for some dozens of bytes for each of their tokens.
    """
    cutters = [Cutter(tokenizer, specials, threads) for tokenizer in tokenizers]
    tallies = [_Tally() for _ in tokenizers[1:]]
    unknown = [0] * len(tokenizers)
    for batch in _batches(sample.excerpts):
        texts = [excerpt.text for excerpt in batch]
        streams = [cutter.cut_and_lost(texts) for cutter in cutters]
        for excerpt, *cuts in zip(batch, *streams, strict=True):
            words = words_of(excerpt.text)
            for number, (_, ends, lost) in enumerate(cuts):
                unknown[number] += len(lost)
                if number:
                    tallies[number - 1].add(excerpt, words, cuts[0][1], ends)
    return [
        tally.result(number, sample, (unknown[0], unknown[number]), shown) for number, tally in enumerate(tallies, 1)
    ]


def _batches(excerpts: Sequence[Excerpt]) -> Iterator[list[Excerpt]]:
    """Yield documents together, so that short ones are encoded in few calls."""
    batch: list[Excerpt] = []
    size = 0
    for excerpt in excerpts:
        batch.append(excerpt)
        size += len(excerpt.text)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(slots=True)
class _Occurrences:
    """How often a segment was cut in one pair of ways, and where first."""

    times: int
    excerpt: Excerpt
    start: int


_Key = tuple[bytes, tuple[int, ...], tuple[int, ...]]


class _Tally:
    """Counts over documents."""

    def __init__(self) -> None:
        self._boundaries = [0, 0]
        self._common = self._words = self._alike = self._finer = self._coarser = self._segments = 0
        self._differences: dict[_Key, _Occurrences] = {}

    def add(self, excerpt: Excerpt, words: list[Span], first: list[int], second: list[int]) -> None:
        """Compare the cuts of one text."""
        size = len(excerpt.text)
        inside = [{end for end in ends if 0 < end < size} for ends in (first, second)]
        common = inside[0] & inside[1]
        self._boundaries[0] += len(inside[0])
        self._boundaries[1] += len(inside[1])
        self._common += len(common)
        only_first, only_second = sorted(inside[0] - common), sorted(inside[1] - common)
        self._add_words(words, only_first, only_second)
        hidden = unseen(first, size) | unseen(second, size)
        stops = [*sorted(common), size]
        if hidden:
            points = sorted({*only_first, *only_second, *hidden})
            self._add_segments(excerpt, segments_at(points, stops, first, second))
        else:
            self._add_segments(excerpt, segments(only_first, only_second, stops))

    def _add_words(self, words: list[Span], only_first: list[int], only_second: list[int]) -> None:
        """Count the words in which only one of them has a boundary, by walking along words and boundaries."""
        cut_first, cut_second = cut_words(words, only_first), cut_words(words, only_second)
        self._words += len(words)
        self._alike += len(words) - len(cut_first | cut_second)
        self._finer += len(words) - len(cut_first)
        self._coarser += len(words) - len(cut_second)

    def _add_segments(self, excerpt: Excerpt, segments: Iterator[Segment]) -> None:
        """Count segments."""
        text, differences = excerpt.text, self._differences
        for start, end, first, second in segments:
            self._segments += 1
            key = (text[start:end], first, second)
            known = differences.get(key)
            if known is None:
                differences[key] = _Occurrences(1, excerpt, start)
            else:
                known.times += 1

    def result(self, second: int, sample: Sample, unknown: tuple[int, int], shown: int) -> Disagreement:
        """Return the counts."""
        costliest = sorted(self._differences.items(), key=_by_cost)[:shown]
        return Disagreement(
            0,
            second,
            sample.byte_count,
            sample.whole,
            (self._boundaries[0], self._boundaries[1]),
            self._common,
            self._words,
            self._alike,
            self._finer,
            self._coarser,
            self._segments,
            len(self._differences),
            unknown,
            tuple(_difference(key, occurrences) for key, occurrences in costliest),
        )


def _by_cost(item: tuple[_Key, _Occurrences]) -> tuple[int, int, _Key]:
    """Order by cost, then by how often, then by what it is."""
    key, occurrences = item
    return -abs(len(key[1]) - len(key[2])) * occurrences.times, -occurrences.times, key


def _difference(key: _Key, occurrences: _Occurrences) -> Difference:
    text, first_ends, second_ends = key
    whole, end = occurrences.excerpt.text, occurrences.start + len(text)
    return Difference(
        text[:LONGEST],
        len(text),
        first_ends,
        second_ends,
        len(first_ends),
        len(second_ends),
        occurrences.times,
        whole[max(0, occurrences.start - CONTEXT) : occurrences.start],
        whole[end : end + CONTEXT],
        occurrences.excerpt.source,
        occurrences.excerpt.document,
        occurrences.start,
    )
