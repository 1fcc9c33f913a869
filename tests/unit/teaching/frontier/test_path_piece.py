"""The fewest tokens, compared with all segmentations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.frontier.path_piece import fewest, longest_from_the_left
from tests.oracle.rust_random import StdRng
from tests.oracle.segmentations import segmentations

VOCABULARY = st.sets(st.text("ab", min_size=2, max_size=5), max_size=6).map(lambda tokens: tokens | {"a", "b"})


@given(st.text("ab", max_size=12), VOCABULARY, st.none() | st.integers(0, 99).map(lambda seed: StdRng(seed).up_to))
def test_no_segmentation_is_shorter(text, vocabulary, draw):
    tokens = fewest(text.encode(), {token.encode() for token in vocabulary}, draw)
    assert b"".join(tokens).decode() == text
    assert len(tokens) == min(len(found) for found, _ in segmentations(text, dict.fromkeys(vocabulary, 0.0)))


@given(st.text("ab", max_size=12), VOCABULARY)
def test_the_last_token_is_the_longest_of_all_best_ways(text, vocabulary):
    tokens = fewest(text.encode(), {token.encode() for token in vocabulary})
    ways = [found for found, _ in segmentations(text, dict.fromkeys(vocabulary, 0.0)) if len(found) == len(tokens)]
    assert [len(token) for token in reversed(tokens)] == max([len(token) for token in reversed(way)] for way in ways)


def test_every_way_is_drawn():
    vocabulary = {b"a", b"aa"}
    drawn = {tuple(fewest(b"aaa", vocabulary, StdRng(seed).up_to)) for seed in range(20)}
    assert drawn == {(b"a", b"aa"), (b"aa", b"a")}


@pytest.mark.parametrize("encode", [fewest, longest_from_the_left])
def test_what_no_tokens_give(encode):
    assert encode(b"", set()) == []
    with pytest.raises(ValueError, match="no token"):
        encode(b"abc", {b"a", b"ab"})
