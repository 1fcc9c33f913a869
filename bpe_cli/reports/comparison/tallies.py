"""Tally tokenizers on inputs, which are read once and in bounded memory."""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli import _core
from bpe_cli.errors import InputError, NoTokenError
from bpe_cli.reports.comparison.input_accounts import FanOut, Reading
from bpe_cli.reports.comparison.left_out import showing_left_out
from bpe_cli.reports.comparison.measures import MOST_UNITS, Measure
from bpe_cli.reports.tokenizer.contents import fallback_ids
from bpe_cli.stages import Prepend, SpaceMarks
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.input_accounts import TextSize, WordTypes
    from bpe_cli.tokenizer import Specials, Tokenizer


_SPACES = (" ", "▁")
_COUNTED = (
    "type_count", "one_token_types", "one_token_types_spaced", "checked_documents", "failed_documents",
    "left_out_bytes",
)  # fmt: skip


def puts_space(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer puts a space before any text, even one that begins with a space.

    To these (SentencePiece's with a dummy prefix) ``word`` by itself is what it is in a sentence, and
    ``word`` with a space before it has two of them.
    """
    return any(
        (isinstance(stage, SpaceMarks) and stage.add_dummy_prefix)
        or (isinstance(stage, Prepend) and stage.prepend in _SPACES)
        for stage in tokenizer.normalizer
    )


class TokenizerTally:
    """Tally one tokenizer: all inputs together, and each by itself.

    Attributes:
        tiled: Whether tokens' bytes, one after the other, are those of the text, if the tokenizer is plain: no
            token takes whitespace along, and there is at most one space put before each document.
        puts_space: Whether a word by itself gets what it has behind a space: see ``puts_space``.
        left_out: An empty tally of ``showing_left_out``, and that tokenizer; None where nothing is left out.
    """

    def __init__(self, tokenizer: Tokenizer, specials: Specials, threads: int, *, speed: bool) -> None:
        self.tokenizer = tokenizer
        self.matcher = tokenizer.matcher(specials)
        self.specials = specials
        self.threads = threads
        self.speed = speed
        self.empty = _empty(tokenizer)
        showing = showing_left_out(tokenizer)
        self.left_out = None if showing is None else (_empty(showing), showing)
        self.tiled = not (tokenizer.prefix_space and self.matcher) and not any(
            (token.lstrip or token.rstrip)
            and (not token.special or specials == "all" or token.content.decode("utf-8", "replace") in specials)
            for token in tokenizer.special_tokens
        )
        self.puts_space = puts_space(tokenizer)
        if speed:  # what is compiled at first use is not part of the speed
            tokenizer.encode_block(Block.of([b""]), self.matcher, threads)
        self.total = InputTally(self)


def _empty(tokenizer: Tokenizer) -> _core.Tally:
    fallback = fallback_ids(tokenizer)
    vocabulary = tokenizer.model.vocabulary
    return _core.Tally(
        (vocabulary.blob, vocabulary.ends),
        tokenizer.special_table,
        array("I", sorted(fallback.unknown)),
        array("I", sorted(fallback.bytes)),
    )


def unheard(_: Any) -> None:
    """Ignore the numbers of tokens of documents."""


class InputTally:
    """Tally one tokenizer on one input, or on all together.

    Args:
        owner: The tally of the tokenizer.
        on_documents: Called with the numbers of tokens (u64) of documents as they end.

    Attributes:
        units: The numbers of tokens of documents, or of batches of them, which differences are told by.
        length_bits: How many documents have a number of tokens with so many binary digits, of all inputs together.
    """

    def __init__(self, owner: TokenizerTally, on_documents: Callable[[Any], None] = unheard) -> None:
        self._owner = owner
        self._on_documents = on_documents
        self._tally = owner.empty.fresh()
        self._left_out = None if owner.left_out is None else owner.left_out[0].fresh()
        self._round_trips = RoundTrips(owner.tokenizer, owner.threads)
        self._counts = Counter(dict.fromkeys(_COUNTED, 0))
        self._seconds = 0.0
        self.units = _core.Units(MOST_UNITS)
        self.length_bits: Counter[int] = Counter()

    @property
    def token_count(self) -> int:
        """Tokens so far."""
        return self._tally.tokens

    @property
    def frequencies(self) -> memoryview:
        """How often each id of the vocabulary occurred, by id (u64)."""
        return memoryview(self._tally.counts)

    def add(self, block: Block) -> None:
        """Encode a block, as ``Tokenizer.settle`` gives it, and count."""
        owner = self._owner
        if owner.speed:
            begun = time.perf_counter()
            owner.tokenizer.encode_block(block, owner.matcher, owner.threads)
            self._seconds += time.perf_counter() - begun
        encoded = owner.tokenizer.engine.tally(self._tally, block, owner.matcher, owner.threads, tiled=owner.tiled)
        if encoded is not None:
            self._round_trips.add(block, *encoded)
        if owner.left_out is not None and self._left_out is not None:
            owner.left_out[1].engine.tally(self._left_out, block, owner.matcher, owner.threads, tiled=False)
            self._left_out.take_ended()
        self.take_documents(self._tally.take_ended())

    def take_documents(self, counts: Any) -> None:
        """Take the numbers of tokens (u64) of the next documents."""
        self.units.extend(counts)
        self._on_documents(counts)

    def take_lengths(self, counts: Any) -> None:
        """Take the numbers of tokens (u64) of the next documents, of which a histogram of lengths is made too."""
        self.take_documents(counts)
        self.length_bits.update(map(int.bit_length, memoryview(counts)))

    def add_types(self, types: WordTypes) -> None:
        """Count the words that are one token by themselves."""
        single = self._count_single(types.bare)
        spaced = single if self._owner.puts_space else self._count_single(types.spaced)
        self._counts.update(type_count=types.count, one_token_types=single, one_token_types_spaced=spaced)

    def _count_single(self, words: Block) -> int:
        owner = self._owner
        try:
            return self._tally.single_tokens(*owner.tokenizer.encode_block(words, owner.matcher, owner.threads))
        except InputError:
            # Some word has no tokens at all here, though it has in its text: then one by one.
            if len(words.ends) == 1:
                return 0
            return sum(self._count_single(Block.of([bytes(word)])) for word in words.documents())

    def finish(self) -> None:
        """Take what is known once all of the input was read."""
        self._counts.update(
            checked_documents=self._tally.checked_documents + self._round_trips.checked,
            failed_documents=self._tally.failed_documents + self._round_trips.failed,
            left_out_bytes=0 if self._left_out is None else self._left_out.unknown_bytes,
        )

    def include(self, other: InputTally) -> None:
        """Add what was counted of an input that was finished; its documents are taken by themselves."""
        self._tally.merge(other._tally)
        self._counts.update(other._counts)
        self._seconds += other._seconds

    def dump(self) -> tuple[dict[str, int], bytes]:
        """Return what was counted of an input that was finished, but for its documents."""
        return dict(self._counts), self._tally.dump()

    @classmethod
    def load(
        cls, owner: TokenizerTally, counts: dict[str, int], tally: bytes, on_documents: Callable[[Any], None]
    ) -> InputTally:
        """Return the tally of what ``dump`` returned; its documents are to be taken yet.

        Raises:
            ValueError: if it is damaged.
        """
        if counts.keys() != set(_COUNTED) or not all(type(count) is int and count >= 0 for count in counts.values()):
            raise ValueError("the counts of a tally are damaged")
        loaded = cls(owner, on_documents)
        loaded._tally, loaded._counts = owner.empty.load(tally), Counter(counts)
        return loaded

    def measure(self, size: TextSize, baseline_tokens: int) -> Measure:
        """Return the measure of an input that was finished, or of all, by the tokens that the baseline has."""
        tally = self._tally
        return Measure(
            document_count=size.documents,
            byte_count=size.bytes,
            character_count=size.characters,
            token_count=tally.tokens,
            baseline_tokens=baseline_tokens,
            word_count=tally.words,
            split_words=tally.split_words,
            vocab_size=self._owner.empty.vocab_size,
            used_ids=tally.used_ids,
            unknown_tokens=tally.unknown_tokens,
            byte_tokens=tally.byte_tokens,
            shannon_entropy=tally.shannon_entropy,
            renyi_entropy=tally.renyi_entropy,
            mean_bytes_per_token=tally.mean_bytes_per_token,
            seconds=self._seconds if self._owner.speed else None,
            unknown_bytes=tally.unknown_bytes,
            coverage_rank=tally.coverage_rank,
            empty_documents=size.empty,
            **self._counts,
        )


CHECKED_BYTES = 32 << 20
"""A document that comes in parts is held, and decoded whole, if it has at most so many bytes."""


class RoundTrips:
    """Check the documents of one tokenizer and input.

    Decoders look at what stands beside a token, and at a text's beginning and end: only whole documents
    are decoded. One that comes in parts is held for that, up to ``CHECKED_BYTES``; a longer one is not
    checked.

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


@dataclass(frozen=True, slots=True)
class TalliedInput:
    """An input that was read.

    Attributes:
        name: Its name.
        size: How much text it has.
        sha256: The hash of its documents' bytes; None where nobody took it.
        short: The documents themselves, if they are short together; else None.
        tallies: The tally of each tokenizer.
    """

    name: str
    size: TextSize
    sha256: str | None
    short: tuple[bytes, ...] | None
    tallies: tuple[InputTally, ...]


def tally_input(
    name: str,
    blocks: Iterable[Block],
    tallies: Sequence[TokenizerTally],
    labels: Sequence[str],
    *,
    short: int,
    hashed: bool,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    on_documents: Sequence[Callable[[Any], None]],
) -> TalliedInput:
    """Read an input once, and have each tokenizer tally it.

    Args:
        name: Its name.
        blocks: Its blocks, which are read only as fast as the slowest tokenizer goes.
        tallies: The tokenizers.
        labels: What messages call them.
        short: How many bytes, and documents, an input has at most whose documents are kept.
        hashed: Whether to take the hash of its documents.
        threads: Number of threads.
        progress: Called with the number of bytes of each block read.
        on_documents: For each tokenizer what is called with the numbers of tokens of documents as they end.

    Raises:
        InputError: if a byte has no token; the message says of which tokenizer.
    """
    reading = Reading(blocks, short, progress, hashed=hashed)
    own = tuple(InputTally(tally, each) for tally, each in zip(tallies, on_documents, strict=True))
    _read(name, reading, tallies, own, labels)
    types = reading.head.types(threads)
    for each in own:
        each.add_types(types)
        each.finish()
    kept = None if reading.short is None else tuple(map(bytes, reading.short))
    return TalliedInput(name, reading.size, None if reading.digest is None else reading.digest.hexdigest(), kept, own)


def _read(
    name: str,
    reading: Reading,
    tallies: Sequence[TokenizerTally],
    input_tallies: Sequence[InputTally],
    labels: Sequence[str],
) -> None:
    fan_out = FanOut(reading, len(tallies))
    streams = {
        number: tally.tokenizer.settle(fan_out.reader(number), tally.matcher) for number, tally in enumerate(tallies)
    }
    while streams:
        number = max(streams, key=fan_out.waiting)  # who has read the least: nobody lags behind
        try:
            block = next(streams[number], None)
            if block is None:
                del streams[number]
            else:
                input_tallies[number].add(block)
        except InputError as error:
            what = error.elsewhere if isinstance(error, NoTokenError) else error.message
            raise InputError(f"{labels[number]} cannot encode {name}: {what}", hint=error.hint) from error
