"""Encode blocks of documents on any thread, and write what comes out in order."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from bpe_cli.sinks.count import CountSink
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.jobs.documents import Budget
    from bpe_cli.sinks import Sink
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer
    from bpe_cli.tokenizer.engine import Place, Sampling
    from bpe_cli.tokenizer.usage import Edges

Item = tuple["Block", "Place"]
"""A block, and where it stands in the whole input."""

Result = tuple["memoryview | None", memoryview]
"""The ids of a block's documents (u32) and where each document's end (u64); or None and their counts (u64)."""


def with_edges(
    block: Block, ids: memoryview, ends: memoryview, edges: Edges, sink: Sink
) -> tuple[memoryview, memoryview]:
    """Put around the documents of a block what stands there, but for what the sink itself puts."""
    after = edges.after[:-1] if _puts_eot(edges, sink) else edges.after
    if not (edges.before or after):
        return ids, ends
    from bpe_cli.tokenizer.post_processor import surround

    return surround(block, ids, ends, edges.before, after)


def with_edges_counted(block: Block, counts: memoryview, edges: Edges) -> memoryview:
    """Count what stands around the documents of a block too (u64)."""
    if not len(edges) or not len(counts):
        return counts
    more = array("Q", (count + len(edges) for count in counts))
    if block.begun < len(more):
        more[0] -= len(edges.before)
    if block.ended < len(more):
        more[-1] -= len(edges.after)
    return memoryview(more)


def counts_of(block: Block, ends: memoryview, edges: Edges, sink: Sink) -> list[int]:
    """Return how many ids each document of a block has in the output."""
    own = int(_puts_eot(edges, sink))
    counts = [end - start + own for start, end in zip([0, *ends], ends, strict=False)]
    if own and block.ended < len(counts):
        counts[-1] -= own
    return counts


def _puts_eot(edges: Edges, sink: Sink) -> bool:
    """Return whether a sink itself ends each document."""
    return sink.is_binary and edges.eot is not None


@dataclass(frozen=True, slots=True)
class BlockEncoding:
    """Encode blocks and write what comes out.

    Attributes:
        model: The tokenizer.
        matcher: What is looked for in the text.
        sampling: How the encoding is varied, or None.
        edges: What stands around each document.
        sink: Where it goes.
        budget: What watches the lengths of documents.
    """

    model: Tokenizer
    matcher: _core.SpecialMatcher | None
    sampling: Sampling | None
    edges: Edges
    sink: Sink
    budget: Budget

    def encode(self, item: Item) -> Result:
        """Encode or count a block; several threads may do so at a time.

        Raises:
            InputError: if a byte of the text has no token.
        """
        block, place = item
        if isinstance(self.sink, CountSink) and self.sampling is None:
            return None, with_edges_counted(block, self.model.count_block(block, self.matcher), self.edges)
        ids, ends = self.model.encode_block(block, self.matcher, 1, self.sampling, place)
        return with_edges(block, ids, ends, self.edges, self.sink)

    def write(self, item: Item, result: Result) -> None:
        """Write the result of a block; blocks come in order.

        Raises:
            OutputError: if it cannot be written.
        """
        block, _ = item
        ids, ends = result
        if ids is None and isinstance(self.sink, CountSink):
            self.budget.spend(ends, block)
            self.sink.write_counts(block, ends)
        elif ids is not None:
            if self.budget.is_limited:
                self.budget.spend(counts_of(block, ends, self.edges, self.sink), block)
            self.sink.write(block, ids, ends)
