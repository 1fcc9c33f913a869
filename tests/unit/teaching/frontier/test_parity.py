"""Parity-aware BPE, on languages of a few words."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching import bpe
from bpe_cli.teaching.frontier.parity import learn

LANGUAGE = st.dictionaries(st.text("abc", min_size=1, max_size=6).map(tuple), st.integers(1, 9), min_size=1, max_size=5)
ENGLISH, GERMAN = {("t", "h", "e"): 9, ("a", "t"): 3}, {("d", "i", "e"): 4, ("d", "a"): 2}


@given(LANGUAGE, st.integers(1, 9))
def test_one_language_is_plain_bpe(words, merges):
    plain = bpe.train(words, num_merges=merges, min_frequency=2, tie="largest-text").merges()
    assert [step.pair for step in learn([words], merges, development=[words])] == plain
    assert [step.pair for step in learn([words], merges, ratios=[1])] == plain


@given(LANGUAGE, LANGUAGE, st.integers(1, 9))
def test_shared_merges_are_those_of_the_texts_together(one, other, merges):
    together = Counter(one)
    together.update(other)
    plain = bpe.train(together, num_merges=merges, min_frequency=2, tie="largest-text").merges()
    steps = list(learn([one, other], merges, ratios=[1, 1], shared_merges=merges))
    assert [step.pair for step in steps] == plain
    assert {step.language for step in steps} <= {None}


def test_the_language_that_shrank_least_for_its_ratio_chooses():
    steps = list(learn([ENGLISH, GERMAN], 3, ratios=[1, 9]))
    assert [(step.pair, step.language) for step in steps] == [
        (("i", "e"), 1),
        (("d", "ie"), 1),
        (("d", "a"), 1),
    ]


def test_a_rare_pair_ends_the_training():
    rare = {("x", "y"): 1}
    assert list(learn([ENGLISH, rare], 5, development=[{("a",): 1}, {("x", "y"): 9}])) == []


def test_a_window_gives_others_a_turn():
    development = [{("t", "h", "e"): 9}, {("d", "i", "e"): 1}]
    chosen = [step.language for step in learn([ENGLISH, GERMAN], 2, development=development, window=1, alpha=1)]
    assert chosen == [0, 1]


def test_a_window_that_nobody_passes():
    steps = learn([ENGLISH, GERMAN], 3, development=[ENGLISH, GERMAN], window=2, alpha=0)
    with pytest.raises(ValueError, match="every language has chosen too often"):
        list(steps)


def test_merges_made_before_are_not_learnt_again():
    first = [step.pair for step in learn([ENGLISH, GERMAN], 2, ratios=[1, 1])]
    rest = [step.pair for step in learn([ENGLISH, GERMAN], 2, development=[ENGLISH, GERMAN], preload=first)]
    assert len(rest) == 2
    assert not set(first) & set(rest)


@pytest.mark.parametrize("judges", [{}, {"development": [ENGLISH], "ratios": [1.0]}])
def test_something_says_which_language_is_the_worst(judges):
    with pytest.raises(ValueError, match="either a development set or ratios"):
        list(learn([ENGLISH], 1, **judges))
