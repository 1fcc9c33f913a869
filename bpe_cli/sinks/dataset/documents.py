"""What the formats of data sets have in common that know of documents: where each ends, or each as a row."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.sinks.numbers import BinSink, choose_dtype

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
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
        start = 0
        for number, end in enumerate(ends):
            self._open += end - start
            start = end
            if number < block.ended:
                self._end(self._open + eot)
                self._open = 0
        super()._write(block, ids, ends)

    @abstractmethod
    def _end(self, length: int) -> None:
        """Note that a document has ended, and how many ids it has."""


class RowsSink(BinSink):
    """Write documents, each by itself: one at a time is held in memory.

    Attributes:
        width: How many bytes a number has.
    """

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self.width = 2 if self.dtype == "u16" else 4
        self._ends = array("Q")  # of the documents that end in the block, in bytes
        self._begun = bytearray()  # the numbers of the document that goes on

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        eot, width = int(self.options.edges.eot is not None), self.width
        closed = enumerate(ends[: block.ended], 1)
        self._ends = array("Q", ((end + eot * number) * width for number, end in closed))
        super()._write(block, ids, ends)

    def _write_numbers(self, data: Buffer) -> None:
        view = memoryview(data).cast("B")
        start = 0
        for end in self._ends:
            if self._begun:
                self._begun += view[start:end]
                self._write_row(memoryview(self._begun))
                self._begun = bytearray()
            else:
                self._write_row(view[start:end])
            start = end
        self._begun += view[start:]

    @abstractmethod
    def _write_row(self, row: memoryview) -> None:
        """Write the numbers of a whole document."""


def highest_id(tokenizer: Tokenizer, options: SinkOptions) -> int:
    """Return the highest id that can be among those written."""
    return max(tokenizer.vocab_size - 1, options.edges.eot or 0, options.edges.bos or 0)


def int32_dtype(name: str, tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
    """Choose the type of the numbers for a format in which ``u32`` is int32.

    Raises:
        UsageError: if an id does not fit into int32, or into the type that was asked for.
    """
    dtype = choose_dtype(tokenizer, options)
    highest = highest_id(tokenizer, options)
    if highest > LARGEST_I32:
        raise UsageError(f"{name} stores ids as int32, and the tokenizer's run to {highest:,}")
    return dtype
