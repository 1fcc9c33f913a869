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
from bpe_cli.sinks.beside import Beside, Pieces, Strip
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.jobs.prepare.keeping import KeptValues
    from bpe_cli.sinks.base import TakesRows

Way = Literal["truncate", "split", "concatenate", "best-fit"]

WINDOW = 1 << 22
"""The ids among which best fit looks for the best place; more of them hardly fill sequences better."""

LONGEST = (1 << 63) - 1
"""The maximum length of a sequence: lengths are signed numbers of 64 bits in JSON and in arrays."""

LONGEST_PADDED = (1 << 31) - 1
"""The maximum length of a sequence that is padded: offsets in an Arrow list, and positions, have 32 bits."""

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
        UsageError: if a sequence would have no ids, or more than can be counted or filled up.
    """

    length: int
    way: Way = "concatenate"
    pad: int | None = None

    def __post_init__(self) -> None:
        if self.length < 1:
            raise UsageError("a sequence has at least 1 id")
        most = LONGEST if self.pad is None else LONGEST_PADDED
        if self.length > most:
            padded = "" if self.pad is None else "padded "
            raise UsageError(
                f"a {padded}sequence has at most {most:,} ids, not {self.length:,}", hint="use a smaller `length`"
            )


class Sequences(ABC):
    """Take the ids of documents as a sink does, and hand sequences on to one.

    Attributes:
        documents: How many documents are complete.
        left_out: How many ids are in no sequence, because documents were truncated.
        padding: The number of padding ids.
        kept: Told of which document each sequence is, where each is of one; None if no values are kept.
    """

    is_binary = True

    def __init__(
        self, sink: TakesRows, options: SequenceOptions, *, masked: bool = False, pieces: bool = False
    ) -> None:
        """Hand sequences to ``sink``, with the mask of their ids, and with the pieces that they are made of."""
        self.options = options
        self.kept: KeptValues | None = None
        self.documents = 0
        self.left_out = 0
        self.padding = 0
        self._sink = sink
        self._masked = masked
        self._pieces_wanted = pieces
        self._begin()
        self._start()

    def _start(self) -> None:  # noqa: B027  # most hold nothing
        """Begin with nothing held."""

    def _begin(self) -> None:
        """Begin with no rows to hand on."""
        self._rows = self._nothing()
        self._ends = array("Q")
        self._counts, self._lengths = array("I"), array("Q")

    def _nothing(self) -> Strip:
        """Return ids, none so far."""
        return Strip.empty(masked=self._masked)

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        """Take the ids of a block's documents: see ``TakesRows.write``."""
        self.documents += block.ended
        self._take(block, Strip(ids, None if beside is None else beside.mask), ends)

    @abstractmethod
    def _take(self, block: Block, strip: Strip, ends: memoryview) -> None: ...

    def finish(self) -> None:
        """Hand on what is left."""
        self._flush()

    def _add(self, *pieces: Strip) -> None:
        """Add a sequence: the pieces of documents that it is made of."""
        if self.kept is not None:
            self.kept.begin_row()
        start = len(self._rows)
        for piece in pieces:
            self._rows.extend(piece)
            self._lengths.append(len(piece))
        self._counts.append(len(pieces))
        self._end_row(start)

    def _end_row(self, start: int) -> None:
        """End the sequence that began with an id."""
        more = self.options.length - len(self._rows) + start
        if self.options.pad is not None and more:
            try:
                fill = array("B", [0]) * more
                self._rows.extend(Strip(array("I", [self.options.pad]) * more, fill if self._masked else None))
            except MemoryError as error:
                raise UsageError(
                    f"there is not enough memory to pad a sequence to {self.options.length:,} ids",
                    hint="use a smaller `length`",
                ) from error
            self.padding += more
        self._ends.append(len(self._rows))
        if len(self._rows) >= _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._ends:
            pieces = Pieces(self._counts, self._lengths) if self._pieces_wanted else None
            self._hand_on(self._rows, self._ends, pieces)
            self._begin()

    def _hand_on(self, rows: Strip, ends: array[int], pieces: Pieces | None) -> None:
        mask = None if rows.mask is None else memoryview(rows.mask)
        beside = None if mask is None and pieces is None else Beside(mask, pieces)
        self._sink.write(Block(b"", ends), memoryview(rows.ids), memoryview(ends), beside)


class _Cut(Sequences):
    """Cut each document into pieces of the length, and a rest."""

    def _start(self) -> None:
        self._open = self._nothing()  # of the document that goes on: a sequence at most
        self._cut = 0  # how many pieces it has given

    def _pieces(self, block: Block, strip: Strip, ends: memoryview) -> Iterator[tuple[int, Strip]]:
        """Yield the pieces that are complete: the number of each within its document, and its ids."""
        start, length, ended = 0, self.options.length, block.ended
        for number, end in enumerate(ends):
            done = number < ended
            if done and not self._open and not self._cut and end - start <= length:
                if end > start:
                    yield 0, strip.cut(start, end)
                if self.kept is not None:
                    self.kept.end_document()
                start = end
                continue
            self._open.extend(strip.cut(start, end))
            start, place = end, 0
            while len(self._open) - place > length:
                yield self._cut, self._open.cut(place, place + length)
                self._cut, place = self._cut + 1, place + length
            self._open.drop(place)
            if done:
                if self._open:
                    yield self._cut, self._open
                if self.kept is not None:
                    self.kept.end_document()
                self._open, self._cut = self._nothing(), 0


class _Split(_Cut):
    """Each piece of a document is a sequence."""

    def _take(self, block: Block, strip: Strip, ends: memoryview) -> None:
        for _, piece in self._pieces(block, strip, ends):
            self._add(piece)


class _Truncate(_Cut):
    """The first piece of a document is a sequence, and the others are left out."""

    def _take(self, block: Block, strip: Strip, ends: memoryview) -> None:
        for number, piece in self._pieces(block, strip, ends):
            if number == 0:
                self._add(piece)
            else:
                self.left_out += len(piece)


class _Concatenate(Sequences):
    """The ids of all documents, one after the other, cut at each multiple of the length."""

    def _start(self) -> None:
        self._held = self._nothing()
        self._borders = array("Q")  # where documents end among the ids that are held

    def _take(self, block: Block, strip: Strip, ends: memoryview) -> None:
        length, before = self.options.length, len(self._held)
        self._held.extend(strip)
        if self._pieces_wanted:
            self._borders.extend(before + end for end in ends[: block.ended])
        whole = len(self._held) // length * length
        if whole:
            out = self._held.cut(0, whole)
            self._held.drop(whole)
            ends_of = array("Q", range(length, whole + 1, length))
            self._hand_on(out, ends_of, self._pieces_until(ends_of) if self._pieces_wanted else None)

    def _pieces_until(self, row_ends: array[int]) -> Pieces:
        """Return what rows are made of that begin with the first id that is held; forget their borders."""
        counts, lengths = array("I"), array("Q")
        start = used = 0
        for row_end in row_ends:
            count = 0
            while start < row_end:
                border = self._borders[used] if used < len(self._borders) else row_end
                end = min(border, row_end)
                if end > start:
                    lengths.append(end - start)
                    count, start = count + 1, end
                used += border == end and used < len(self._borders)
            counts.append(count)
        self._borders = array("Q", (border - start for border in self._borders[used:] if border > start))
        return Pieces(counts, lengths)

    def finish(self) -> None:
        if self._held:
            if self._pieces_wanted:
                last = self._pieces_until(array("Q", [len(self._held)]))
                self._counts, self._lengths = last.counts, last.lengths
            self._rows.extend(self._held)
            self._end_row(0)
        super().finish()


class _BestFit(_Cut):
    """Whole documents put together where they leave the least room."""

    def _start(self) -> None:
        super()._start()
        self._waiting: list[Strip] = []
        self._size = 0

    def _take(self, block: Block, strip: Strip, ends: memoryview) -> None:
        for _, piece in self._pieces(block, strip, ends):
            if self._size + len(piece) > WINDOW:
                self._pack()
            kept = self._nothing()
            kept.extend(piece)
            self._waiting.append(kept)
            self._size += len(piece)

    def finish(self) -> None:
        self._pack()
        super().finish()

    def _pack(self) -> None:
        """Make sequences of the pieces that wait, in the order of the first document in each."""
        for numbers in best_fit([len(piece) for piece in self._waiting], self.options.length):
            self._add(*(self._waiting[number] for number in numbers))
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


def sequences(
    sink: TakesRows,
    options: SequenceOptions,
    kept: KeptValues | None = None,
    *,
    masked: bool = False,
    pieces: bool = False,
) -> Sequences:
    """Return what makes sequences and hands them to a sink.

    Args:
        sink: Who takes them.
        options: How they are made.
        kept: Told of which document each sequence is; None if no values are kept.
        masked: Whether a mask runs beside the ids.
        pieces: Whether the sink is to know which pieces of documents a sequence is made of.
    """
    made = _WAYS[options.way](sink, options, masked=masked, pieces=pieces)
    made.kept = kept
    return made
