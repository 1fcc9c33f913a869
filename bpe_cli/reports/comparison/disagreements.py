"""Find where tokenizers cut the same text differently, by the byte offsets at which their tokens end.

A *boundary* is an offset inside a text at which a token ends. Where a tokenizer drops bytes (BERT's drops spaces),
the boundary is before them. A *segment* is a stretch between two boundaries that both tokenizers have, with no such
boundary in it; where it is not one token for both, they disagree. Segments are found by merging two sorted lists.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.cutting import Cutter

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.sampling import Excerpt, Sample
    from bpe_cli.tokenizer import Specials, Tokenizer

SHOWN = 10
"""Differences that are listed."""

CONTEXT = 24
"""Bytes of text on each side of a difference's first occurrence that are given with it."""

LONGEST = 256
"""Bytes of a segment that are given at most."""

_BATCH = 1 << 18

# Unicode's White_Space in UTF-8. No character's bytes can be found inside of another's.
_BLANK = re.compile(
    rb"(?:[\t-\r ]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)+"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A segment that two tokenizers cut differently.

    Attributes:
        text: Its bytes, at most ``LONGEST`` of them.
        byte_count: How many bytes it has.
        first_ends: Where the tokens of the baseline end in it.
        second_ends: Where those of the other end.
        first_tokens: How many tokens the baseline has for it.
        second_tokens: How many the other has.
        times: How often it occurs.
        before: Text before its first occurrence.
        after: Text behind it.
        source: The name of the input of that occurrence.
        document: Number of the document there.
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
        first: Number of the baseline.
        second: Number of the other tokenizer.
        byte_count: Bytes of the texts.
        whole: Whether they are all that was compared, and not its beginning.
        boundaries: How many each has.
        common: How many both have.
        words: Words: stretches without white space (Unicode's White_Space).
        words_alike: Words that both cut at the same places.
        words_finer: Words in which the other has all the baseline's boundaries (those cut alike among them).
        words_coarser: Words in which the baseline has all the other's.
        segments: Segments that they cut differently, over all occurrences.
        kinds: How many different ones.
        unknown: Tokens of each that stand for what the vocabulary does not have: text that is lost, not short.
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

    @property
    def share_alike(self) -> float | None:
        """Share of the words that both cut at the same places."""
        return self.words_alike / self.words if self.words else None

    @property
    def share_finer(self) -> float | None:
        """Share of the words in which the other has all the baseline's boundaries: how far it refines it."""
        return self.words_finer / self.words if self.words else None

    @property
    def share_coarser(self) -> float | None:
        """Share of the words in which the baseline has all the other's boundaries."""
        return self.words_coarser / self.words if self.words else None

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
    """Compare how each tokenizer cuts texts with how the first does.

    Args:
        tokenizers: At least one.
        sample: The texts.
        specials: Which special tokens are looked for in them.
        shown: How many differences are listed for each.
        threads: How many threads encode.

    Raises:
        UsageError: A name in ``specials`` is unknown to a tokenizer.
        InputError: A byte of a text has no token.

    Complexity: linear in the texts, with memory for some dozens of bytes for each of their tokens.
    """
    cutters = [Cutter(tokenizer, specials, threads) for tokenizer in tokenizers]
    tallies = [_Tally() for _ in tokenizers[1:]]
    unknown = [0] * len(tokenizers)
    for batch in _batches(sample.excerpts):
        texts = [excerpt.text for excerpt in batch]
        streams = [cutter.cut(texts) for cutter in cutters]
        for excerpt, *cuts in zip(batch, *streams, strict=True):
            for number, (cutter, (ids, ends)) in enumerate(zip(cutters, cuts, strict=True)):
                if cutter.unk_id is not None:
                    unknown[number] += ids.count(cutter.unk_id)
                if number:
                    tallies[number - 1].add(excerpt, cuts[0][1], ends)
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
class _Seen:
    """How often a segment was cut in one pair of ways, and where first."""

    times: int
    excerpt: Excerpt
    start: int
    tokens: tuple[int, int]


_Key = tuple[bytes, tuple[int, ...], tuple[int, ...]]


class _Tally:
    """Count on over documents."""

    def __init__(self) -> None:
        self._boundaries = [0, 0]
        self._common = self._words = self._alike = self._finer = self._coarser = self._segments = 0
        self._seen: dict[_Key, _Seen] = {}

    def add(self, excerpt: Excerpt, first: list[int], second: list[int]) -> None:
        """Compare the cuts of one text."""
        size = len(excerpt.text)
        inside = [{end for end in ends if 0 < end < size} for ends in (first, second)]
        common = inside[0] & inside[1]
        self._boundaries[0] += len(inside[0])
        self._boundaries[1] += len(inside[1])
        self._common += len(common)
        only_first, only_second = sorted(inside[0] - common), sorted(inside[1] - common)
        self._add_words(excerpt.text, only_first, only_second)
        unseen = _unseen(first, size) | _unseen(second, size)
        if only_first or only_second or unseen:
            self._add_segments(excerpt, first, second, common, sorted({*only_first, *only_second, *unseen}))

    def _add_words(self, text: bytes, only_first: list[int], only_second: list[int]) -> None:
        """Count the words in which only one of them has a boundary, by walking along words and boundaries."""
        words = [(start, end) for start, end in _gaps(text) if end > start]
        cut_first, cut_second = _cut_words(words, only_first), _cut_words(words, only_second)
        self._words += len(words)
        self._alike += len(words) - len(cut_first | cut_second)
        self._finer += len(words) - len(cut_first)
        self._coarser += len(words) - len(cut_second)

    def _add_segments(
        self, excerpt: Excerpt, first: list[int], second: list[int], common: set[int], points: list[int]
    ) -> None:
        """Count the segments in which one of the points lies, or at whose end it does."""
        size = len(excerpt.text)
        stops = [*sorted(common), size]
        place = done = 0
        for point in points:
            if done and point <= done:
                continue
            place = bisect_left(stops, max(point, 1), place)
            start = stops[place - 1] if place else 0
            end = done = stops[place]
            cuts = [_within(ends, start, end, size) for ends in (first, second)]
            if cuts[0] != cuts[1]:
                self._segments += 1
                key = (excerpt.text[start:end], cuts[0], cuts[1])
                seen = self._seen.get(key)
                if seen is None:
                    self._seen[key] = _Seen(1, excerpt, start, (len(cuts[0]), len(cuts[1])))
                else:
                    seen.times += 1

    def result(self, second: int, sample: Sample, unknown: tuple[int, int], shown: int) -> Disagreement:
        """Give what was counted."""
        found = sorted(self._seen.items(), key=_by_cost)[:shown]
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
            len(self._seen),
            unknown,
            tuple(_difference(key, seen) for key, seen in found),
        )


def _by_cost(item: tuple[_Key, _Seen]) -> tuple[int, int, _Key]:
    """Order by cost, then by how often, then by what it is."""
    key, seen = item
    return -abs(seen.tokens[0] - seen.tokens[1]) * seen.times, -seen.times, key


def _difference(key: _Key, seen: _Seen) -> Difference:
    text, first_ends, second_ends = key
    whole, end = seen.excerpt.text, seen.start + len(text)
    return Difference(
        text[:LONGEST],
        len(text),
        first_ends,
        second_ends,
        *seen.tokens,
        seen.times,
        whole[max(0, seen.start - CONTEXT) : seen.start],
        whole[end : end + CONTEXT],
        seen.excerpt.source,
        seen.excerpt.document,
        seen.start,
    )


def _unseen(ends: list[int], size: int) -> set[int]:
    """Give where tokens differ that no boundary shows.

    A character's bytes may each be a token; a mark may stand before the text; what ends the text may be dropped.
    """
    found = {0} if ends and not ends[0] else set()
    if not ends or ends[-1] < size:
        found.add(size)
    if len(set(ends)) < len(ends):
        found |= {end for end, times in Counter(ends).items() if times > 1}
    return found


def _within(ends: list[int], start: int, end: int, size: int) -> tuple[int, ...]:
    """Give where the tokens of a segment end in it: those behind its start, at the text's start also those at it."""
    low = bisect_left(ends, start + 1) if start else 0
    # What ends the text has all tokens left: where bytes at its end are dropped, none ends at its end.
    high = len(ends) if end == size else bisect_left(ends, end + 1)
    return tuple([each - start for each in ends[low:high]])


def _gaps(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the stretches between white space; the first and the last may be empty."""
    start = 0
    for match in _BLANK.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _cut_words(words: list[tuple[int, int]], points: list[int]) -> set[int]:
    """Give the numbers of the words inside which one of the points lies; both lists ascend."""
    found: set[int] = set()
    number = 0
    for point in points:
        while number < len(words) and words[number][1] <= point:
            number += 1
        if number == len(words):
            break
        if words[number][0] < point:
            found.add(number)
    return found
