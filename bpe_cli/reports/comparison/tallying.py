"""Tally what one tokenizer makes of inputs, while it encodes them."""

from __future__ import annotations

import time
from array import array
from typing import TYPE_CHECKING

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.measures import Measure
from bpe_cli.reports.comparison.statistics import MOST_UNITS
from bpe_cli.reports.tokenizer.contents import fallback_ids
from bpe_cli.stages import Prepend, SpaceMarks
from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.input_accounts import WordTypes
    from bpe_cli.tokenizer import Specials, Tokenizer


_SPACES = (" ", "▁")


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
        matcher: What is looked for in the text.
        tiled: Whether tokens' bytes, one after the other, are those of the text, if the tokenizer is plain: no
            token takes white space along, and there is at most one space put before each document.
        puts_space: Whether a word by itself gets what it has behind a space: see ``puts_space``.
        total: All inputs that were finished.
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
            vocabulary.blob,
            vocabulary.ends,
            *tokenizer.special_table,
            array("I", sorted(fallback.unknown)),
            array("I", sorted(fallback.bytes)),
        )
        self.tiled = not (tokenizer.prefix_space and self.matcher) and not any(
            (token.lstrip or token.rstrip)
            and (not token.special or specials == "all" or token.content.decode("utf-8", "replace") in specials)
            for token in tokenizer.special_tokens
        )
        self.puts_space = puts_space(tokenizer)
        self.vocab_size = self.empty.vocab_size
        if speed:  # what is compiled at first use is not part of the speed
            tokenizer.encode_block(Block.of([b""]), self.matcher, threads)
        self.total = InputTally(self)

    def begin(self) -> InputTally:
        """Begin an input."""
        return InputTally(self)


class InputTally:
    """Tally one tokenizer on one input, or on all together.

    Attributes:
        units: Tokens by document.
        token_count: Tokens.
    """

    def __init__(self, owner: TokenizerTally) -> None:
        self._owner = owner
        self._tally = owner.empty.fresh()
        self._round_trips = RoundTrips(owner.tokenizer, owner.threads)
        self._types = self._single = self._single_spaced = 0
        self._checked = self._failed = 0
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
        """Encode a block, as ``Tokenizer.settle`` gives it, and count.

        Raises:
            InputError: if a byte has no token.
        """
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
        self._types += types.count
        single = self._count_single(types.bare)
        self._single += single
        self._single_spaced += single if self._owner.puts_space else self._count_single(types.spaced)

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
        self._checked = self._tally.checked_documents + self._round_trips.checked
        self._failed = self._tally.failed_documents + self._round_trips.failed
        total._tally.merge(self._tally)
        total._types += self._types
        total._single += self._single
        total._single_spaced += self._single_spaced
        total._checked += self._checked
        total._failed += self._failed
        total._seconds += self._seconds

    def measure(self, documents: int, empty: int, size: int, characters: int, baseline_tokens: int) -> Measure:
        """Return the measure of an input that was finished, or of all.

        Args:
            documents: How many there are.
            empty: How many of them have no byte.
            size: How many bytes.
            characters: How many characters.
            baseline_tokens: How many tokens the baseline has.
        """
        tally = self._tally
        return Measure(
            document_count=documents,
            byte_count=size,
            character_count=characters,
            token_count=tally.tokens,
            baseline_tokens=baseline_tokens,
            word_count=tally.words,
            split_words=tally.split_words,
            type_count=self._types,
            one_token_types=self._single,
            one_token_types_spaced=self._single_spaced,
            vocab_size=self._owner.vocab_size,
            used_ids=tally.used_ids,
            unknown_tokens=tally.unknown_tokens,
            byte_tokens=tally.byte_tokens,
            checked_documents=self._checked,
            failed_documents=self._failed,
            shannon_entropy=tally.shannon_entropy,
            renyi_entropy=tally.renyi_entropy,
            mean_bytes_per_token=tally.mean_bytes_per_token,
            seconds=self._seconds if self._owner.speed else None,
            unknown_bytes=tally.unknown_bytes,
            coverage_rank=tally.coverage_rank,
            empty_documents=empty,
        )


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
