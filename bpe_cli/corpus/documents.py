"""Turn bytes into documents, and pack them into blocks of bounded size."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from bpe_cli import _core
from bpe_cli.support.blocks import Block

_CLOSE = (b"", b"")


class Packer:
    """Pack documents into blocks of at most ``block_bytes`` bytes.

    Invariant: the documents that the blocks hold, put together again, do not depend on ``block_bytes``.
    One document is *open*: the next bytes belong to it. An open one without bytes does not exist yet.

    >>> packer = Packer(4)
    >>> [bytes(block.data) for block in packer.document(b"abcdef")]
    [b'abcd']
    >>> [(bytes(data), begins) for block in packer.flush() for data, begins, _ in block.parts()]
    [(b'ef', False)]
    """

    def __init__(self, block_bytes: int) -> None:
        self.block_bytes = block_bytes
        self.closed = 0
        """How many documents were closed so far."""
        self.is_idle: Callable[[], bool] | None = None
        """Tells that nothing more is there to read just now: whole documents then wait for no full block."""
        self._parts: list[bytes | memoryview] = []
        self._size = 0
        self._ends = array("Q")
        self._continued = False

    @property
    def is_open(self) -> bool:
        """Whether the open document has a byte."""
        return self._continued if not self._ends and not self._size else self._size > self._start

    @property
    def _start(self) -> int:
        return self._ends[-1] if self._ends else 0

    def add(self, texts: Sequence[bytes]) -> Iterator[Block]:
        """Continue the open document; each further text closes it and opens another.

        Args:
            texts: At least one, together at most ``block_bytes`` long.

        Yields:
            The blocks that became full.
        """
        data = texts[0] if len(texts) == 1 else b"".join(texts)
        if self._is_full(len(data)):
            yield from self.flush()
        if data:
            self._parts.append(data)
        ends = array("Q", accumulate(map(len, texts), initial=self._size))
        self._size = ends.pop()
        self._ends += ends[1:]
        self.closed += len(texts) - 1
        yield from self._flush_if_idle()

    def lines(self, text: bytes | memoryview) -> Iterator[Block]:
        """Add whole lines, each with its end, together at most ``block_bytes`` long; no document must be open.

        Yields:
            The blocks that became full.
        """
        if self._is_full(len(text)):
            yield from self.flush()
        data, ends = _core.without_line_ends(text, self._size)
        if data:
            self._parts.append(data)
        self._size += len(data)
        self._ends.frombytes(memoryview(ends).cast("B"))
        self.closed += len(ends)
        yield from self._flush_if_idle()

    def take(self, texts: _core.JsonTexts) -> Iterator[Block]:
        """Add the documents that were read from lines of JSON; no document must be open.

        Yields:
            The blocks that became full.
        """
        if len(texts) > self.block_bytes:
            data, ends = texts.take(0)
            yield from self.whole(memoryview(data), memoryview(ends))
            return
        yield from self._make_room(len(texts))
        data, ends = texts.take(self._size)
        yield from self._close_all(memoryview(data), memoryview(ends))

    def whole(self, data: memoryview, ends: Sequence[int] | memoryview) -> Iterator[Block]:
        """Add whole documents that lie one after the other, and where each ends; no document must be open.

        Yields:
            The blocks that became full.
        """
        start, first = 0, 0
        while first < len(ends):
            last = bisect_right(ends, start + self.block_bytes, first)
            if last == first:
                yield from self.document(bytes(data[start : ends[first]]))
                last = first + 1
            else:
                yield from self._make_room(ends[last - 1] - start)
                offset = self._size - start
                moved = array("Q", (end + offset for end in ends[first:last]))
                yield from self._close_all(data[start : ends[last - 1]], memoryview(moved))
            start, first = ends[last - 1], last

    def _make_room(self, size: int) -> Iterator[Block]:
        if self._is_full(size) or (self._parts and size > self.block_bytes // 2):  # much is not copied behind a little
            yield from self.flush()

    def _close_all(self, data: memoryview, ends: memoryview) -> Iterator[Block]:
        if data:
            self._parts.append(data)
        self._size += len(data)
        self._ends.frombytes(ends.cast("B"))
        self.closed += len(ends)
        yield from self._flush_if_idle()

    def _is_full(self, more: int) -> bool:
        # Empty documents have no bytes, yet their ends take room: those are bounded likewise.
        return self._size + more > self.block_bytes or self._ends.itemsize * len(self._ends) >= self.block_bytes

    def _flush_if_idle(self) -> Iterator[Block]:
        if self.is_idle is not None and self._ends and self.is_idle():
            yield from self.flush()

    def close(self) -> Iterator[Block]:
        """Close the open document, even if it is empty."""
        return self.add(_CLOSE)

    def document(self, data: bytes) -> Iterator[Block]:
        """Add a whole document of any length; none must be open."""
        if len(data) <= self.block_bytes:
            yield from self.add((data, b""))
            return
        for start in range(0, len(data), self.block_bytes):
            yield from self.add((data[start : start + self.block_bytes],))
        yield from self.close()

    def flush(self) -> Iterator[Block]:
        """Yield what is there, if anything; an open document goes on in the next block."""
        unfinished = self._size > self._start
        if unfinished:
            self._ends.append(self._size)
        if not self._ends:
            return
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        block = Block(data, self._ends, self._continued, unfinished)
        self._parts, self._size, self._ends, self._continued = [], 0, array("Q"), unfinished
        yield block


def limited(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Cut chunks into ones of at most ``size`` bytes."""
    for chunk in chunks:
        if len(chunk) <= size:
            yield chunk
        else:
            for start in range(0, len(chunk), size):
                yield chunk[start : start + size]


def pack_whole(chunks: Iterable[bytes], packer: Packer) -> Iterator[Block]:
    """Make one document of an input, byte for byte; an empty input is an empty document."""
    for chunk in limited(chunks, packer.block_bytes):
        yield from packer.add((chunk,))
    yield from packer.close()


def pack_lines(chunks: Iterable[bytes], packer: Packer) -> Iterator[Block]:
    r"""Make a document of each line, without its line end, which is ``\n`` or ``\r\n``.

    A lone ``\r`` ends no line. The last line counts even without a line end. Lines that fit into a block are
    not divided between two, so nobody has to join them again.
    """
    begun: list[bytes] = []  # of a line whose end has not come
    size = 0
    for chunk in limited(chunks, packer.block_bytes):
        first = chunk.find(b"\n") + 1 if begun or packer.is_open else 0
        last = chunk.rfind(b"\n") + 1
        if not last:
            begun.append(chunk)
            size += len(chunk)
            if size > packer.block_bytes:
                text = b"".join(begun)
                held = text[-1:] if text.endswith(b"\r") else b""  # whether it is part of a line end shows later
                yield from _go_on(text[: size - len(held)], packer)
                begun, size = [held] if held else [], len(held)
            continue
        if first:
            line = b"".join((*begun, chunk[: first - 1]))
            yield from _go_on(line.removesuffix(b"\r"), packer)
            yield from packer.close()
        if first < last:
            yield from packer.lines(chunk if last - first == len(chunk) else memoryview(chunk)[first:last])
        begun = [chunk[last:]] if last < len(chunk) else []
        size = len(chunk) - last
    if begun or packer.is_open:
        yield from _go_on(b"".join(begun), packer)
        yield from packer.close()


def _go_on(text: bytes, packer: Packer) -> Iterator[Block]:
    """Continue the open document by any number of bytes."""
    for part in limited((text,), packer.block_bytes):
        if part:
            yield from packer.add((part,))
