"""Lay one text's segmentations side by side: where their boundaries differ, and where all of them agree.

A boundary is a byte offset of the text at which a token ends; the end of the text is none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import Segmentation

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
    """Compare the boundaries of a segmentation with those of the baseline, of the same text.

    Complexity: linear but for a logarithm.
    """
    others = sorted({token.end for token in baseline.tokens})
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
    """Cut a text where all segmentations have a boundary between grapheme clusters: after a line, or when it gets long.

    Args:
        segmentations: Of the same text; at least one.
    """
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
    left = [max(found.values(), default=0) for found in ends]
    if left != done:
        yield Stretch(tuple(zip(done, left, strict=True)))


def _group_ends(segmentation: Segmentation) -> dict[int, int]:
    """Return, by the offset at which a group of tokens ends, how many groups have ended by then."""
    return {segmentation.tokens[group.end - 1].end: number for number, group in enumerate(segmentation.groups(), 1)}
