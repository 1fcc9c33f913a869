"""Write the number of tokens of each document, a decimal number a line."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.sinks.base import Sink

if TYPE_CHECKING:
    from bpe_cli.support.blocks import Block


class CountSink(Sink):
    """Write counts as text; ``Tokenizer.count_block`` gives them without any ids."""

    needs_ids = False
    _so_far = 0  # tokens of the document that goes on from the block before

    def write_counts(self, block: Block, counts: memoryview) -> None:
        """Write how many tokens each document of a block has (u64), and flush.

        Raises:
            OutputError: if they cannot be written.
        """
        lines, tokens, self._so_far = _core.write_counts(counts, self._so_far, block.unfinished)
        self.tokens += tokens
        self.documents += block.ended
        self.output.write(lines)
        self.output.flush()

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        counts = array("Q", (end - start for start, end in zip([0, *ends], ends, strict=False)))
        lines, _, self._so_far = _core.write_counts(counts, self._so_far, block.unfinished)
        self.output.write(lines)


make = CountSink
