"""tokenizer-extension: merges on top of others, and orders of pruning that leave no token without its parts."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching import bpe
from bpe_cli.teaching.frontier.extension import learn, leaves_by, ranks_of, segment, structure_of, without

PIECES = st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=6)


def trained(pieces, number: int) -> tuple[list[str], list[tuple[str, str]]]:
    training = bpe.train(bpe.character_words(pieces, end=""), num_merges=number)
    return training.tokens(), training.merges()


@given(PIECES, st.integers(0, 6), st.integers(1, 6))
def test_learning_in_two_parts_is_learning_at_once(pieces, first, second):
    at_once = learn(pieces, [], first + second)
    begun = learn(pieces, [], first)
    assert begun + learn(pieces, begun, first + second - len({left + right for left, right in begun})) == at_once


@given(PIECES, st.integers(0, 12), st.booleans())
def test_no_token_goes_before_what_is_made_of_it(pieces, number, by_frequency):
    tokens, merges = trained(pieces, number)
    structure = structure_of(tokens, merges)
    order = list(leaves_by(tokens, merges, Counter(pieces) if by_frequency else None))
    assert set(order) == structure.splits.keys() | structure.unreachable
    places = {token: place for place, token in enumerate(order)}
    for token, parts in structure.splits.items():
        assert all(places[part] > places[token] for part in parts if part in places)
    for gone in range(len(order) + 1):
        left, kept = without(tokens, merges, set(order[:gone]))
        ranks = ranks_of(kept)
        assert all(segment(token, ranks)[0] == [token] for token in left if token not in structure.unreachable)


def test_of_equally_rare_leaves_the_last_goes_first():
    tokens, merges = ["a", "b", "c", "ab", "bc"], [("a", "b"), ("b", "c")]
    assert list(leaves_by(tokens, merges, {})) == ["bc", "ab"]
    assert list(leaves_by(tokens, merges, {"bc": 1})) == ["ab", "bc"]
