"""Find where tokenizers cut texts, with no Python object per token where the core can be asked in bulk."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Specials, Tokenizer


class Cutter:
    """Hold the ids of texts and the offsets at which their tokens end.

    Byte-level tokenizers are asked once for all texts: a token's end is the sum of lengths. Of others each text's
    spans are asked for; they lie between characters, so the tokens that share one end where it ends.

    Attributes:
        unk_id: The id that stands for what the vocabulary does not have, if there is one.
    """

    def __init__(self, tokenizer: Tokenizer, specials: Specials = (), threads: int = 1) -> None:
        self._tokenizer = tokenizer
        self._specials = specials
        self._matcher = tokenizer.matcher(specials)
        self._threads = threads
        self.unk_id: int | None = tokenizer.model.unk_id
        self._lengths: array[int] | None = None
        if tokenizer.has_spans and not tokenizer.prefix_space:
            self._lengths = _lengths(tokenizer)

    def count(self, texts: Sequence[bytes]) -> list[int]:
        """Count the tokens of each text.

        Raises:
            InputError: A byte of a text has no token.
        """
        return self._tokenizer.count_block(Block.of(texts), self._matcher, self._threads).tolist()

    def unknown(self, texts: Sequence[bytes]) -> int:
        """Count the tokens in texts that stand for what the vocabulary does not have."""
        if self.unk_id is None:
            return 0
        ids, _ = self._tokenizer.encode_block(Block.of(texts), self._matcher, self._threads)
        return ids.tolist().count(self.unk_id)

    def keeps(self, texts: Sequence[bytes]) -> bool:
        """Return whether the ids of each text decode to it, byte for byte."""
        for text in texts:
            ids, _ = self._tokenizer.encode_block(Block.of([text]), self._matcher, self._threads)
            if self._tokenizer.decode_bytes(ids) != text:
                return False
        return True

    def cut(self, texts: Sequence[bytes]) -> Iterator[tuple[list[int], list[int]]]:
        """Yield for each text its ids, and where each token ends (bytes, never descending).

        Raises:
            InputError: A byte of a text has no token.
        """
        if self._lengths is None:
            for text in texts:
                yield self._one(text)
            return
        ids, stops = self._tokenizer.encode_block(Block.of(texts), self._matcher, self._threads)
        length = self._lengths.__getitem__
        start = 0
        for stop in stops:
            part = ids[start:stop].tolist()
            yield part, list(accumulate(map(length, part)))
            start = stop

    def _one(self, text: bytes) -> tuple[list[int], list[int]]:
        if self._tokenizer.has_spans:
            tokens = self._tokenizer.tokens(text, specials=self._specials)
            return [token.token_id for token in tokens], [token.end for token in tokens]
        ids: list[int] = []
        ends: list[int] = []
        last = 0
        for token_id, _, end in self._tokenizer.spans(text, self._matcher):
            # A normalizer may put marks in another order; a text is cut from left to right all the same.
            last = max(last, end)
            ids.append(token_id)
            ends.append(last)
        return ids, ends


def _lengths(tokenizer: Tokenizer) -> array[int]:
    """Return the length in bytes of every token by id."""
    lengths = array("I", bytes(4 * tokenizer.vocab_size))
    start = 0
    for token_id, end in enumerate(tokenizer.model.vocabulary.ends):
        lengths[token_id] = end - start
        start = end
    for token in tokenizer.special_tokens:
        lengths[token.token_id] = len(token.content)
    return lengths
