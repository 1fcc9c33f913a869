"""Check that samples are even, of the size asked for, and the same however the corpus is cut."""

from __future__ import annotations

from array import array
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.support.blocks import Block
from bpe_cli.trainers.base import reservoir, sample


@given(st.lists(st.binary(max_size=4), max_size=30), st.integers(1, 12), st.integers(0, 2**64 - 1))
def test_is_a_part_in_order(documents: list[bytes], size: int, seed: int) -> None:
    chosen = reservoir(documents, size, seed)
    assert len(chosen) == min(size, len(documents))
    remaining = iter(documents)
    assert all(document in remaining for document in chosen)
    assert reservoir(documents, size, seed) == chosen


def test_is_even() -> None:
    documents = [bytes([number]) for number in range(20)]
    counts = Counter(document for seed in range(4000) for document in reservoir(documents, 5, seed))
    # 4000 draws of probability 1/4: five standard deviations are 137.
    assert all(abs(counts[document] - 1000) < 140 for document in documents)


def test_a_document_over_blocks_is_one() -> None:
    blocks = [
        Block(b"abcd", array("Q", [2, 4]), unfinished=True),
        Block(b"efg", array("Q", [2, 3]), continued=True),
    ]
    (whole,) = sample(blocks, 10)
    assert [bytes(document) for document in whole.documents()] == [b"ab", b"cdef", b"g"]
    assert sample(blocks, None) is blocks
