"""What a tokenizer's own stages make of a corpus: counts of pieces, and the tokens of each piece."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate

from bpe_cli import _core
from bpe_cli.stages import Model
from bpe_cli.stages.counting import count_blocks
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Specials, Tokenizer

_CHUNK = 1 << 16


def count_pieces(
    tokenizer: Tokenizer, blocks: Iterable[Block], counts: _core.Counts, threads: int = 1, specials: Specials = ()
) -> None:
    """Send documents through a tokenizer's stages and add the pieces that come out to counts.

    Args:
        tokenizer: Whose stages.
        blocks: The documents.
        counts: What is added to.
        threads: How many to use.
        specials: Which special tokens are found in the text; those, and added tokens, are taken out.

    Raises:
        TrainingError: if there are more different pieces than the counts' memory holds, or text cannot be cut.
        UsageError: if a name in ``specials`` is unknown.
    """
    count_blocks(
        blocks, tokenizer.engine, counts, threads, tokenizer.matcher(specials), smaller="count a sample of the corpus"
    )  # fmt: skip


def segmented(model: Model, counts: _core.Counts) -> Iterator[tuple[list[bytes], array[int], memoryview, memoryview]]:
    """Encode the pieces of a corpus by a model alone, some thousands at a time.

    Yields:
        Pieces, how often each occurs (u64), the ids of all of them (u32), where each piece's end (u64).

    Raises:
        InputError: if the model has no token for a byte.
    """
    bare = Tokenizer(model)
    for start in range(0, counts.unique, _CHUNK):
        found = counts.items(start, _CHUNK)
        pieces = [piece for piece, _ in found]
        block = Block(b"".join(pieces), array("Q", accumulate(map(len, pieces))))
        ids, ends = bare.encode_block(block)
        yield pieces, array("Q", (number for _, number in found)), ids, ends


def count_tokens(model: Model, counts: _core.Counts) -> dict[int, int]:
    """Count how often each token occurs in a corpus, by id.

    Raises:
        InputError: if the model has no token for a byte.
    """
    uses: dict[int, int] = {}
    for _, numbers, ids, ends in segmented(model, counts):
        start = 0
        for number, end in zip(numbers, ends, strict=True):
            for token_id in ids[start:end]:
                uses[token_id] = uses.get(token_id, 0) + number
            start = end
    return uses
