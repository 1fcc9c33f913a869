"""Read each input once for several readers, and keep track of what was read."""

from __future__ import annotations

import codecs
import hashlib
import itertools
import operator
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from bpe_cli import _core
from bpe_cli.reports.tokenizer.contents import UP_TO_LAST
from bpe_cli.support.blocks import Block

WORD_BYTES = 4 << 20
"""Different words are looked for among so many bytes of an input."""

_SLICE = 1 << 20
_MOST_TYPES_BYTES = 1 << 30  # more than the words of WORD_BYTES can take


class FanOut:
    """Hand the blocks of one source to several readers, each at its own pace.

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

    >>> from bpe_cli.support.blocks import Block
    >>> counter = CharacterCounter()
    >>> counter.feed(Block.of(["né".encode(), b"\xff\xe8"]))
    >>> counter.total
    4
    """

    def __init__(self) -> None:
        self.total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, block: Block) -> None:
        """Count the next bytes."""
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


@dataclass(frozen=True, slots=True)
class WordTypes:
    """The different words of an input: by themselves, and each with a space before it."""

    bare: Block
    spaced: Block

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.bare.ends)


class Head:
    r"""Keep the first bytes of an input, to find its different words.

    >>> from bpe_cli.support.blocks import Block
    >>> head = Head(12)
    >>> head.feed(Block.of([b"to be or", b"not to be"]))
    >>> head.types().bare.data
    b'tobeornot'
    """

    def __init__(self, size: int) -> None:
        self._left = size
        self._data = bytearray()
        self._ends = array("Q")
        self._full = self._open = False

    def feed(self, block: Block) -> None:
        """Keep as much of the data as there is room for."""
        if self._full or not block.ends:
            return
        if block.continued:
            self._ends.pop()
        before, taken = len(self._data), min(self._left, len(block.data))
        self._data += memoryview(block.data)[:taken]
        self._left -= taken
        self._full = taken < len(block.data)
        ended = [before + end for end in block.ends if end <= taken]
        self._ends.extend(ended)
        if self._full and ((block.continued and not ended) or (self._ends[-1] if self._ends else 0) < len(self._data)):
            self._open = True
            self._ends.append(len(self._data))

    def types(self, threads: int = 1) -> WordTypes:
        """Find the different words; one that is cut off at the end is left out."""
        from bpe_cli.stages import WhitespaceSplit
        from bpe_cli.stages.component_json import core_spec

        data, ends = bytes(self._data), self._ends
        if self._open:
            start = ends[-2] if len(ends) > 1 else 0
            last = UP_TO_LAST.match(data, start)
            end = last.end() if last is not None else start
            data, ends = data[:end], array("Q", [*ends[:-1], end])
        counts = _core.Counts(_MOST_TYPES_BYTES)
        counts.add_staged(Block(data, ends), _core.Stages(core_spec((), (WhitespaceSplit(),))), None, threads)
        return WordTypes(*(_block(*counts.pieces(prefix)) for prefix in (b"", b" ")))


def _block(data: bytes, ends: _core.U64Array) -> Block:
    offsets = array("Q")
    offsets.frombytes(memoryview(ends).cast("B"))
    return Block(data, offsets)


class TextSize(NamedTuple):
    """How much text there is: documents, those of them without a byte, bytes and characters."""

    documents: int
    empty: int
    bytes: int
    characters: int

    @classmethod
    def total(cls, sizes: Iterable[TextSize]) -> TextSize:
        """Add up sizes."""
        return cls(*map(sum, zip(cls(0, 0, 0, 0), *sizes, strict=True)))


class Reading:
    """Yield the blocks of an input, and keep account of them.

    Attributes:
        head: Its first ``WORD_BYTES``.
        short: The documents themselves while they are short together, else None.
        digest: The sha256 of all bytes, if it is taken.
    """

    def __init__(
        self, blocks: Iterable[Block], limit: int, progress: Callable[[int], None] | None, *, hashed: bool = False
    ) -> None:
        self._blocks = blocks
        self._limit = limit
        self._progress = progress
        self._documents = self._filled = self._bytes = 0
        self._open_is_filled = False
        self._characters = CharacterCounter()
        self.head = Head(WORD_BYTES)
        self.short: list[bytearray] | None = []
        self.digest = hashlib.sha256() if hashed else None

    def __iter__(self) -> Iterator[Block]:
        for block in self._blocks:
            size = len(block.data)
            self._documents += block.begun
            self._count_filled(block)
            self._bytes += size
            if self.digest is not None:
                self.digest.update(block.data)
            self._characters.feed(block)
            self.head.feed(block)
            if self.short is not None and max(self._bytes, self._documents) > self._limit:
                self.short = None  # not short, or blank lines without end
            if self.short is not None:
                self._remember(block, self.short)
            if self._progress is not None:
                self._progress(size)
            yield block

    @property
    def size(self) -> TextSize:
        """How much was passed on."""
        return TextSize(self._documents, self._documents - self._filled, self._bytes, self._characters.total)

    def _count_filled(self, block: Block) -> None:
        """Count the documents that have a byte; one that comes in parts counts once."""
        ends = block.ends
        if not ends:
            return
        filled = sum(map(operator.ne, ends, itertools.chain((0,), ends)))
        went_on = block.continued and self._open_is_filled
        self._filled += filled - (went_on and ends[0] > 0)
        last_is_filled = ends[-1] > (ends[-2] if len(ends) > 1 else 0)
        self._open_is_filled = block.unfinished and (last_is_filled or (went_on and len(ends) == 1))

    def _remember(self, block: Block, short: list[bytearray]) -> None:
        for document, begins, _ in block.parts():
            if begins or not short:
                short.append(bytearray(document))
            else:
                short[-1] += document


SAMPLE_BYTES = 2 << 20
"""Bytes that are kept of all inputs together."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A document, or its beginning.

    Attributes:
        source: The name of the input it is from.
        document: Number of the document in that input, from 0.
    """

    source: str
    document: int
    text: bytes


@dataclass(slots=True)
class Sample:
    """The first bytes of each input.

    Every input may have an equal part of the limit. The last document of a part is cut behind its last line feed, or,
    if it has none, in front of its last character: what is kept does not depend on how the input came in blocks.

    Attributes:
        limit: Bytes that are kept of each input.
        excerpts: What is kept, once the inputs were read.
        whole: Whether that is all there was.
    """

    limit: int = SAMPLE_BYTES
    excerpts: list[Excerpt] = field(default_factory=list)
    whole: bool = True

    @classmethod
    def shared(cls, inputs: int, limit: int = SAMPLE_BYTES) -> Sample:
        """Make a sample of so many inputs together."""
        return cls(max(1, limit // max(1, inputs)))

    @property
    def byte_count(self) -> int:
        """Bytes that are kept."""
        return sum(len(excerpt.text) for excerpt in self.excerpts)

    def by_name(self) -> dict[str, bytes]:
        """Return the documents by the names of their inputs, numbered where there are several."""
        several = {excerpt.source for excerpt in self.excerpts if excerpt.document}
        return {
            f"{excerpt.source}:{excerpt.document + 1}" if excerpt.source in several else excerpt.source: excerpt.text
            for excerpt in self.excerpts
        }

    def take(self, name: str, blocks: Iterable[Block]) -> None:
        """Keep the beginning of an input, as ``watch`` does, and read no more of it."""
        for _ in self.watch(name, _first(blocks, self.limit)):
            pass

    def watch(self, name: str, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of an input, and keep its beginning."""
        documents: dict[int, bytearray] = {}  # by their numbers, without the empty ones
        number = -1
        room = self.limit
        cut = False
        for block in blocks:
            if not cut:
                for part, begins, _ in block.parts():
                    number += begins
                    taken = part[:room]
                    if taken:
                        documents.setdefault(number, bytearray()).extend(taken)
                    room -= len(taken)
                    if len(taken) < len(part):
                        cut = True
                        break
            yield block
        if cut:
            self.whole = False
            documents[number] = _beginning(documents.get(number, bytearray()))
        self.excerpts += [Excerpt(name, number, bytes(text)) for number, text in documents.items() if text]


def _first(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """Yield blocks until they have more bytes than that."""
    read = 0
    for block in blocks:
        yield block
        read += len(block.data)
        if read > size:
            return


def _beginning(text: bytearray) -> bytearray:
    r"""Shorten a text that was cut anywhere to the end of a line, or at least of a character.

    >>> _beginning(bytearray(b"ab\ncd")), _beginning(bytearray(b"ab\xe8\xb0"))
    (bytearray(b'ab\n'), bytearray(b'ab'))
    """
    line = text.rfind(b"\n") + 1
    if line:
        return text[:line]
    end = len(text) - 1
    while end > max(0, len(text) - 4) and 0x80 <= text[end] < 0xC0:
        end -= 1
    return text[: max(end, 0)]
