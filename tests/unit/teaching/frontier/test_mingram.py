"""MinGram's textbook: segmentations compared with all there are, and what each round leaves."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.frontier.mingram import UNIT, costs_of, seeds_of, segment, train
from bpe_cli.teaching.frontier.path_piece import fewest
from tests.oracle.segmentations import segmentations

BYTES = [b"a", b"b", b"c"]
PIECES = st.dictionaries(
    st.text("abc", min_size=1, max_size=8).map(str.encode), st.integers(1, 9), min_size=1, max_size=8
)
USES = st.dictionaries(st.text("ab", min_size=2, max_size=4).map(str.encode), st.integers(0, 9), max_size=6).map(
    lambda longer: {b"a": 1, b"b": 0} | longer
)


@given(st.text("ab", max_size=10), USES, st.sampled_from([0.0, 1e-5, 0.3]))
def test_it_is_the_best_of_all_segmentations(text, uses, delta):
    costs = costs_of(uses, delta)
    found = segment(text.encode(), costs)
    every = list(segmentations(text, {token.decode(): cost for token, cost in costs.items()}))
    least = min(cost for _, cost in every)
    best = [tokens for tokens, cost in every if cost == least]
    longest_last = max(best, key=lambda tokens: [len(token) for token in reversed(tokens)])
    assert [token.decode() for token in found] == list(longest_last)


@given(st.text("ab", max_size=10), USES)
def test_without_probabilities_it_is_the_fewest_tokens(text, uses):
    assert segment(text.encode(), costs_of(uses, 0.0)) == fewest(text.encode(), uses)
    assert len(segment(text.encode(), costs_of(uses))) == len(fewest(text.encode(), uses))


def test_the_likelier_of_two():
    costs = costs_of({b"a": 1, b"b": 1, b"c": 1, b"ab": 2, b"bc": 9})
    assert segment(b"abc", costs) == [b"a", b"bc"]
    assert segment(b"abc", costs_of({b"a": 1, b"b": 1, b"c": 9, b"ab": 9, b"bc": 2})) == [b"ab", b"c"]


def test_a_likely_way_of_more_tokens_wins_where_probabilities_count_much():
    uses = {b"a": 90, b"b": 90, b"ab": 1}
    assert segment(b"ab", costs_of(uses, 1e-5)) == [b"ab"]
    assert segment(b"ab", costs_of(uses, 1.0)) == [b"a", b"b"]


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1.0])
def test_costs_fall_with_uses(delta):
    costs = costs_of({b"a": 0, b"b": 1, b"c": 2, b"ab": 900}, delta)
    assert all(first >= second >= UNIT for first, second in pairwise(costs.values()))


@given(PIECES, st.integers(3, 12), st.integers(0, 5), st.integers(1, 3))
def test_each_round_leaves_what_it_should(pieces, vocab_size, more, rounds):
    seeds = seeds_of(pieces, BYTES, vocab_size + more)
    steps = list(train(pieces, vocab_size, seeds, rounds=rounds))
    kinds = [step.kind for step in steps]
    pruned = ["pruning", *["expectation"] * rounds] if "pruning" in kinds else []
    assert kinds == ["seeds", *["expectation"] * rounds, *pruned]
    for before, step in pairwise(steps):
        assert list(step.uses) == [token for token in before.uses if token in step.uses]
        assert set(BYTES) <= step.uses.keys() == step.costs.keys()
        gone = before.uses.keys() - step.uses.keys()
        if step.kind == "pruning":
            assert len(step.uses) == vocab_size < len(before.uses)
            left = [before.uses[token] for token in step.uses if len(token) > 1]
            assert max(before.uses[token] for token in gone) <= min(left, default=max(before.uses.values()))
        else:
            length = sum(count * len(fewest(piece, before.uses)) for piece, count in pieces.items())
            assert sum(step.uses.values()) == length
            assert all(count for token, count in step.uses.items() if len(token) > 1)
    assert len(steps[-1].uses) <= vocab_size
