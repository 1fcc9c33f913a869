"""What becomes of each block of documents under ``bpe encode``: encoded on some thread, written in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.sinks.count import CountSink
from bpe_cli.values import dataclass

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.blocks import Block
    from bpe_cli.cli.documents import Budget
    from bpe_cli.running import Place, Sampling
    from bpe_cli.sinks import Sink
    from bpe_cli.tokenizer import Tokenizer

Item = tuple["Block", "Place"]
"""A block, and where it stands in the whole input."""

Result = tuple["memoryview | None", memoryview]
"""The ids of a block's documents (u32) and where each document's end (u64); or None and their counts (u64)."""


@dataclass(frozen=True, slots=True)
class BlockEncoding:
    """Encode blocks and write what comes out.

    Attributes:
        model: The tokenizer.
        matcher: What is looked for in the text.
        sampling: How the encoding is varied, or None.
        affixes: The ids before and after each document.
        sink: Where it goes.
        budget: What watches the lengths of documents.
    """

    model: Tokenizer
    matcher: _core.SpecialMatcher | None
    sampling: Sampling | None
    affixes: tuple[tuple[int, ...], tuple[int, ...]]
    sink: Sink
    budget: Budget

    def encode(self, item: Item) -> Result:
        """Encode or count a block; several threads may do so at a time.

        Raises:
            InputError: A byte of the text has no token.
        """
        block, place = item
        before, after = self.affixes
        if isinstance(self.sink, CountSink) and not (before or after or self.sampling):
            return None, self.model.count_block(block, self.matcher)
        ids, ends = self.model.encode_block(block, self.matcher, 1, self.sampling, place)
        if before or after:
            from bpe_cli.postprocess import surround

            return surround(block, ids, ends, before, after)
        return ids, ends

    def write(self, item: Item, result: Result) -> None:
        """Write the result of a block; blocks come in order.

        Raises:
            OutputError: It cannot be written.
        """
        block, _ = item
        ids, ends = result
        if ids is None and isinstance(self.sink, CountSink):
            self.budget.spend(ends, block)
            self.sink.write_counts(block, ends)
        elif ids is not None:
            if self.budget.is_limited:
                self.budget.spend([end - start for start, end in zip([0, *ends], ends, strict=False)], block)
            self.sink.write(block, ids, ends)
