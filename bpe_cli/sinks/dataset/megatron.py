"""Write ids as Megatron-LM reads them: the numbers in OUT.bin, and in OUT.idx where each document lies.

The format is that of ``megatron.core.datasets.indexed_dataset`` (Megatron-LM, core 0.5 and later): the index begins
with ``MMIDIDX``, a version of 1, the type of the numbers, and how many sequences and boundaries of documents there are;
then come the length of each sequence (int32), its place in OUT.bin in bytes (int64), and the number of the first
sequence of each document, with how many sequences there are at the end (int64). All is little-endian.

A document is one sequence here, as ``preprocess_data.py`` makes them; one without ids has none. Where the pieces of
rows are asked for, as ``spans``, a row is a document there, and its sequences are the pieces of documents that it is
made of; what only fills it is its last sequence.

A mask is written in the same way beside the ids, in OUT.mask.bin and OUT.mask.idx, with numbers of one byte.
"""

from __future__ import annotations

import os
import sys
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.sinks.dataset.documents import LARGEST_I32, EndsSink, Row, highest_id, int32_dtype, rows_of
from bpe_cli.sinks.numbers import BinSink
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
    from bpe_cli.sinks.beside import Beside
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer

_MAGIC = b"MMIDIDX\0\0"
_CODES: dict[str, int] = {"u16": 8, "u32": 4, "u8": 1}
"""uint16 and int32, there being no uint32; and uint8, of masks."""

_LARGEST_OF_U16 = 65_500
"""Vocabularies of fewer tokens are stored as uint16 there."""


class MegatronSink(EndsSink):
    """Write the numbers, and at the end the index.

    Raises:
        UsageError: if an id does not fit into int32 or the requested type.
        InputError: if a document has more ids than an int32 can count.
    """

    def __init__(self, output: Output, index: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._index = Index(index)

    @staticmethod
    def dtype_for(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose the type of the numbers as Megatron-LM does: by the size of the vocabulary.

        Raises:
            UsageError: if an id does not fit into int32 or the requested type.
        """
        dtype = int32_dtype("megatron", tokenizer, options)
        few = highest_id(tokenizer, options) < _LARGEST_OF_U16
        return options.dtype or ("u16" if dtype == "u16" and few else "u32")

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        if self._parallel is not None and "spans" in self.options.columns:
            for row in rows_of(self._parallel, ends):
                self._index.add(row)
            BinSink._write(self, block, ids, ends)
        else:
            super()._write(block, ids, ends)

    def _end(self, lengths: list[int]) -> None:
        self._index.extend(lengths)

    def finish(self) -> None:
        """Write the index, and flush both."""
        self._index.write(self.dtype)
        super().finish()


class MegatronMask:
    """Write the masks of rows as a data set of its own, each as long as its row."""

    def __init__(self, output: Output, index: Output, options: SinkOptions) -> None:
        self._output = output
        self._index = Index(index)
        self._spans = "spans" in options.columns

    def write(self, ends: memoryview, beside: Beside) -> None:
        """Write the masks of a block's rows."""
        for row in rows_of(beside, ends):
            self._output.write(bytes(row.length) if row.mask is None else row.mask)
            if self._spans:
                self._index.add(row)
            else:
                self._index.end(row.length)

    def finish(self) -> None:
        """Write the index, and flush both."""
        self._index.write("u8")
        self._output.flush()


class Index:
    """The index of a file of numbers, which is written at the end."""

    def __init__(self, output: Output) -> None:
        """Begin without documents."""
        self._output = output
        self._lengths = array("i")
        self._boundaries = array("q", [0])

    def add(self, row: Row) -> None:
        """Add a document whose sequences are the pieces of a row."""
        lengths = [row.length] if row.pieces is None else [*row.pieces]
        self.end(*lengths, row.length - sum(lengths))

    def extend(self, lengths: list[int]) -> None:
        """Add documents of one sequence each.

        Raises:
            InputError: if one has more ids than an int32 can count.
        """
        if 0 in lengths or max(lengths) > LARGEST_I32:
            for length in lengths:
                self.end(length)
            return
        count = len(self._lengths)
        self._lengths.extend(lengths)
        self._boundaries.extend(range(count + 1, count + len(lengths) + 1))

    def end(self, *lengths: int) -> None:
        """Add a document of sequences that have so many ids; those without are left out.

        Raises:
            InputError: if one has more ids than an int32 can count.
        """
        for length in lengths:
            if length > LARGEST_I32:
                raise InputError(f"a document has {length:,} ids, and megatron counts to {LARGEST_I32:,}")
            if length:
                self._lengths.append(length)
        self._boundaries.append(len(self._lengths))

    def write(self, dtype: str) -> None:
        """Write it, and flush."""
        width = {"u8": 1, "u16": 2, "u32": 4}[dtype]
        ends = accumulate(self._lengths, initial=0)
        places = array("q", (width * end for end, _ in zip(ends, self._lengths, strict=False)))
        counts = array("Q", [len(self._lengths), len(self._boundaries)])
        tables = (self._lengths, places, self._boundaries)
        if sys.byteorder == "big":
            for table in (counts, *tables):
                table.byteswap()
        self._output.write(_MAGIC + (1).to_bytes(8, "little") + bytes([_CODES[dtype]]) + counts.tobytes())
        for table in tables:
            self._output.write(table.tobytes())
        self._output.flush()


def read_lengths(path: str) -> array[int]:
    """Read the length of each sequence (int32) from an index.

    Raises:
        InputError: if the index cannot be read, or is damaged.
    """
    head = len(_MAGIC) + 8 + 1
    try:
        with open(path, "rb") as file:
            begin = file.read(head + 16)
            count = int.from_bytes(begin[head : head + 8], "little")
            lengths = array("i")
            if begin[:9] != _MAGIC or os.fstat(file.fileno()).st_size < head + 16 + 12 * count:
                raise InputError(f"{show_path(path)} is not the index of a data set, or is damaged")
            lengths.frombytes(file.read(4 * count))
    except OSError as error:
        raise cannot_read(path, error) from error
    if sys.byteorder == "big":
        lengths.byteswap()
    return lengths
