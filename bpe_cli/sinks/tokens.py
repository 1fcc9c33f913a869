"""Write a line of tokens per document in the visible byte alphabet, with spaces between. Reversible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.byte_alphabet import to_visible
from bpe_cli.sinks.base import Sink, SinkOptions, Table, parts

if TYPE_CHECKING:
    from bpe_cli.blocks import Block
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.tokenizer import Tokenizer


class TokensSink(Sink):
    """Write tokens as text. No character of the alphabet is white space, so spaces separate them."""

    _begun = False  # whether the line at hand has a token

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._table = visible_table(tokenizer)

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        pieces: list[str] = []
        for part in parts(block, ids, ends):
            if len(part.ids):
                if self._begun:
                    pieces.append(" ")
                pieces.append(" ".join(map(self._table.__getitem__, part.ids)))
                self._begun = True
            if part.ends:
                pieces.append("\n")
                self._begun = False
        self.output.write("".join(pieces).encode())


def visible_table(tokenizer: Tokenizer) -> Table[int, str]:
    """Look up tokens in the visible byte alphabet by id."""
    return Table(lambda token_id: to_visible(tokenizer.token_bytes(token_id)))


make = TokensSink
