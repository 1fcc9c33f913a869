"""Read each input once for several readers, and keep account of what was read."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_cli.blocks import Block

_SLICE = 1 << 20


class FanOut:
    """Give the blocks of one source to several readers, each at its own pace.

    A block is kept until the last reader has it. Stepping always the reader for whom most wait keeps
    no more than what one reader takes at once (``itertools.tee`` would keep up to 57 blocks more).

    >>> fan_out = FanOut("ab", 2)
    >>> first, second = fan_out.reader(0), fan_out.reader(1)
    >>> next(first), next(first), fan_out.waiting(1), list(second), list(first)
    ('a', 'b', 2, ['a', 'b'], [])
    """

    def __init__(self, blocks: Iterable[Block], readers: int) -> None:
        self._blocks = iter(blocks)
        self._queues: list[deque[Block]] = [deque() for _ in range(readers)]

    def waiting(self, number: int) -> int:
        """Count the blocks that a reader has yet to read, of those that another has read."""
        return len(self._queues[number])

    def reader(self, number: int) -> Iterator[Block]:
        """Yield the blocks to one of the readers."""
        queue = self._queues[number]
        while True:
            if not queue:
                block = next(self._blocks, None)
                if block is None:
                    return
                for each in self._queues:
                    each.append(block)
                del block  # only the queues may keep it alive
            yield queue.popleft()


class CharacterCounter:
    r"""Count the characters of documents that come in blocks, cut anywhere.

    >>> from bpe_cli.blocks import Block
    >>> counter = CharacterCounter()
    >>> counter.feed(Block.of(["né".encode(), b"\xff\xe8"]))
    >>> counter.total
    4
    """

    def __init__(self) -> None:
        self.total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, block: Block) -> None:
        """Count on."""
        if not block.ends:
            return
        data, ends = memoryview(block.data), block.ends
        # Only where a document begins with a continuation byte could decoding run over its start.
        if any(end < len(data) and 0x80 <= data[end] < 0xC0 for end in ends):
            start = 0
            for end in ends[:-1]:
                self._decode(data[start:end], final=True)
                start = end
            data = data[start:]
        self._decode(data, final=not block.unfinished)

    def _decode(self, data: memoryview, *, final: bool) -> None:
        for start in range(0, len(data), _SLICE):
            self.total += len(self._decoder.decode(bytes(data[start : start + _SLICE])))
        if final:
            self.total += len(self._decoder.decode(b"", True))


class Reading:
    """Pass on the blocks of an input, and keep account of them.

    Attributes:
        documents: Documents begun.
        bytes_read: Bytes passed on.
        characters: Counts the characters.
        short: The documents themselves while they are short together, else None.
    """

    def __init__(self, blocks: Iterable[Block], limit: int, progress: Callable[[int], None] | None) -> None:
        self._blocks = blocks
        self._limit = limit
        self._progress = progress
        self.documents = self.bytes_read = 0
        self.characters = CharacterCounter()
        self.short: list[bytearray] | None = []

    def __iter__(self) -> Iterator[Block]:
        for block in self._blocks:
            size = len(block.data)
            self.documents += len(block.ends) - block.continued
            self.bytes_read += size
            self.characters.feed(block)
            if self.short is not None and self.bytes_read > self._limit:
                self.short = None
            if self.short is not None:
                self._remember(block, self.short)
            if self._progress is not None:
                self._progress(size)
            yield block

    def _remember(self, block: Block, short: list[bytearray]) -> None:
        for number, document in enumerate(block.documents()):
            if number == 0 and block.continued and short:
                short[-1] += document
            else:
                short.append(bytearray(document))
