"""What the formats of data sets have in common that know of documents: where each ends, or each as a row."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.sinks.numbers import BinSink, choose_dtype
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Buffer

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
    from bpe_cli.sinks.beside import Beside
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer

LARGEST_I32 = (1 << 31) - 1
LARGEST_U32 = (1 << 32) - 1


class EndsSink(BinSink):
    """Write the numbers of all documents one behind another, and hear how long each document is."""

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._open = 0  # the ids of the document that goes on

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        eot = int(self.options.edges.eot is not None)
        closed = ends[: block.ended].tolist()
        if closed:
            lengths = [end - start + eot for start, end in pairwise((-self._open, *closed))]
            self._open = 0
            self._end(lengths)
        self._open += len(ids) - (closed[-1] if closed else 0)
        super()._write(block, ids, ends)

    @abstractmethod
    def _end(self, lengths: list[int]) -> None:
        """Note that documents have ended, and how many ids each has."""


@dataclass(frozen=True, slots=True)
class Row:
    """What runs beside the ids of a row.

    Attributes:
        length: How many ids it has.
        mask: A byte for each, 1 if the model is to learn it; None if nothing is said of that.
        pieces: How many ids each piece of a document has; what is left only fills the row. None: it is a document.
    """

    length: int
    mask: memoryview | None = None
    pieces: Sequence[int] | None = None


class RowsSink(BinSink):
    """Write documents, each by itself: one at a time is held in memory.

    Attributes:
        width: How many bytes a number has.
    """

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self.width = 2 if self.dtype == "u16" else 4
        self._ends = array("Q")  # of the documents that end in the block, in bytes
        self._ended = 0  # how many of them were written
        self._place = 0  # how many bytes of the block have come
        self._begun = bytearray()  # the numbers of the document that goes on
        self._rows: Iterator[Row] | None = None  # what runs beside the rows that end in the block

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        eot, width = int(self.options.edges.eot is not None), self.width
        closed = enumerate(ends[: block.ended], 1)
        self._ends = array("Q", ((end + eot * number) * width for number, end in closed))
        self._ended = self._place = 0
        self._rows = None if self._parallel is None else rows_of(self._parallel, ends)
        super()._write(block, ids, ends)

    def _write_numbers(self, data: Buffer) -> None:
        view = memoryview(data).cast("B")
        start = 0
        first, self._ended = self._ended, bisect_right(self._ends, self._place + len(view), self._ended)
        for end in (end - self._place for end in self._ends[first : self._ended]):
            if self._begun:
                self._begun += view[start:end]
                row, self._begun = memoryview(self._begun), bytearray()
            else:
                row = view[start:end]
            self._write_row(row, Row(len(row) // self.width) if self._rows is None else next(self._rows))
            start = end
        self._begun += view[start:]
        self._place += len(view)

    @abstractmethod
    def _write_row(self, numbers: memoryview, row: Row) -> None:
        """Write the numbers of a whole document, and what runs beside them."""


def rows_of(beside: Beside, ends: Sequence[int] | memoryview) -> Iterator[Row]:
    """Yield what runs beside each row of a block."""
    pieces = None if beside.pieces is None else beside.pieces.rows()
    start = 0
    for end in ends:
        mask = None if beside.mask is None else beside.mask[start:end]
        yield Row(end - start, mask, None if pieces is None else next(pieces))
        start = end


def highest_id(tokenizer: Tokenizer, options: SinkOptions) -> int:
    """Return the highest id that can be among those written."""
    return max(tokenizer.vocab_size - 1, options.edges.eot or 0, options.edges.bos or 0)


def int32_dtype(name: str, tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
    """Choose the type of the numbers for a format in which ``u32`` is int32.

    Raises:
        UsageError: if an id does not fit into int32 or the requested type.
    """
    dtype = choose_dtype(tokenizer, options)
    highest = highest_id(tokenizer, options)
    if highest > LARGEST_I32:
        raise UsageError(f"{name} stores ids as int32, and the tokenizer's run to {highest:,}")
    return dtype
