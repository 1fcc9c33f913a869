"""Write ids as a tar archive that WebDataset reads: a member for each document, a NumPy array.

Members are called PART-NUMBER.tokens.npy: what is before the first dot is the key of a sample, and no two of a data set
have the same; the last ending says how it is decoded. They have no time, no owner, and the rights of any file. A column
is a member of its own behind that of the ids, called PART-NUMBER.COLUMN.npy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bpe_cli.sinks.dataset.columns import TYPES, ColumnValues
from bpe_cli.sinks.dataset.documents import Row, RowsSink
from bpe_cli.sinks.numbers import KINDS, header

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

    def _write_row(self, numbers: memoryview, row: Row) -> None:
        self._write_member("tokens", header(self.dtype, row.length), numbers)
        if self.options.columns:
            columns = ColumnValues(self.options.columns, self.options.positions)
            columns.add(row)
            for name in columns.columns:
                self._write_member(name, header(KINDS[TYPES[name]], len(columns.of(name))), columns.bytes_of(name))
        self._members += 1

    def _write_member(self, name: str, start: bytes, data: bytes | memoryview) -> None:
        from tarfile import GNU_FORMAT, TarInfo

        member = TarInfo(f"{self._stem}-{self._members:09}.{name}.npy")
        member.size = len(start) + len(data)
        self.output.write(member.tobuf(GNU_FORMAT) + start)
        self.output.write(data)
        self.output.write(bytes(-member.size % _BLOCK))

    def finish(self) -> None:
        """Write the end of the archive, and flush."""
        self.output.write(bytes(2 * _BLOCK))
        super().finish()
