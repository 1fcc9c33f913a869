"""Count how often each token of a tokenizer occurs in a corpus."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bpe_cli import _core

if TYPE_CHECKING:
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Specials, Tokenizer

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How often each token occurs in a corpus.

    Attributes:
        counts: By id (u64).
        beyond: The same of ids behind the end of ``counts``: a special token's id can be any u32.
        document_count: Documents.
        byte_count: Bytes of text.
        token_count: Tokens.
    """

    counts: array[int]
    beyond: dict[int, int] = field(default_factory=dict)
    document_count: int = 0
    byte_count: int = 0
    token_count: int = 0

    def of(self, token_id: int) -> int:
        """Return how often a token occurs."""
        return self.counts[token_id] if token_id < len(self.counts) else self.beyond.get(token_id, 0)

    def items(self) -> Iterable[tuple[int, int]]:
        """Yield (id, how often) of the tokens that occur, in order of id."""
        yield from ((token_id, count) for token_id, count in enumerate(self.counts) if count)
        yield from sorted(self.beyond.items())


def count_ids(ids: memoryview, into: array[int]) -> dict[int, int]:
    """Count ids.

    Args:
        ids: A buffer of u32.
        into: Counts by id (u64), which are added to.

    Returns:
        How often ids occur that lie behind its end.
    """
    beyond: Counter[int] = Counter()
    for start in range(0, len(ids), _CHUNK):
        for token_id, count in Counter(ids[start : start + _CHUNK]).items():
            if token_id < len(into):
                into[token_id] += count
            else:
                beyond[token_id] += count
    return beyond


def count_frequencies(
    tokenizer: Tokenizer,
    blocks: Iterable[Block],
    *,
    specials: Specials = (),
    threads: int = 1,
) -> Frequencies:
    """Encode a corpus and count its tokens; the result depends on the documents alone.

    Args:
        tokenizer: The tokenizer.
        blocks: The documents.
        specials: Which special tokens are looked for in the text.
        threads: How many threads encode.

    Raises:
        UsageError: if a name in ``specials`` is unknown.
        InputError: if a byte of the text has no token.

    Memory: a few blocks, and 8 bytes for each id.
    """
    matcher = tokenizer.matcher(specials)
    counts = array("Q", bytes(8 * min(tokenizer.vocab_size, _core.MAX_TOKENS)))
    beyond: Counter[int] = Counter()
    documents = size = tokens = 0
    for block in tokenizer.settle(blocks, matcher):
        ids, _ = tokenizer.encode_block(block, matcher, threads)
        beyond.update(count_ids(memoryview(ids), counts))
        tokens += len(ids)
        size += len(block.data)
        documents += block.ended
    return Frequencies(counts, dict(beyond), documents, size, tokens)
