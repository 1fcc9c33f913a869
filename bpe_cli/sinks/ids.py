"""Write a line of decimal ids per document, with spaces between; an empty document is an empty line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.sinks.base import Sink, parts

if TYPE_CHECKING:
    from bpe_cli.blocks import Block


class IdsSink(Sink):
    """Write ids as text."""

    _begun = False  # whether the line at hand has an id

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        import orjson

        pieces: list[bytes] = []
        for part in parts(block, ids, ends):
            if len(part.ids):
                if self._begun:
                    pieces.append(b" ")
                # orjson prints numbers several times faster than str() does.
                pieces.append(orjson.dumps(part.ids.tolist())[1:-1].replace(b",", b" "))
                self._begun = True
            if part.ends:
                pieces.append(b"\n")
                self._begun = False
        self.output.write(b"".join(pieces))


make = IdsSink
