"""A sample is the beginning of each input, however that came in blocks."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.input_accounts import Excerpt, Sample
from bpe_cli.support.blocks import Block
from tests.unit.reports.fake_tokenizer import blocks_of


def taken(limit, *inputs):
    sample = Sample(limit)
    for name, blocks in inputs:
        assert list(sample.watch(name, blocks)) == list(blocks)
    return sample


def test_by_hand():
    sample = taken(5, ("a", [Block.of([b"one\ntwo"])]), ("b", [Block.of([b"x", b"", b"yz"])]))
    assert sample.excerpts == [Excerpt("a", 0, b"one\n"), Excerpt("b", 0, b"x"), Excerpt("b", 2, b"yz")]
    assert (sample.byte_count, sample.whole) == (7, False)
    assert sample.by_name() == {"a": b"one\n", "b:1": b"x", "b:3": b"yz"}


def test_without_a_line_a_character_stays_whole():
    for limit, kept in ((3, b"abc"), (4, b"abc"), (5, b"abc"), (6, "abc谁".encode())):
        sample = taken(limit, ("a", [Block.of(["abc谁".encode()])]))
        assert sample.excerpts[0].text == (kept if limit != 3 else b"ab")
        assert sample.whole == (limit == 6)


def test_every_input_gets_the_same_room():
    assert Sample.shared(4, 100).limit == 25
    assert Sample.shared(0, 100).limit == 100
    assert Sample.shared(1000, 100).limit == 1


@given(
    st.lists(st.one_of(st.binary(max_size=9), st.text("a\né谁", max_size=9).map(str.encode)), max_size=6),
    st.integers(1, 40),
    st.integers(1, 30),
)
def test_blocks_change_nothing(documents, limit, size):
    whole, cut = Sample(limit), Sample(limit)
    for _ in whole.watch("x", [Block.of(documents)]):
        pass
    for _ in cut.watch("x", blocks_of(documents, size)):
        pass
    assert (whole.excerpts, whole.whole) == (cut.excerpts, cut.whole)
    assert whole.byte_count <= limit
    for excerpt in whole.excerpts:
        assert documents[excerpt.document].startswith(excerpt.text)
    if whole.whole:
        assert [excerpt.text for excerpt in whole.excerpts] == [document for document in documents if document]


def test_documents_without_a_byte_are_not_held():
    """A file of blank lines has as many documents as bytes."""
    sample = Sample(10)
    tracemalloc.start()
    try:
        for _ in sample.watch("a", (Block.of([*[b""] * 999, b"x" * (number == 99)]) for number in range(100))):
            pass
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert sample.excerpts == [Excerpt("a", 99_999, b"x")]
