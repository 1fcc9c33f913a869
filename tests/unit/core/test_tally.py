"""The border of tallies, units and resampling: what they take, and what they refuse."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.stages import WhitespaceSplit
from bpe_cli.stages.component_json import core_spec
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import named_encodings
from tests.unit.reports.small_tokenizers import byte_level

NOTHING = array("I"), b"", array("I")
TWO = b"ab", array("I", [1, 2])


def tally(unknown=(), single=()):
    return _core.Tally(TWO, NOTHING, array("I", unknown), array("I", single))


def test_by_hand():
    found = tally(unknown=[7], single=[1])
    spans = array("Q", [0, 1, 2, 3]), array("Q", [1, 2, 3, 4])
    found.add(Block.of([b"ab", b" a"]), array("I", [0, 1, 7, 0]), array("Q", [2, 4]), spans)
    assert (found.tokens, found.words, found.split_words) == (4, 2, 1)
    assert list(memoryview(found.counts)) == [2, 1]
    assert (found.used_ids, found.unknown_tokens, found.unknown_bytes, found.byte_tokens) == (3, 1, 1, 1)
    assert (found.vocab_size, found.checked_documents) == (3, 0)
    assert list(memoryview(found.take_ended())) == [2, 2]
    assert list(memoryview(found.take_ended())) == []
    both = found.fresh()
    both.merge(found)
    both.merge(found)
    assert (both.tokens, both.words, both.mean_bytes_per_token) == (8, 4, 1.0)
    assert found.single_tokens(array("I", [0, 7, 1, 1]), array("Q", [1, 2, 4])) == 1


def test_what_was_counted_comes_back_from_bytes():
    found = tally(unknown=[7], single=[1])
    found.add(Block.of([b"ab", b"ba"]), array("I", [0, 1, 7, 2**32 - 1]), array("Q", [2, 4]))
    back = found.load(found.dump())
    for name in ("tokens", "words", "used_ids", "unknown_bytes", "failed_documents", "mean_bytes_per_token"):
        assert getattr(back, name) == getattr(found, name), name
    assert (back.dump(), bytes(back.counts)) == (found.dump(), bytes(found.counts))
    assert list(memoryview(back.take_ended())) == []
    back.merge(found)
    assert (back.tokens, found.tokens) == (8, 4)
    for damaged in (b"", found.dump()[:-1], found.dump() + b"\1"):
        with pytest.raises(ValueError, match="the tally is damaged"):
            found.load(damaged)


def test_what_contradicts_itself_is_refused():
    block, ids, ends = Block.of([b"ab"]), array("I", [0, 1]), array("Q", [2])
    with pytest.raises(ValueError, match="do not end where"):
        tally().add(block, ids, array("Q", [1]))
    with pytest.raises(ValueError, match="last document ends at 2, the text at 3"):
        tally().add(Block(b"abc", ends), ids, ends)
    for spans in ((array("Q", [0]), array("Q", [1])), (array("Q", [0, 1]), array("Q"))):
        with pytest.raises(ValueError, match="not every id has a span"):
            tally().add(block, ids, ends, spans)
    with pytest.raises(ValueError, match="special ids do not ascend"):
        _core.Tally(TWO, (array("I", [9, 8]), b"xy", array("I", [1, 2])), array("I"), array("I"))
    with pytest.raises(ValueError, match="not every special token has an id"):
        _core.Tally(TWO, (array("I", [9]), b"xy", array("I", [1, 2])), array("I"), array("I"))
    with pytest.raises(AttributeError, match="'bytes' object has no attribute 'data'"):
        tally().add(b"ab", ids, ends)
    with pytest.raises(ValueError, match="added to itself"):
        (own := tally()).merge(own)
    with pytest.raises(ValueError, match="cannot be paired"):
        _core.bootstrap_interval(array("Q", [1]), array("Q"), 100, 0, 1)


@given(st.lists(st.text("low er\n\u3000é", max_size=20).map(str.encode), max_size=5), st.integers(1, 3))
def test_tallies_of_both_ways_agree(documents, threads):
    """The plain way tells more, whether documents come back; all else is the same through all stages."""
    tokenizer = byte_level([b"lo", b"low", b" e"])
    fast = named_encodings.named("gpt2")
    for each in (tokenizer, fast):
        empty = _core.Tally(
            (each.model.vocabulary.blob, each.model.vocabulary.ends), each.special_table, array("I"), array("I")
        )
        plain, staged = empty.fresh(), empty.fresh()
        block = Block.of(documents)
        assert each.engine.tally(plain, block, None, threads, tiled=True) is None
        ids, ends = each.engine.tally(staged, block, None, threads, tiled=False)
        assert [memoryview(array).tolist() for array in each.encode_block(block)] == [ids.tolist(), ends.tolist()]
        assert memoryview(plain.counts) == memoryview(staged.counts)
        assert (plain.words, plain.split_words) == (staged.words, staged.split_words)
        assert (plain.checked_documents, plain.failed_documents) == (len(documents), 0)
        assert staged.checked_documents == 0
        assert memoryview(each.engine.failures(block, ids, ends, threads)).tolist() == []


def test_pieces_come_at_once():
    counts = _core.Counts(1 << 20)
    stages = _core.Stages(core_spec((), (WhitespaceSplit(),)))
    counts.add_staged(Block.of([b"to be or not to be"]), stages, None, 1)
    data, ends = counts.pieces()
    assert (data, memoryview(ends).tolist()) == (b"tobeornot", [2, 4, 6, 9])
    data, ends = counts.pieces(b" ")
    assert (data, memoryview(ends).tolist()) == (b" to be or not", [3, 6, 9, 13])
