"""Write what runs beside ids into files of its own, for formats whose first file holds nothing but ids.

A mask is a byte for each id: raw (``.mask.bin``, and ``.ds.loss`` as datatrove has it), or a NumPy array of uint8
(``.mask.npy``). Spans (``.spans.npy``) are an array of int64 with a row for each piece of a document in a sequence:
where among the ids of the part it begins, and where it ends. Ids that are in no span only fill sequences.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from bpe_cli.sinks.dataset.documents import rows_of
from bpe_cli.sinks.numbers import header

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import SinkOptions
    from bpe_cli.sinks.beside import Beside
    from bpe_cli.sinks.numbers import BinSink
    from bpe_cli.support.blocks import Block


class SideFile(Protocol):
    """The interface of what writes such a file."""

    def write(self, ends: memoryview, beside: Beside) -> None:
        """Write what runs beside the rows of a block."""

    def finish(self) -> None:
        """Complete the file, and flush."""


class RawMask:
    """Write masks, a byte for each id."""

    def __init__(self, output: Output, options: SinkOptions) -> None:
        self._output = output
        self._count = 0

    def write(self, ends: memoryview, beside: Beside) -> None:
        """Write the masks of a block's rows."""
        count = ends[-1] if len(ends) else 0
        self._output.write(bytes(count) if beside.mask is None else beside.mask)
        self._count += count

    def finish(self) -> None:
        """Flush."""
        self._output.flush()


class NpyMask(RawMask):
    """Write masks as one array."""

    def __init__(self, output: Output, options: SinkOptions) -> None:
        super().__init__(output, options)
        output.write(header("u8", 0))

    def finish(self) -> None:
        """Complete the header, and flush."""
        self._output.rewrite_start(header("u8", self._count))
        super().finish()


class Spans:
    """Write where the pieces of documents lie."""

    def __init__(self, output: Output, options: SinkOptions) -> None:
        self._output = output
        self._place = self._count = 0
        output.write(header("i64", 0, 2))

    def write(self, ends: memoryview, beside: Beside) -> None:
        """Write the spans of a block's rows."""
        spans = array("q")
        for row in rows_of(beside, ends):
            start = self._place
            for length in [row.length] if row.pieces is None else row.pieces:
                if length:
                    spans.extend((start, start + length))
                start += length
            self._place += row.length
        self._count += len(spans) // 2
        if sys.byteorder == "big":
            spans.byteswap()
        self._output.write(spans.tobytes())

    def finish(self) -> None:
        """Complete the header, and flush."""
        self._output.rewrite_start(header("i64", self._count, 2))
        self._output.flush()


class WithSideFiles:
    """A sink with files beside it."""

    is_binary = True

    def __init__(self, sink: BinSink, files: Sequence[SideFile]) -> None:
        """Hand all on to a sink, and what runs beside the ids to files."""
        self._sink = sink
        self._files = files
        self.dtype = sink.dtype

    @property
    def documents(self) -> int:
        """How many rows are complete."""
        return self._sink.documents

    @property
    def tokens(self) -> int:
        """How many ids were written."""
        return self._sink.tokens

    @property
    def divided(self) -> int:
        """How many eots lie inside documents."""
        return self._sink.divided

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        """Write rows, and what runs beside them, without which they are documents and nothing is to be learnt."""
        from bpe_cli.sinks.beside import Beside

        beside = Beside() if beside is None else beside
        self._sink.write(block, ids, ends, beside)
        for file in self._files:
            file.write(ends, beside)

    def finish(self) -> None:
        """Complete all files."""
        for file in self._files:
            file.finish()
        self._sink.finish()
