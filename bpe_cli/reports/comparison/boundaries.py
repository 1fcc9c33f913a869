"""Align the token boundaries of one text by merging sorted lists of byte offsets, in linear time.

A boundary is a byte offset of the text at which a token ends; the end of the text is none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.left_out import showing_left_out
from bpe_cli.reports.tokenizer.contents import STRETCH
from bpe_cli.support.blocks import Block
from bpe_cli.support.cached import cached_property

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.tokenizer import Specials, Tokenizer


Span = tuple[int, int]
"""Where something begins and ends, in bytes."""

Segment = tuple[int, int, tuple[int, ...], tuple[int, ...]]
"""Where a segment begins and ends in its text, and where the tokens of each tokenizer end in it."""


def unseen(ends: list[int], size: int) -> set[int]:
    """Return the ends at which tokens may differ without a difference in boundaries.

    A character's bytes may each be a token; a mark may stand before the text; what ends the text may be dropped.
    """
    hidden = {0} if ends and not ends[0] else set()
    if not ends or ends[-1] < size:
        hidden.add(size)
    if len(set(ends)) < len(ends):
        hidden |= {end for end, times in Counter(ends).items() if times > 1}
    return hidden


def segments(first: list[int], second: list[int], stops: list[int]) -> Iterator[Segment]:
    """Yield the segments that are cut differently: start, end, and where the tokens of each end in it.

    Args:
        first: The boundaries that only the first has, ascending.
        second: Those that only the second has.
        stops: The boundaries that both have, ascending, and the text's end.

    >>> list(segments([1], [2, 5], [3, 4, 6]))
    [(0, 3, (1, 3), (2, 3)), (4, 6, (2,), (1, 2))]
    """
    place = one = other = 0
    first, second = [*first, stops[-1]], [*second, stops[-1]]  # which no walk passes
    while True:
        point = min(first[one], second[other])
        if point == stops[-1]:
            return
        place = bisect_left(stops, point, place)
        start, end = stops[place - 1] if place else 0, stops[place]
        begun = one, other
        while first[one] < end:
            one += 1
        while second[other] < end:
            other += 1
        size = end - start
        yield (
            start,
            end,
            (*[each - start for each in first[begun[0] : one]], size),
            (*[each - start for each in second[begun[1] : other]], size),
        )


def segments_at(points: list[int], stops: list[int], first: list[int], second: list[int]) -> Iterator[Segment]:
    """Yield the segments around points, from all ends of tokens: for differences that boundaries do not show."""
    place = done = 0
    for point in points:
        if done and point <= done:
            continue
        place = bisect_left(stops, max(point, 1), place)
        start = stops[place - 1] if place else 0
        end = done = stops[place]
        cuts = [_within(ends, start, end, stops[-1]) for ends in (first, second)]
        if cuts[0] != cuts[1]:
            yield start, end, cuts[0], cuts[1]


def _within(ends: list[int], start: int, end: int, size: int) -> tuple[int, ...]:
    """Return where the tokens of a segment end in it: those behind its start, at the text's start also those at it."""
    low = bisect_left(ends, start + 1) if start else 0
    # What ends the text has all tokens left: where bytes at its end are dropped, none ends at its end.
    high = len(ends) if end == size else bisect_left(ends, end + 1)
    return tuple([each - start for each in ends[low:high]])


def words_of(text: bytes) -> list[Span]:
    r"""Return the spans of words.

    >>> words_of("a\u3000bc\n".encode())
    [(0, 1), (4, 6)]
    """
    blanks = [match.span() for match in STRETCH.finditer(text)]
    starts = [0, *(end for _, end in blanks)]
    ends = [*(start for start, _ in blanks), len(text)]
    return [span for span in zip(starts, ends, strict=True) if span[0] < span[1]]


def cut_words(words: list[Span], points: list[int]) -> set[int]:
    """Return the numbers of the words inside which one of the points lies; both lists ascend."""
    numbers: set[int] = set()
    number = 0
    for point in points:
        while number < len(words) and words[number][1] <= point:
            number += 1
        if number == len(words):
            break
        if words[number][0] < point:
            numbers.add(number)
    return numbers


class Cutter:
    """Hold the ids of texts and the offsets at which their tokens end.

    Byte-level tokenizers are asked once for all texts: a token's end is the sum of lengths. Of others each text's
    spans are asked for; they lie between characters, so the tokens that share one end where it ends.

    Attributes:
        unk_id: The id that stands for what the vocabulary does not have, if there is one.
    """

    def __init__(self, tokenizer: Tokenizer, specials: Specials = (), threads: int = 1) -> None:
        self._tokenizer = tokenizer
        self._specials = specials
        self._matcher = tokenizer.matcher(specials)
        self._threads = threads
        self.unk_id: int | None = tokenizer.model.unk_id
        self._lengths: _Lengths | None = None
        if tokenizer.has_spans and not tokenizer.prefix_space and not _have_several_lengths(tokenizer):
            self._lengths = _Lengths(tokenizer)

    @cached_property
    def _showing(self) -> Cutter | None:
        """What has unknown tokens for what the tokenizer leaves out; None if it leaves out nothing."""
        showing = showing_left_out(self._tokenizer)
        return None if showing is None else Cutter(showing, self._specials, self._threads)

    def count(self, texts: Sequence[bytes]) -> list[int]:
        """Count the tokens of each text."""
        return self._tokenizer.count_block(Block.of(texts), self._matcher, self._threads).tolist()

    def unknown(self, texts: Sequence[bytes]) -> int:
        """Count the tokens in texts that stand for what the vocabulary does not have, and what is left out instead."""
        showing = self._showing or self
        if showing.unk_id is None:
            return 0
        ids, _ = showing._tokenizer.encode_block(Block.of(texts), showing._matcher, self._threads)
        return ids.tolist().count(showing.unk_id)

    def keeps(self, texts: Sequence[bytes]) -> bool:
        """Return whether the ids of each text decode to it, byte for byte."""
        for text in texts:
            ids, _ = self._tokenizer.encode_block(Block.of([text]), self._matcher, self._threads)
            if self._tokenizer.decode_bytes(ids) != text:
                return False
        return True

    def cut(self, texts: Sequence[bytes]) -> Iterator[tuple[list[int], list[int]]]:
        """Yield for each text its ids, and where each token ends (bytes, never descending).

        Raises:
            InputError: if a byte of a text has no token.
        """
        if self._lengths is None:
            for text in texts:
                yield self._one(text)
            return
        ids, stops = self._tokenizer.encode_block(Block.of(texts), self._matcher, self._threads)
        length = self._lengths.__getitem__
        start = 0
        for stop in stops:
            part = ids[start:stop].tolist()
            yield part, list(accumulate(map(length, part)))
            start = stop

    def cut_and_lost(self, texts: Sequence[bytes]) -> Iterator[tuple[list[int], list[int], list[Span]]]:
        """Yield for each text what ``cut`` does, and the spans that unknown tokens stand for or that are left out.

        A span is empty where it ends a character of which another token stands for the beginning.

        Raises:
            InputError: if a byte of a text has no token.
        """
        if self._showing is None:
            for ids, ends in self.cut(texts):
                yield ids, ends, _spans_of(self.unk_id, ids, ends)
            return
        for (ids, ends), shown in zip(self.cut(texts), self._showing.cut(texts), strict=True):
            yield ids, ends, _spans_of(self._showing.unk_id, *shown)

    def _one(self, text: bytes) -> tuple[list[int], list[int]]:
        if self._tokenizer.has_spans:
            tokens = self._tokenizer.tokens(text, specials=self._specials)
            return [token.token_id for token in tokens], [token.end for token in tokens]
        ids: list[int] = []
        ends: list[int] = []
        last = 0
        for token_id, _, end in self._tokenizer.spans(text, self._matcher):
            # A normalizer may put marks in another order; a text is cut from left to right all the same.
            last = max(last, end)
            ids.append(token_id)
            ends.append(last)
        return ids, ends


def _spans_of(token_id: int | None, ids: list[int], ends: list[int]) -> list[Span]:
    """Return the spans of all occurrences of a token, each from the end of the token before it.

    >>> _spans_of(7, [7, 3, 7], [2, 3, 6]), _spans_of(None, [3], [1])
    ([(0, 2), (3, 6)], [])
    """
    if token_id is None or token_id not in ids:
        return []
    spans = zip(ids, [0, *ends[:-1]], ends, strict=True)
    return [(start, end) for each, start, end in spans if each == token_id]


class _Lengths(dict[int, int]):
    """The lengths in bytes of tokens by their ids, each looked up once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, token_id: int) -> int:
        length = self[token_id] = len(self._tokenizer.token_bytes(token_id))
        return length


def _have_several_lengths(tokenizer: Tokenizer) -> bool:
    """Return whether an id is an ordinary token's, and also an added token's whose text is of another length."""
    vocabulary = tokenizer.model.vocabulary
    ordinary = vocabulary.among(tokenizer.special_ids)
    return any(len(tokenizer.special_ids[each].content) != len(vocabulary.token(each)) for each in ordinary)


STRETCH_BYTES = 160
"""A stretch ends at the first common boundary after so many bytes, or after a line."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """How the boundaries of one segmentation differ from another's.

    Attributes:
        alone: Numbers of the tokens whose end is a boundary here and not there.
        across: Numbers of the tokens that have a boundary of the other one inside.
    """

    alone: frozenset[int] = frozenset()
    across: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the text that begins and ends at boundaries of all segmentations.

    Attributes:
        groups: For each segmentation, the first group of the stretch and the one after its last, as numbers into
            ``Segmentation.groups()``.
    """

    groups: tuple[tuple[int, int], ...]


def deviation(segmentation: Segmentation, baseline: Segmentation) -> Deviation:
    """Compare the boundaries of a segmentation's tokens with all those of the baseline, of the same text.

    Complexity: linear but for a logarithm.
    """
    others = sorted(set(baseline.placed.ends))  # its details may end earlier in the text
    known = set(others) | {segmentation.byte_count}
    alone = frozenset(number for number, token in enumerate(segmentation.tokens) if token.end not in known)
    ends = [0, *(token.end for token in segmentation.tokens)]
    across = frozenset(
        number
        for number, (start, end) in enumerate(pairwise(ends))
        if start < end and bisect_right(others, start) < bisect_left(others, end)
    )
    return Deviation(alone, across)


def stretches(segmentations: Sequence[Segmentation]) -> Iterator[Stretch]:
    """Cut a text where all segmentations have a boundary between grapheme clusters: after a line, or if it is long."""
    ends = [_group_ends(segmentation) for segmentation in segmentations]
    lines = {token.end for token in segmentations[0].tokens if token.reading.endswith(b"\n")}
    common = sorted(set.intersection(*map(set, ends)))
    done = [0] * len(ends)
    start = 0
    for offset in common:
        if offset not in lines and offset - start < STRETCH_BYTES:
            continue
        reached = [ends[number][offset] for number in range(len(ends))]
        yield Stretch(tuple(zip(done, reached, strict=True)))
        start, done = offset, reached
    left = [max(places.values(), default=0) for places in ends]
    if left != done:
        yield Stretch(tuple(zip(done, left, strict=True)))


def _group_ends(segmentation: Segmentation) -> dict[int, int]:
    """Return, by the offset at which a group of tokens ends, how many groups have ended by then."""
    return {segmentation.tokens[group.end - 1].end: number for number, group in enumerate(segmentation.groups(), 1)}
