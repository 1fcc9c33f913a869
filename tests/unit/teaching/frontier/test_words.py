"""Counts that are kept up to date are those that one gets by counting again."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.bpe import count_pairs, merge_words
from bpe_cli.teaching.frontier.words import Words

TEXTS = st.dictionaries(st.text("ab", max_size=9).map(tuple), st.integers(1, 9), max_size=6)


@given(TEXTS, st.lists(st.tuples(st.sampled_from(["a", "b", "ab"]), st.sampled_from(["a", "b", "ab"])), max_size=5))
def test_counts_are_those_of_counting_again(texts, pairs):
    kept, again = Words(texts), dict(texts)
    for pair in pairs:
        before = kept.words[:]
        changed = kept.merge(pair, "".join(pair))
        assert changed == [number for number, word in enumerate(before) if kept.words[number] != word]
        again = merge_words(again, pair, "".join(pair))
    assert kept.counts == count_pairs(again)
    assert kept.length == sum(len(word) * frequency for word, frequency in again.items())


def test_what_counts_may_change():
    hidden = {"b"}
    words = Words(
        {("a", "b", "a"): 2},
        lambda word: (pair for pair in pairwise(word) if not hidden & set(pair)),
    )
    assert words.counts == {}
    words.recount([0], hidden.clear)
    assert words.counts == {("a", "b"): 2, ("b", "a"): 2}
    words.forget(("a", "b"))
    assert words.counts == {("b", "a"): 2}
