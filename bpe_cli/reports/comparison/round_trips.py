"""Decode documents again, and count those that do not come back."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

CHECKED_BYTES = 32 << 20
"""A document that comes in parts is held, and decoded whole, if it has at most so many bytes."""


class RoundTrips:
    """Check the documents of one tokenizer and input.

    Decoders look at what stands beside a token, and at a text's beginning and end: only whole documents
    are decoded. One that comes in parts is held for that, up to ``CHECKED_BYTES``; a longer one is not
    checked.

    Attributes:
        checked: Documents that were decoded.
        failed: Those of them that were others then.

    Memory: a document in parts and its ids; also what it decodes to, if its decoders look at all of a text.
    """

    def __init__(self, tokenizer: Tokenizer, threads: int) -> None:
        self._tokenizer = tokenizer
        self._threads = threads
        self._held: bytearray | None = None
        self._ids = array("I")
        self.checked = self.failed = 0

    def add(self, block: Block, ids: memoryview | array[int], ends: memoryview | array[int]) -> None:
        """Check the next block's documents by their ids (u32) and where each one's end (u64)."""
        ids = memoryview(ids)
        first, last = len(block.ends) - block.begun, block.ended
        if first and block.ends:
            self._hold(memoryview(block.data)[: block.ends[0]], ids[: ends[0]])
            if last > 0:
                self._check_held()
        if first < last:
            start, start_of_ids = (block.ends[0], ends[0]) if first else (0, 0)
            whole = Block(
                memoryview(block.data)[start : block.ends[last - 1]],
                array("Q", (end - start for end in block.ends[first:last])),
            )
            own = ids[start_of_ids : ends[last - 1]]
            self._check(whole, own, array("Q", (end - start_of_ids for end in ends[first:last])))
        if first <= last < len(block.ends):
            start, start_of_ids = (block.ends[last - 1], ends[last - 1]) if last else (0, 0)
            self._held, self._ids = bytearray(), array("I")
            self._hold(memoryview(block.data)[start:], ids[start_of_ids:])

    def _hold(self, text: memoryview, ids: memoryview) -> None:
        if self._held is None or len(self._held) + len(text) > CHECKED_BYTES:
            self._held, self._ids = None, array("I")
            return
        self._held += text
        self._ids.frombytes(ids.cast("B"))

    def _check_held(self) -> None:
        if self._held is not None:
            held = Block(memoryview(self._held), array("Q", [len(self._held)]))
            self._check(held, self._ids, array("Q", [len(self._ids)]))
        self._held, self._ids = None, array("I")

    def _check(self, block: Block, ids: memoryview | array[int], ends: array[int]) -> None:
        self.checked += len(block.ends)
        self.failed += len(self._tokenizer.engine.failures(block, ids, ends, self._threads))
