"""Leave sentences out of a corpus that SentencePiece does not learn from, and say how many were."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import sub

from bpe_cli import _core
from bpe_cli.errors import TrainingError
from bpe_cli.support.blocks import Block
from bpe_cli.support.messages import plural

RESERVED = "▅"
"""What SentencePiece writes for a character without a piece; sentences that have it are left out."""


@dataclass(slots=True)
class LeftOut:
    """How many sentences were left out, and of how many. Empty ones are not counted.

    Attributes:
        longest: The most bytes that a sentence may have.
        sentences: How many sentences there were.
        longer: How many of them had more bytes.
        reserved: How many others had the reserved text in them.
    """

    longest: int = 0
    sentences: int = 0
    longer: int = 0
    reserved: int = 0

    def add(self, other: LeftOut) -> None:
        """Add the numbers of other sentences, which were chosen in the same way."""
        self.longest = other.longest
        self.sentences += other.sentences
        self.longer += other.longer
        self.reserved += other.reserved

    @property
    def notes(self) -> tuple[str, ...]:
        """How many sentences were left out for each reason; nothing if none were.

        >>> LeftOut(4192, sentences=21, longer=20).notes
        ('20 of 21 sentences were left out for having more than max_sentence_length=4192 bytes',)
        >>> LeftOut(4192, sentences=21, reserved=1).notes
        ('1 of 21 sentences was left out for having the character ▅ (U+2585)',)
        """
        reasons = (
            (self.longer, f"more than max_sentence_length={self.longest} bytes"),
            (self.reserved, f"the character {RESERVED} (U+{ord(RESERVED):04X})"),
        )
        return tuple(
            f"{number:,} of {plural(self.sentences, 'sentence')} {'was' if number == 1 else 'were'} "
            f"left out for having {reason}"
            for number, reason in reasons
            if number
        )

    def refuse_nothing(self, unique: int) -> None:
        """Check that there is something to train on, if sentences were left out.

        Args:
            unique: How many different pieces the others have.

        Raises:
            TrainingError: if they have none; the message says why sentences were left out.
        """
        if unique or not self.notes:
            return
        rest = "; the others have no text" if self.longer + self.reserved < self.sentences else ""
        hint = "allow longer ones with `max_sentence_length=N`, or divide the text into shorter lines"
        raise TrainingError(
            f"there is nothing to train on: {'; '.join(self.notes)}{rest}", hint=hint if self.longer else None
        )


def without(blocks: Iterable[Block], longest: int, reserved: bytes, left_out: LeftOut) -> Iterator[Block]:
    """Leave out documents that are empty, longer than ``longest`` bytes, or have a reserved text in them.

    No more of a document is held than a block and ``longest`` bytes. Those that are not empty are counted in
    ``left_out``.
    """
    left_out.longest = longest
    held = bytearray()  # what there is of a document that goes on
    for block in blocks:
        first, end = int(block.continued), block.ended
        if block.continued:
            held += block.data[: block.ends[0]]
            if end:
                yield from _usable(held, longest, reserved, left_out)
                held.clear()
        if end > first:
            data, ends = _core.usable_documents(block, first, end, longest, reserved)
            _count(block.ends, first, end, len(ends), left_out)
            if len(ends):
                yield Block(data, array("Q", memoryview(ends)))
        if block.unfinished:
            if len(block.ends) > first:
                held += block.data[len(block.data) - block.open_bytes :]
            del held[longest + 1 :]
    yield from _usable(held, longest, reserved, left_out)


def _usable(document: bytearray, longest: int, reserved: bytes, left_out: LeftOut) -> Iterator[Block]:
    """Yield a block with the document, unless it is to be left out."""
    usable = 0 < len(document) <= longest and reserved not in document
    _count(array("Q", [len(document)]), 0, 1, int(usable), left_out)
    if usable:
        yield Block.of([bytes(document)])


def _count(ends: array[int], first: int, end: int, kept: int, left_out: LeftOut) -> None:
    """Count the documents from ``first`` to ``end``, so many of which were kept."""
    empty = longer = 0
    if kept < end - first:
        starts = ends[first - 1 : end - 1] if first else array("Q", [0, *ends[: end - 1]])
        lengths = list(map(sub, ends[first:end], starts))
        empty, longer = lengths.count(0), sum(map(left_out.longest.__lt__, lengths))
    left_out.sentences += end - first - empty
    left_out.longer += longer
    left_out.reserved += end - first - empty - longer - kept
