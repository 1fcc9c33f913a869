"""Divide or pack the ids of documents into the sequences that a trainer reads.

A document comes with the tokens around it. What a sequence holds depends on nothing but the documents of its part and
their order, so it is the same whatever the blocks and whatever runs the part.

Best fit is that of Ding et al. 2024, "Fewer Truncations Improve Language Modeling": no document is cut that fits into a
sequence; one that does not is cut into whole sequences and a rest. Pieces are put, the longest first, each into the
sequence in which it leaves the least room. That is done among so many ids at a time as fit into memory (``WINDOW``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from bpe_cli.errors import UsageError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.jobs.prepare.keeping import KeptValues
    from bpe_cli.sinks.base import Sink

Way = Literal["truncate", "split", "concatenate", "best-fit"]

WINDOW = 1 << 22
"""The ids among which best fit looks for the best place; more of them hardly fill sequences better."""

_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class SequenceOptions:
    """How documents become sequences.

    Attributes:
        length: How many ids a sequence has at most.
        way: ``truncate`` keeps the first ids of a document; ``split`` cuts it; ``concatenate`` cuts the ids of all
            documents, one after the other; ``best-fit`` puts whole documents together.
        pad: The id that fills sequences up to the length; None to leave them shorter.

    Raises:
        UsageError: if a sequence would have no ids.
    """

    length: int
    way: Way = "concatenate"
    pad: int | None = None

    def __post_init__(self) -> None:
        if self.length < 1:
            raise UsageError("a sequence has at least 1 id")


class Sequences(ABC):
    """Take the ids of documents as a sink does, and hand sequences on to one.

    Attributes:
        documents: How many documents are complete.
        left_out: How many ids are in no sequence, because documents were truncated.
        padding: How many ids only fill sequences.
        kept: Told of which document each sequence is, where each is of one; None if no values are kept.
    """

    is_binary = True
    needs_ids = True

    def __init__(self, sink: Sink, options: SequenceOptions) -> None:
        """Hand sequences to ``sink``."""
        self.options = options
        self.kept: KeptValues | None = None
        self.documents = 0
        self.left_out = 0
        self.padding = 0
        self._sink = sink
        self._ids = array("I")
        self._ends = array("Q")

    def write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        """Take the ids of a block's documents: see ``Sink.write``."""
        self.documents += block.ended
        self._take(block, ids, ends)

    @abstractmethod
    def _take(self, block: Block, ids: memoryview, ends: memoryview) -> None: ...

    def finish(self) -> None:
        """Hand on what is left."""
        self._flush()

    def _add(self, piece: memoryview | array[int]) -> None:
        """Add a sequence."""
        if self.kept is not None:
            self.kept.begin_row()
        self._ids.extend(piece)
        if self.options.pad is not None and len(piece) < self.options.length:
            more = self.options.length - len(piece)
            self._ids.extend(array("I", [self.options.pad]) * more)
            self.padding += more
        self._ends.append(len(self._ids))
        if len(self._ids) >= _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._ends:
            self._sink.write(Block(b"", self._ends), memoryview(self._ids), memoryview(self._ends))
            self._ids, self._ends = array("I"), array("Q")


class _Cut(Sequences):
    """Cut each document into pieces of the length, and a rest."""

    def __init__(self, sink: Sink, options: SequenceOptions) -> None:
        super().__init__(sink, options)
        self._open = array("I")  # of the document that goes on: a sequence at most
        self._cut = 0  # how many pieces it has given

    def _pieces(self, block: Block, ids: memoryview, ends: memoryview) -> Iterator[tuple[int, memoryview | array[int]]]:
        """Yield the pieces that are complete: the number of each within its document, and its ids."""
        start, length, ended = 0, self.options.length, block.ended
        for number, end in enumerate(ends):
            done = number < ended
            if done and not self._open and not self._cut and end - start <= length:
                if end > start:
                    yield 0, ids[start:end]
                if self.kept is not None:
                    self.kept.end_document()
                start = end
                continue
            self._open.extend(ids[start:end])
            start, place = end, 0
            while len(self._open) - place > length:
                yield self._cut, self._open[place : place + length]
                self._cut, place = self._cut + 1, place + length
            del self._open[:place]
            if done:
                if self._open:
                    yield self._cut, self._open
                if self.kept is not None:
                    self.kept.end_document()
                self._open, self._cut = array("I"), 0


class _Split(_Cut):
    """Each piece of a document is a sequence."""

    def _take(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        for _, piece in self._pieces(block, ids, ends):
            self._add(piece)


class _Truncate(_Cut):
    """The first piece of a document is a sequence, and the others are left out."""

    def _take(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        for number, piece in self._pieces(block, ids, ends):
            if number == 0:
                self._add(piece)
            else:
                self.left_out += len(piece)


class _Concatenate(Sequences):
    """The ids of all documents, one after the other, cut at each multiple of the length."""

    def __init__(self, sink: Sink, options: SequenceOptions) -> None:
        super().__init__(sink, options)
        self._held = array("I")

    def _take(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        length = self.options.length
        self._held.extend(ids)
        whole = len(self._held) // length * length
        if whole:
            out, self._held = self._held[:whole], self._held[whole:]
            ends_of = array("Q", range(length, whole + 1, length))
            self._sink.write(Block(b"", ends_of), memoryview(out), memoryview(ends_of))

    def finish(self) -> None:
        if self._held:
            self._add(self._held)
        super().finish()


class _BestFit(_Cut):
    """Whole documents put together where they leave the least room."""

    def __init__(self, sink: Sink, options: SequenceOptions) -> None:
        super().__init__(sink, options)
        self._waiting: list[array[int]] = []
        self._size = 0

    def _take(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        for _, piece in self._pieces(block, ids, ends):
            if self._size + len(piece) > WINDOW:
                self._pack()
            self._waiting.append(array("I", piece))
            self._size += len(piece)

    def finish(self) -> None:
        self._pack()
        super().finish()

    def _pack(self) -> None:
        """Make sequences of the pieces that wait, in the order of the first document in each."""
        for numbers in best_fit([len(piece) for piece in self._waiting], self.options.length):
            together = array("I")
            for number in numbers:
                together += self._waiting[number]
            self._add(together)
        self._waiting, self._size = [], 0


def best_fit(sizes: list[int], length: int) -> list[list[int]]:
    """Put pieces together so that few sequences hold them: best fit, the longest piece first.

    Args:
        sizes: How long each piece is, at most ``length``.
        length: How much a sequence holds.

    Returns:
        The numbers of the pieces in each sequence, ascending; sequences by their first piece.

    >>> best_fit([3, 6, 4, 2, 5], 8)
    [[0, 4], [1, 3], [2]]
    """
    sequences: list[list[int]] = []
    rooms: list[tuple[int, int]] = []  # the room that is left in a sequence, and its number; ascending
    for number in sorted(range(len(sizes)), key=lambda number: (-sizes[number], number)):
        size = sizes[number]
        at = bisect_left(rooms, (size, -1))
        if at < len(rooms):
            room, place = rooms.pop(at)
            sequences[place].append(number)
        else:
            room, place = length, len(sequences)
            sequences.append([number])
        if room > size:
            insort(rooms, (room - size, place))
    return sorted(sorted(sequence) for sequence in sequences)


_WAYS: dict[Way, type[Sequences]] = {
    "truncate": _Truncate,
    "split": _Split,
    "concatenate": _Concatenate,
    "best-fit": _BestFit,
}


def sequences(sink: Sink, options: SequenceOptions, kept: KeptValues | None = None) -> Sequences:
    """Return what makes sequences and hands them to a sink; it says of which document each is, if values are kept."""
    made = _WAYS[options.way](sink, options)
    made.kept = kept
    return made
