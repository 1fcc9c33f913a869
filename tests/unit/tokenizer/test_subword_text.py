"""Text in subwords: worked examples, and what holds for any text."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError, UsageError
from bpe_cli.tokenizer.subword_text import Segmenter
from tests.oracle.encode import replay_merges

LOWER = [("l", "o"), ("lo", "w"), ("e", "r</w>"), ("lo", "w</w>"), ("low", "er</w>")]


def test_words_are_cut_and_blanks_around_are_kept():
    cut = Segmenter(LOWER)
    assert cut.line(" low  lowest lower x\r\n") == " low low@@ e@@ s@@ t lower x\r\n"
    assert cut.line("  \n") == "  \n"
    assert cut.line("") == ""
    assert cut.lines([b" low\xff\n", b"", b"x low"]) == [b" low@@ \xff\n", b"", b"x low"]


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
    cut = Segmenter([("ab", "a"), ("a", "b")], suffix="")
    assert cut.segment("abab aba") == "ab@@ ab aba"


def test_dropout_depends_on_seed_and_line_alone():
    text = "lower lowest " * 20
    cut = Segmenter(LOWER, dropout=0.5, seed=1)
    first = cut.segment(text, 3)
    assert cut.segment(text, 4) != first
    assert Segmenter(LOWER, dropout=0.5, seed=2).segment(text, 3) != first
    assert Segmenter(LOWER, dropout=0.5, seed=1).segment(text, 3) == first
    assert Segmenter(LOWER, dropout=1).segment("low") == "l@@ o@@ w"
    assert Segmenter(LOWER, dropout=0).segment("low") == "low"
    with pytest.raises(UsageError, match="not a probability"):
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
    cut = Segmenter(merges, suffix="")
    for _ in range(300):
        symbols = draw.choices("abc", k=draw.randint(1, 14))
        assert cut.segment("".join(symbols)).split("@@ ") == replay_merges(symbols, merges)


@pytest.mark.parametrize("merges", [[("a", "a"), ("aa", "aa")], [("aa", "aa"), ("a", "a")]])
def test_a_long_word_takes_no_longer_than_its_length(merges):
    assert len(Segmenter(merges, suffix="").segment("a" * 100_000).split()) == 25_000


MERGES = st.lists(st.tuples(WORDS, WORDS | st.just("</w>") | WORDS.map("{}</w>".format)), max_size=8)


@given(st.lists(WORDS, min_size=1, max_size=6), MERGES, st.booleans(), st.sampled_from([None, {"ab@@", "c", "</w>"}]))
def test_what_is_written_by_tokens_is_what_is_read_off_the_text(words, merges, separate, vocabulary):
    """A word's text in the line, or an unknown character, makes the longer way be taken for the whole line."""
    cut = Segmenter(merges, separate_suffix=separate, vocabulary=vocabulary)
    text = " ".join(words)
    for other in ("</w>", "\U0001f980"):
        assert cut.segment(f"{text} {other}").startswith(f"{cut.segment(text)} ")


def test_threads_and_what_stands_before_change_nothing():
    lines = [b"lower  lowest", b"", b" x\n", b"low\xff low"] * 50
    cut = Segmenter(LOWER, dropout=0.5, seed=1)
    assert cut.lines(lines, threads=3) == cut.lines(lines)
    assert cut.lines(lines, 7)[13:] == cut.lines(lines[13:], 20)


def test_what_cannot_be():
    with pytest.raises(UsageError, match="the seed"):
        Segmenter([], seed=-1)
    with pytest.raises(InputError, match="lone surrogate"):
        Segmenter([("a", "\ud800")])
    with pytest.raises(InputError, match="lone surrogate"):
        Segmenter([]).segment("\ud800")
    assert Segmenter([("", "a"), ("a", "b")], suffix="").segment("ab") == "ab"
    assert Segmenter([]).segment("\udcc3\udca9x") == "é@@ x", "bytes that are a character together"
