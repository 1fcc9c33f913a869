"""Compare tokenizers on the same texts, which are read once and in bounded memory."""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row, Settings
from bpe_cli.reports.comparison.input_accounts import FanOut, Reading, TextSize
from bpe_cli.reports.comparison.measures import LEAST_RESAMPLES, MOST_UNITS, RESAMPLES, Measure, adjust, difference
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.reports.tokenizer.contents import fallback_ids
from bpe_cli.stages import Prepend, SpaceMarks
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import fingerprint

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.input_accounts import WordTypes
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer


_SPACES = (" ", "▁")
_COUNTED = ("type_count", "one_token_types", "one_token_types_spaced", "checked_documents", "failed_documents")


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
            token takes white space along, and there is at most one space put before each document.
        puts_space: Whether a word by itself gets what it has behind a space: see ``puts_space``.
    """

    def __init__(self, tokenizer: Tokenizer, specials: Specials, threads: int, *, speed: bool) -> None:
        self.tokenizer = tokenizer
        self.matcher = tokenizer.matcher(specials)
        self.specials = specials
        self.threads = threads
        self.speed = speed
        fallback = fallback_ids(tokenizer)
        vocabulary = tokenizer.model.vocabulary
        self.empty = _core.Tally(
            (vocabulary.blob, vocabulary.ends),
            tokenizer.special_table,
            array("I", sorted(fallback.unknown)),
            array("I", sorted(fallback.bytes)),
        )
        self.tiled = not (tokenizer.prefix_space and self.matcher) and not any(
            (token.lstrip or token.rstrip)
            and (not token.special or specials == "all" or token.content.decode("utf-8", "replace") in specials)
            for token in tokenizer.special_tokens
        )
        self.puts_space = puts_space(tokenizer)
        if speed:  # what is compiled at first use is not part of the speed
            tokenizer.encode_block(Block.of([b""]), self.matcher, threads)
        self.total = InputTally(self)


class InputTally:
    """Tally one tokenizer on one input, or on all together."""

    def __init__(self, owner: TokenizerTally) -> None:
        self._owner = owner
        self._tally = owner.empty.fresh()
        self._round_trips = RoundTrips(owner.tokenizer, owner.threads)
        self._counts = Counter(dict.fromkeys(_COUNTED, 0))
        self._seconds = 0.0
        self.units = _core.Units(MOST_UNITS)

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
        ended = self._tally.take_ended()
        self.units.extend(ended)
        owner.total.units.extend(ended)

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
        """Add what was counted to the total of all inputs."""
        total = self._owner.total
        self._counts.update(
            checked_documents=self._tally.checked_documents + self._round_trips.checked,
            failed_documents=self._tally.failed_documents + self._round_trips.failed,
        )
        total._tally.merge(self._tally)
        total._counts.update(self._counts)
        total._seconds += self._seconds

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


PASSAGE_BYTES = 2048
"""An input of at most so many bytes is also shown token by token."""

ALL_PASSAGES_BYTES = 8 * PASSAGE_BYTES
"""Inputs after so many bytes of passages are not shown any more."""


def compare(
    tokenizers: Sequence[Tokenizer],
    inputs: Iterable[tuple[str, Iterable[Block]]],
    *,
    names: Sequence[str] | None = None,
    specials: Specials = (),
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    baseline: int = 0,
    speed: bool = False,
    resamples: int = RESAMPLES,
    settings: Settings | None = None,
) -> Comparison:
    """Measure what several tokenizers make of inputs.

    Nothing in the result depends on ``threads`` or on how the inputs come in blocks, but for ``seconds``.

    Args:
        inputs: For each its name and its blocks, which are read once, and only as fast as the slowest
            tokenizer goes.
        names: What to call the tokenizers instead of their own names.
        progress: Called with the number of bytes of each block read.
        baseline: The number of the tokenizer that the others are compared with.
        speed: Whether to measure how long encoding takes, for which each text is encoded once more.
        resamples: How often documents are drawn to tell how sure a difference is; at least 39.
        settings: What the numbers depend on besides. Where it is known, the comparison holds also what tells its
            tokenizers and texts from others, so that it can be stored and held against another one later.

    Raises:
        ValueError: if there is no tokenizer, or none with the number ``baseline``, or ``resamples`` are too few.
        UsageError: if a name in ``specials`` is unknown to a tokenizer.
        InputError: if a byte has no token; the message says of which tokenizer and input.

    Memory: a few blocks, what ``Tokenizer.settle`` must hold of a document that cannot be cut, what
    ``RoundTrips`` holds, the first ``WORD_BYTES`` of an input, and two numbers per tokenizer and id.
    """
    if not tokenizers:
        raise ValueError("there is no tokenizer to compare")
    if not 0 <= baseline < len(tokenizers):
        raise ValueError(f"there is no tokenizer number {baseline} to compare the others with")
    if resamples < LEAST_RESAMPLES:
        raise ValueError(f"{resamples} resamples are too few: it takes {LEAST_RESAMPLES} to tell 95% of them")
    labels = _distinct(names or [tokenizer.name or "tokenizer" for tokenizer in tokenizers])
    tallies = [TokenizerTally(tokenizer, specials, threads, speed=speed) for tokenizer in tokenizers]

    def row_of(name: str, row_tallies: Sequence[InputTally], size: TextSize, sha256: str | None = None) -> Row:
        tokens = row_tallies[baseline].token_count
        measures = [each.measure(size, tokens) for each in row_tallies]
        differences = [
            None if number == baseline
            else difference(each.units, row_tallies[baseline].units, resamples=resamples, threads=threads)
            for number, each in enumerate(row_tallies)
        ]  # fmt: skip
        return Row.from_measures(name, measures, differences, sha256)

    rows: list[Row] = []
    sizes: list[TextSize] = []
    passages: list[Passage] = []
    room = ALL_PASSAGES_BYTES
    for name, blocks in inputs:
        reading = Reading(blocks, min(PASSAGE_BYTES, room), progress, hashed=settings is not None)
        input_tallies = [InputTally(tally) for tally in tallies]
        _read(name, reading, tallies, input_tallies, labels)
        types = reading.head.types(threads)
        for each in input_tallies:
            each.add_types(types)
            each.finish()
        sha256 = None if reading.digest is None else reading.digest.hexdigest()
        sizes.append(reading.size)
        rows.append(row_of(name, input_tallies, reading.size, sha256))
        for document, text in enumerate(reading.short or ()):
            if text:
                room -= len(text)
                segmented = (segment(tokenizer, bytes(text), specials) for tokenizer in tokenizers)
                passages.append(Passage(name, document, tuple(segmented)))
    if len(rows) == 1:  # the same numbers: not drawn once more
        total = replace(rows[0], name="total", sha256=None)
    else:
        total = row_of("total", [tally.total for tally in tallies], TextSize.total(sizes))
    adjusted = adjust([row.differences for row in rows])
    rows = [replace(row, differences=differences) for row, differences in zip(rows, adjusted, strict=True)]
    total = replace(total, differences=adjust([total.differences])[0])
    vocab_sizes = tuple(tokenizer.vocab_size for tokenizer in tokenizers)
    return Comparison(
        labels, vocab_sizes, tuple(rows), total, tuple(passages), baseline=baseline, settings=settings,
        fingerprints=() if settings is None else tuple(map(fingerprint, tokenizers)),
        frequencies=tuple(tally.total.frequencies for tally in tallies),
    )  # fmt: skip


def _read(
    name: str,
    reading: Reading,
    tallies: Sequence[TokenizerTally],
    input_tallies: Sequence[InputTally],
    labels: Sequence[str],
) -> None:
    """Read an input once, and have each tokenizer tally it."""
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
            raise InputError(f"{labels[number]} cannot encode {name}: {error.message}", hint=error.hint) from error


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
