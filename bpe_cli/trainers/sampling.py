"""Choose documents to train on: a sample of fixed size from a corpus of any length, in one pass.

Vitter's algorithm R (1985) with SplitMix64: the same seed and documents give the same sample, in the
order of the corpus, however the corpus is cut into blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bpe_cli.support.blocks import Block, whole_documents

SEED = 12345678
"""Where the random numbers begin unless the caller says otherwise."""

_MASK = (1 << 64) - 1


def _random_bits(seed: int) -> Iterator[int]:
    """Yield 64 random bits at a time: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    state = seed & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)


def reservoir(documents: Iterable[bytes], size: int, seed: int = SEED) -> list[bytes]:
    """Take ``size`` documents, each with the same probability; all of them if there are no more.

    >>> reservoir([b"a", b"b"], 3)
    [b'a', b'b']
    >>> len(reservoir((b"%d" % number for number in range(1000)), 10))
    10
    """
    chosen: list[tuple[int, bytes]] = []
    bits = _random_bits(seed)
    for number, document in enumerate(documents):
        if number < size:
            chosen.append((number, document))
            continue
        # The high half of a product is even to within 2^-64, whatever the number of documents.
        place = (next(bits) * (number + 1)) >> 64
        if place < size:
            chosen[place] = number, document
    return [document for _, document in sorted(chosen, key=lambda item: item[0])]


def sample(blocks: Iterable[Block], size: int | None, seed: int = SEED) -> Iterable[Block]:
    """Return the blocks as they are, or one block with a sample of their documents."""
    if size is None:
        return blocks
    documents = (document for ended in whole_documents(blocks) for document in ended)
    return [Block.of(reservoir(documents, size, seed))]


def without(blocks: Iterable[Block], longest: int, reserved: bytes) -> Iterator[Block]:
    """Leave out documents that are empty, longer than ``longest`` bytes, or have a reserved text in them.

    No more of a document is held than a block and ``longest`` bytes.
    """
    for documents in whole_documents(blocks, longest):
        kept = [each for each in documents if each and len(each) <= longest and reserved not in each]
        if kept:
            yield Block.of(kept)
