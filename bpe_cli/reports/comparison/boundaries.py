"""Align two cuts of one text by merging sorted lists of byte offsets: linear in the number of tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from bpe_cli.reports.white_space import STRETCH

Span = tuple[int, int]
"""Where something begins and ends, in bytes."""

Segment = tuple[int, int, tuple[int, ...], tuple[int, ...]]
"""Where a segment begins and ends in its text, and where the tokens of each tokenizer end in it."""


def unseen(ends: list[int], size: int) -> set[int]:
    """Return where tokens differ that no boundary shows.

    A character's bytes may each be a token; a mark may stand before the text; what ends the text may be dropped.
    """
    found = {0} if ends and not ends[0] else set()
    if not ends or ends[-1] < size:
        found.add(size)
    if len(set(ends)) < len(ends):
        found |= {end for end, times in Counter(ends).items() if times > 1}
    return found


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
    """Yield the same where boundaries do not tell all: the segments around points, from all ends of tokens."""
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
    r"""Return where words begin and end.

    >>> words_of("a\u3000bc\n".encode())
    [(0, 1), (4, 6)]
    """
    blanks = [match.span() for match in STRETCH.finditer(text)]
    starts = [0, *(end for _, end in blanks)]
    ends = [*(start for start, _ in blanks), len(text)]
    return [span for span in zip(starts, ends, strict=True) if span[0] < span[1]]


def cut_words(words: list[Span], points: list[int]) -> set[int]:
    """Return the numbers of the words inside which one of the points lies; both lists ascend."""
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
