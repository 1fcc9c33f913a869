"""Write ids as raw little-endian u16 or u32, one after the other, on any machine."""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from bpe_cli.errors import OutputError, UsageError
from bpe_cli.sinks.base import HIGHEST_ID, Dtype, Sink, SinkOptions, parts

if TYPE_CHECKING:
    from bpe_cli.blocks import Block
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.tokenizer import Tokenizer


class BinSink(Sink):
    """Write ids as numbers of a fixed width, with an eot after each document if wanted."""

    is_binary = True

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self.dtype = choose_dtype(tokenizer, options)
        self._eot = b"" if options.eot is None else pack(memoryview(array("I", [options.eot])), self.dtype)

    @property
    def length(self) -> int:
        """How many numbers were written, eots too."""
        return self.tokens + (self.documents if self._eot else 0)

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        data = pack(ids, self.dtype)
        if not self._eot:
            self.output.write(data)
            return
        width = len(self._eot)
        packed = memoryview(data)
        pieces: list[bytes | memoryview] = []
        start = 0
        for part in parts(block, ids, ends, limit=max(len(ids), 1)):
            end = start + width * len(part.ids)
            pieces.append(packed[start:end])
            if part.ends:
                pieces.append(self._eot)
            start = end
        self.output.write(b"".join(pieces))


def choose_dtype(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
    """Choose u16 when every id of the tokenizer fits, else u32; check what was chosen already.

    Raises:
        UsageError: An id does not fit into what was asked for, or the eot is no u32.
    """
    highest = max(tokenizer.vocab_size - 1, options.eot or 0)
    if highest > HIGHEST_ID or (options.eot or 0) < 0:
        raise UsageError(f"{options.eot} cannot be an id")
    if options.dtype == "u16" and highest > 0xFFFF:
        raise UsageError(f"u16 cannot hold the tokenizer's ids, which run to {highest}", hint="use u32")
    return options.dtype or ("u16" if highest <= 0xFFFF else "u32")


def pack(ids: memoryview, dtype: Dtype, byteorder: str = sys.byteorder) -> bytes:
    r"""Pack ids (u32, in the machine's ``byteorder``) as little-endian numbers.

    >>> pack(memoryview(array("I", [1, 515])), "u16")
    b'\x01\x00\x03\x02'

    Raises:
        OutputError: An id does not fit into u16.
    """
    little = byteorder == "little"
    if dtype == "u32":
        if little:
            return ids.tobytes()
        swapped = array("I", ids.tobytes())
        swapped.byteswap()
        return swapped.tobytes()
    halves = ids.cast("B").cast("H")
    low, high = (halves[0::2], halves[1::2]) if little else (halves[1::2], halves[0::2])
    if high.tobytes().strip(b"\0"):
        raise OutputError("an id over 65,535 does not fit into u16", hint="use u32")
    if little:
        return low.tobytes()
    shorts = array("H", low.tobytes())
    shorts.byteswap()
    return shorts.tobytes()


make = BinSink
