"""Write one 1-D NumPy array of u16 or u32 (format version 1.0), without NumPy.

The header comes first with room to spare, and is written again when the length is known. The format:
https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.errors import OutputError
from bpe_cli.sinks.base import Dtype, SinkOptions
from bpe_cli.sinks.bin import BinSink

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.tokenizer import Tokenizer

HEADER_BYTES = 128
"""Length of the header: a multiple of 64 with room for any length of array."""

_DESCRIPTIONS: dict[Dtype, str] = {"u16": "<u2", "u32": "<u4"}


class NpySink(BinSink):
    """Write ids as one array.

    Raises:
        OutputError: if the output is a pipe or the like, whose header could not be completed.
    """

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        if not output.rewritable:
            raise OutputError(
                f"cannot write npy to {output.name}: its header is completed at the end, and this is not a plain file",
                hint='give a file with `output=OUT`, or use `to="bin"`',
            )
        output.write(header(self.dtype, 0))

    def finish(self) -> None:
        """Complete the header, and flush.

        Raises:
            OutputError: if it cannot be written.
        """
        self.output.rewrite_start(header(self.dtype, self.tokens))
        super().finish()


def header(dtype: Dtype, length: int) -> bytes:
    """Make the header of an array of ``length`` numbers.

    >>> header("u16", 3)[10:].decode().rstrip()
    "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }"
    """
    text = f"{{'descr': '{_DESCRIPTIONS[dtype]}', 'fortran_order': False, 'shape': ({length},), }}"
    size = HEADER_BYTES - 10
    return b"\x93NUMPY\x01\x00" + size.to_bytes(2, "little") + text.ljust(size - 1).encode() + b"\n"


make = NpySink
