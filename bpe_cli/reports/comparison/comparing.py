"""Compare tokenizers on the same texts, read once and in bounded memory."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.reports.text.segmentation import Segmentation, segment

if TYPE_CHECKING:
    from bpe_cli.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer

PASSAGE_BYTES = 2048
"""An input of at most so many bytes is also shown token by token."""

ALL_PASSAGES_BYTES = 8 * PASSAGE_BYTES
"""Inputs after so many bytes of passages are not shown any more."""

_SLICE = 1 << 20


@dataclass(frozen=True, slots=True)
class Measure:
    """What one tokenizer makes of one input.

    Attributes:
        token_count: Tokens.
        bytes_per_token: None when there is no token.
        characters_per_token: None when there is no token.
        ratio: Tokens per token of the first tokenizer; None when that has none.
    """

    token_count: int
    bytes_per_token: float | None
    characters_per_token: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """What all tokenizers make of one input, or of all together.

    Attributes:
        name: The input's name.
        document_count: Documents.
        byte_count: Bytes.
        character_count: Characters; a byte that is not part of well-formed UTF-8 counts as one.
        measures: One per tokenizer.
        best: The tokenizers with the fewest tokens; empty when there is nothing to tell apart.
    """

    name: str
    document_count: int
    byte_count: int
    character_count: int
    measures: tuple[Measure, ...]
    best: tuple[int, ...]

    @classmethod
    def of(cls, name: str, documents: int, size: int, characters: int, tokens: Sequence[int]) -> Row:
        """Compute the measures from sums.

        >>> row = Row.of("a.txt", 1, 12, 12, [4, 3])
        >>> row.measures[1].bytes_per_token, row.measures[1].ratio, row.best
        (4.0, 0.75, (1,))
        """
        measures = tuple(
            Measure(
                count,
                size / count if count else None,
                characters / count if count else None,
                count / tokens[0] if tokens[0] else None,
            )
            for count in tokens
        )
        fewest = min(tokens)
        differ = fewest < max(tokens)
        best = tuple(number for number, count in enumerate(tokens) if differ and count == fewest)
        return cls(name, documents, size, characters, measures, best)


@dataclass(frozen=True, slots=True)
class Passage:
    """A short text as every tokenizer cuts it.

    Attributes:
        source: The name of the input it is from.
        document: Number of the document in that input, from 0.
        segmentations: One per tokenizer.
    """

    source: str
    document: int
    segmentations: tuple[Segmentation, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Tokenizers side by side.

    Attributes:
        tokenizers: Their names, each different; the first is what the others are compared with.
        vocab_sizes: Their highest ids plus one.
        rows: One per input, in order.
        total: All inputs together: ratios of sums, not means of ratios.
        passages: The texts of short inputs, token by token (see ``PASSAGE_BYTES``).
    """

    tokenizers: tuple[str, ...]
    vocab_sizes: tuple[int, ...]
    rows: tuple[Row, ...]
    total: Row
    passages: tuple[Passage, ...]


def compare(
    tokenizers: Sequence[Tokenizer],
    inputs: Iterable[tuple[str, Iterable[Block]]],
    *,
    names: Sequence[str] | None = None,
    specials: Specials = (),
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Count the tokens of inputs with several tokenizers.

    Args:
        tokenizers: At least one.
        inputs: For each its name and its blocks, which are read once, and only as fast as the slowest
            tokenizer goes.
        names: What to call the tokenizers instead of their own names.
        specials: Which special tokens are looked for in the text.
        threads: How many threads count.
        progress: Called with the number of bytes of each block read.

    Raises:
        ValueError: There is no tokenizer.
        UsageError: A name in ``specials`` is unknown to a tokenizer.
        InputError: A byte has no token; the message says of which tokenizer and input.

    Memory: a few blocks, and what ``Tokenizer.settle`` must hold of a document that cannot be cut.
    """
    if not tokenizers:
        raise ValueError("there is no tokenizer to compare")
    labels = _distinct(names or [tokenizer.name or "tokenizer" for tokenizer in tokenizers])
    matchers = [tokenizer.matcher(specials) for tokenizer in tokenizers]
    rows: list[Row] = []
    passages: list[Passage] = []
    room = ALL_PASSAGES_BYTES
    for name, blocks in inputs:
        reading = _Reading(blocks, min(PASSAGE_BYTES, room), progress)
        fan_out = FanOut(reading, len(tokenizers))
        counts = [0] * len(tokenizers)
        streams = {
            number: tokenizer.settle(fan_out.reader(number), matchers[number])
            for number, tokenizer in enumerate(tokenizers)
        }
        while streams:
            number = max(streams, key=fan_out.waiting)  # who has read the least: nobody lags behind
            try:
                block = next(streams[number], None)
                if block is None:
                    del streams[number]
                else:
                    counts[number] += sum(tokenizers[number].count_block(block, matchers[number], threads))
            except InputError as error:
                raise InputError(f"{labels[number]} cannot encode {name}: {error.message}", hint=error.hint) from error
        rows.append(Row.of(name, reading.documents, reading.bytes_read, reading.characters.total, counts))
        for document, text in enumerate(reading.short or ()):
            if text:
                room -= len(text)
                segmented = (segment(tokenizer, bytes(text), specials) for tokenizer in tokenizers)
                passages.append(Passage(name, document, tuple(segmented)))
    total = Row.of(
        "total",
        sum(row.document_count for row in rows),
        sum(row.byte_count for row in rows),
        sum(row.character_count for row in rows),
        [sum(row.measures[number].token_count for row in rows) for number in range(len(tokenizers))],
    )
    sizes = tuple(tokenizer.vocab_size for tokenizer in tokenizers)
    return Comparison(labels, sizes, tuple(rows), total, tuple(passages))


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


class _Reading:
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


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Number the names that come again.

    >>> _distinct(["a", "b", "a", "a"])
    ('a', 'b', 'a (2)', 'a (3)')
    """
    given: list[str] = []
    for name in names:
        number, label = 1, name
        while label in given:
            number += 1
            label = f"{name} ({number})"
        given.append(label)
    return tuple(given)
