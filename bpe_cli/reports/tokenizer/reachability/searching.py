"""Encode many texts at once and look which hold the token that they are to hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

Candidate = tuple[int, bytes]
"""A token's id, and a text that might become it."""

LONGEST = 1024
"""Texts of more bytes are not tried, but for a token's own text: see ``LONG_BYTES``."""

LONG_BYTES = 1 << 24
"""Of tokens that are longer, as many are tried as have so many bytes together."""

_TEXTS_AT_ONCE = 1 << 14
_BYTES_AT_ONCE = 1 << 22
_MOST_FAILURES = 1 << 16


class Search:
    """Encode texts with a tokenizer, through all of its stages, special tokens left alone.

    Complexity: that of encoding all texts, in memory for a few megabytes of them.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._matcher = tokenizer.matcher()
        self._failures = 0

    def encoded(self, texts: Iterable[bytes]) -> Iterator[list[int] | None]:
        """Yield the ids of each text; None where it cannot be encoded."""
        batch: list[bytes] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += len(text)
            if size >= _BYTES_AT_ONCE or len(batch) >= _TEXTS_AT_ONCE:
                yield from self._encode(batch)
                batch, size = [], 0
        yield from self._encode(batch)

    def _encode(self, texts: list[bytes]) -> Iterator[list[int] | None]:
        if not texts:
            return
        if self._failures > _MOST_FAILURES:  # a vocabulary that lacks most of its alphabet
            yield from (None for _ in texts)
            return
        try:
            ids, ends = self._tokenizer.encode_block(Block.of(texts), self._matcher)
        except InputError:  # some text has a byte or a character that has no token
            if len(texts) == 1:
                self._failures += 1
                yield None
                return
            middle = len(texts) // 2
            yield from self._encode(texts[:middle])
            yield from self._encode(texts[middle:])
            return
        all_ids = ids.tolist()
        start = 0
        for end in ends.tolist():
            yield all_ids[start:end]
            start = end

    def witnesses(self, candidates: Iterable[Candidate]) -> dict[int, bytes]:
        """Return, for each token that some text becomes, the first such text."""
        found: dict[int, bytes] = {}
        waiting = iter(candidates)
        while batch := list(islice(waiting, _TEXTS_AT_ONCE)):
            for (token_id, text), ids in zip(batch, self.encoded(text for _, text in batch), strict=True):
                if ids is not None and token_id in ids:
                    found.setdefault(token_id, text)
        return found
