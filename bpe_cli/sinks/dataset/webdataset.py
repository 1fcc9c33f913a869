"""Write ids as a tar archive that WebDataset reads: a member for each document, a NumPy array.

Members are called PART-NUMBER.tokens.npy: what is before the first dot is the key of a sample, and no two of a data set
have the same; the last ending says how it is decoded. They have no time, no owner, and the rights of any file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bpe_cli.sinks.dataset.documents import RowsSink
from bpe_cli.sinks.numbers import HEADER_BYTES, header

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import SinkOptions
    from bpe_cli.tokenizer import Tokenizer

_BLOCK = 512


class WebDatasetSink(RowsSink):
    """Write an archive."""

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._stem = os.path.basename(output.path or "part").partition(".")[0]
        self._members = 0

    def _write_row(self, row: memoryview) -> None:
        from tarfile import GNU_FORMAT, TarInfo

        member = TarInfo(f"{self._stem}-{self._members:09}.tokens.npy")
        member.size = HEADER_BYTES + len(row)
        self._members += 1
        self.output.write(member.tobuf(GNU_FORMAT) + header(self.dtype, len(row) // self.width))
        self.output.write(row)
        self.output.write(bytes(-member.size % _BLOCK))

    def finish(self) -> None:
        """Write the end of the archive, and flush."""
        self.output.write(bytes(2 * _BLOCK))
        super().finish()
