"""What runs beside ids on their way to a data set: which of them count, and of which documents they are."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Pieces:
    """Which pieces of documents rows are made of. What a row has behind its pieces only fills it.

    Attributes:
        counts: How many pieces each row has (u32).
        lengths: How many ids each piece has, row after row (u64).
    """

    counts: array[int]
    lengths: array[int]

    def rows(self) -> Iterator[array[int]]:
        """Yield the lengths of the pieces of each row."""
        start = 0
        for count in self.counts:
            yield self.lengths[start : start + count]
            start += count


@dataclass(frozen=True, slots=True)
class Beside:
    """What runs beside the ids of a block, which then has no open ends.

    Attributes:
        mask: A byte for each id, 1 if the model is to learn it; None if nothing is said of that.
        pieces: What the rows are made of; None if each is a document.
    """

    mask: memoryview | None = None
    pieces: Pieces | None = None


class Strip:
    """Ids (u32), and the mask that runs beside them if there is one: cut and joined together.

    >>> strip = Strip(array("I", [5, 6, 7]), array("B", [0, 1, 1]))
    >>> strip.extend(strip.cut(1, 2))
    >>> strip.drop(1)
    >>> strip.ids.tolist(), strip.mask.tolist()
    ([6, 7, 6], [1, 1, 1])
    """

    __slots__ = ("ids", "mask")

    def __init__(self, ids: Any, mask: Any = None) -> None:
        """Take ids, and a mask of the same length: memoryviews, or arrays, which can grow."""
        self.ids = ids
        self.mask = mask

    @classmethod
    def empty(cls, *, masked: bool) -> Strip:
        """Make one that can grow."""
        return cls(array("I"), array("B") if masked else None)

    def __len__(self) -> int:
        return len(self.ids)

    def cut(self, start: int, end: int) -> Strip:
        """Return a part: of views a view."""
        return Strip(self.ids[start:end], None if self.mask is None else self.mask[start:end])

    def extend(self, other: Strip) -> None:
        """Put another one behind this one, which must be able to grow."""
        _extend(self.ids, other.ids)
        if self.mask is not None and other.mask is not None:
            _extend(self.mask, other.mask)

    def drop(self, count: int) -> None:
        """Remove ids from the start."""
        del self.ids[:count]
        if self.mask is not None:
            del self.mask[:count]


def _extend(numbers: array[int], others: array[int] | memoryview) -> None:
    """Put numbers behind others of the same width; by bytes, since an array takes those of a view one by one."""
    if isinstance(others, memoryview):
        numbers.frombytes(others.cast("B"))
    else:
        numbers.extend(others)
