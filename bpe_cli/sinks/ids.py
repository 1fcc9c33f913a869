"""Write a line of decimal ids per document, with spaces between; an empty document is an empty line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.sinks.base import Sink, parts

if TYPE_CHECKING:
    from bpe_cli.blocks import Block


_FEW = 20_000
"""Ids that are written by the time that importing a faster writer takes."""


class IdsSink(Sink):
    """Write ids as text."""

    _begun = False  # whether the line at hand has an id

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        pieces: list[bytes] = []
        for part in parts(block, ids, ends):
            if len(part.ids):
                if self._begun:
                    pieces.append(b" ")
                pieces.append(_written(part.ids.tolist()))
                self._begun = True
            if part.ends:
                pieces.append(b"\n")
                self._begun = False
        self.output.write(b"".join(pieces))


def _written(ids: list[int]) -> bytes:
    """Write ids with spaces between."""
    if len(ids) < _FEW:
        return " ".join(map(str, ids)).encode()
    import orjson  # which prints numbers several times faster, once it is there

    return orjson.dumps(ids)[1:-1].replace(b",", b" ")


make = IdsSink
