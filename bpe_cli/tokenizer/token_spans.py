"""State where the tokens and the pieces of one text lie in it, in columns: a few bytes for each, and no object."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_cli.support.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Placed:
    """The tokens of a text in order, one column for each thing to know.

    Attributes:
        ids: Their ids (u32).
        starts: Byte offset in the text of the first byte of each (u64).
        ends: Byte offset after its last byte (u64).
        special: For each one byte: 1 for a special or added token that was found in the text, else 0.
    """

    ids: memoryview
    starts: Sequence[int]
    ends: Sequence[int]
    special: bytes

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class PieceSpans:
    """The pieces of a text in order.

    Attributes:
        text: The text as the stages before the model made it.
        starts: Where each piece begins in that.
        ends: Where it ends in that.
        source_starts: Where what it stands for begins in the text as it was given.
        source_ends: Where that ends.
    """

    text: bytes
    starts: Sequence[int]
    ends: Sequence[int]
    source_starts: Sequence[int]
    source_ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.ends)

    def contents(self) -> list[bytes]:
        """Return the bytes of each piece."""
        return [self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]
