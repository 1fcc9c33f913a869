"""Write ids as Megatron-LM reads them: the numbers in OUT.bin, and in OUT.idx where each document lies.

The format is that of ``megatron.core.datasets.indexed_dataset`` (Megatron-LM, core 0.5 and later): the index begins
with ``MMIDIDX``, a version of 1, the type of the numbers, and how many sequences and boundaries of documents there are;
then come the length of each sequence (int32), its place in OUT.bin in bytes (int64), and the number of the first
sequence of each document, with how many sequences there are at the end (int64). All is little-endian.

A document is one sequence here, as ``preprocess_data.py`` makes them; one without ids has none.
"""

from __future__ import annotations

import os
import sys
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.sinks.dataset.documents import LARGEST_I32, EndsSink, highest_id, int32_dtype
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
    from bpe_cli.tokenizer import Tokenizer

_MAGIC = b"MMIDIDX\0\0"
_CODES: dict[Dtype, int] = {"u16": 8, "u32": 4}
"""uint16 and int32; there is no uint32."""

_LARGEST_OF_U16 = 65_500
"""Vocabularies of fewer tokens are stored as uint16 there."""


class MegatronSink(EndsSink):
    """Write the numbers, and at the end the index.

    Raises:
        UsageError: if an id does not fit into int32, or into the type that was asked for.
        InputError: if a document has more ids than an int32 can count.
    """

    def __init__(self, output: Output, index: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._index = index
        self._lengths = array("i")
        self._boundaries = array("q", [0])

    @staticmethod
    def dtype_for(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose the type of the numbers as Megatron-LM does: by the size of the vocabulary.

        Raises:
            UsageError: if an id does not fit into int32, or into the type that was asked for.
        """
        dtype = int32_dtype("megatron", tokenizer, options)
        few = highest_id(tokenizer, options) < _LARGEST_OF_U16
        return options.dtype or ("u16" if dtype == "u16" and few else "u32")

    def _end(self, length: int) -> None:
        if length > LARGEST_I32:
            raise InputError(f"a document has {length:,} ids, and megatron counts to {LARGEST_I32:,}")
        if length:
            self._lengths.append(length)
        self._boundaries.append(len(self._lengths))

    def finish(self) -> None:
        """Write the index, and flush both."""
        width = 2 if self.dtype == "u16" else 4
        ends = accumulate(self._lengths, initial=0)
        places = array("q", (width * end for end, _ in zip(ends, self._lengths, strict=False)))
        counts = array("Q", [len(self._lengths), len(self._boundaries)])
        tables = (self._lengths, places, self._boundaries)
        if sys.byteorder == "big":
            for table in (counts, *tables):
                table.byteswap()
        self._index.write(_MAGIC + (1).to_bytes(8, "little") + bytes([_CODES[self.dtype]]) + counts.tobytes())
        for table in tables:
            self._index.write(table.tobytes())
        self._index.flush()
        super().finish()


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
