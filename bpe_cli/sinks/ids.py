"""Write a line of decimal ids per document, with spaces between; an empty document is an empty line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.sinks.base import Sink

if TYPE_CHECKING:
    from bpe_cli.support.blocks import Block


class IdsSink(Sink):
    """Write ids as text."""

    _begun = False  # whether the line at hand has an id

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        lines, self._begun = _core.write_rows(
            ids, ends, b"", b" ", b"\n", continued=block.continued, begun=self._begun, unfinished=block.unfinished
        )
        self.output.write(lines)


make = IdsSink
