"""Text in subwords: worked examples, and what holds for any text."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.segmenting import Segmenter, merge_by_rank
from bpe_cli.teaching.encode import replay_merges

LOWER = [("l", "o"), ("lo", "w"), ("e", "r</w>"), ("lo", "w</w>"), ("low", "er</w>")]


def test_words_are_cut_and_blanks_around_are_kept():
    cut = Segmenter(LOWER)
    assert cut.line(" low  lowest lower x\r\n") == " low low@@ e@@ s@@ t lower x\r\n"
    assert cut.line("  \n") == "  \n"
    assert cut.line("") == ""
    assert cut.word("low") == ["low"]


def test_the_suffix_can_be_a_symbol_of_its_own():
    cut = Segmenter([("l", "o"), ("lo", "w"), ("low", "</w>")], separate_suffix=True)
    assert cut.segment("low lowl") == "low low@@ l"


def test_what_is_not_in_the_vocabulary_is_taken_apart():
    assert Segmenter(LOWER, vocabulary={"low", "low@@"}).segment("lower low") == "low@@ e@@ r low"
    assert Segmenter(LOWER, vocabulary={"lo@@", "er"}).segment("lower") == "lo@@ w@@ er"
    assert Segmenter(LOWER, vocabulary=()).segment("lower") == "l@@ o@@ w@@ e@@ r"


def test_glossaries_stay_whole():
    cut = Segmenter(LOWER, glossaries=["[0-9]+", "lowest"])
    assert cut.segment("low2024low lowest 7") == "low@@ 2024@@ low lowest 7"
    assert Segmenter(LOWER, glossaries=["x*"]).segment("low") == "low", "nothing is matched"
    with pytest.raises(UsageError, match=r"glossary '\(' does not compile"):
        Segmenter(LOWER, glossaries=["("])


def test_a_pair_with_a_lower_rank_waits_for_the_end_of_a_step():
    ranks = {("ab", "a"): 0, ("a", "b"): 1}
    assert merge_by_rank("abab", ranks) == ["ab", "ab"]
    assert merge_by_rank("aba", ranks) == ["aba"]


def test_another_encoder_can_cut():
    cut = Segmenter([], encode_word=lambda word: [word[:1], word[1:] + "</w>"], separator="+")
    assert cut.segment("low a") == "l+ ow a"


def test_dropout_depends_on_seed_and_line_alone():
    text = "lower lowest " * 20
    cut = Segmenter(LOWER, dropout=0.5, seed=1)
    first = cut.segment(text, 3)
    assert cut.segment(text, 4) != first
    assert Segmenter(LOWER, dropout=0.5, seed=2).segment(text, 3) != first
    assert Segmenter(LOWER, dropout=0.5, seed=1).segment(text, 3) == first
    assert Segmenter(LOWER, dropout=1).segment("low") == "l@@ o@@ w"
    assert Segmenter(LOWER, dropout=0).segment("low") == "low"
    with pytest.raises(UsageError, match="no probability"):
        Segmenter(LOWER, dropout=1.5)


def test_dropout_draws_as_the_paper_does():
    """Two merges that do not touch: what was left out in one step can be taken in the next."""
    cut = Segmenter([("a", "b"), ("c", "d")], suffix="", dropout=0.5, seed=5)
    found = Counter(cut.segment("abcd", number) for number in range(4000))
    for text, share in {"ab@@ cd": 0.375, "ab@@ c@@ d": 0.25, "a@@ b@@ cd": 0.125, "a@@ b@@ c@@ d": 0.25}.items():
        assert abs(found[text] / 4000 - share) < 0.03, found


WORDS = st.text(st.sampled_from("abc<é你"), min_size=1, max_size=12)


@given(st.lists(WORDS, max_size=6), st.lists(st.tuples(WORDS, WORDS), max_size=8), st.booleans())
def test_text_is_kept(words, merges, separate):
    cut = Segmenter(merges, separate_suffix=separate, separator="+", glossaries=["b", "你+"])
    assert cut.segment(" ".join(words)).replace("+ ", "") == " ".join(words)


def test_a_learnt_list_is_replayed():
    draw = random.Random(3)
    merges = [("a", "b"), ("ab", "c"), ("ab", "ab"), ("c", "c"), ("abab", "abc")]
    ranks = {pair: number for number, pair in enumerate(merges)}
    for _ in range(300):
        symbols = draw.choices("abc", k=draw.randint(1, 14))
        assert merge_by_rank(symbols, ranks) == replay_merges(symbols, merges)


def test_a_long_word_takes_no_longer_than_its_length():
    assert len(Segmenter([("a", "a"), ("aa", "aa")], suffix="").word("a" * 100_000)) == 25_000
