"""Check the textbook's learner from the top down."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.steps import ThresholdSearch
from bpe_cli.teaching.wordpiece import cuts, keep, learn, tokens_above
from bpe_cli.views.training_steps import threshold_lines

WORDS = st.dictionaries(st.text("ab#", min_size=1, max_size=6), st.integers(1, 9), min_size=1, max_size=8)


def test_human_beginnings() -> None:
    """What longer tokens begin with is taken off: of human, humans and humane, all ends are kept."""
    words = {"human": 5, "humans": 4, "humane": 2}
    starts = {word: [0] for word in words}
    assert keep(words, starts, 2) == {"humans": 4, "humane": 2, "human": 5}
    assert keep(words, starts, 3) == {"humans": 4, "human": 5}, "what is too rare takes its count off as well"


def test_later_rounds_count_from_where_tokens_begin() -> None:
    words = {"low": 9, "lower": 5}
    first = keep(words, {word: range(len(word)) for word in words}, 5)
    assert first == {"lower": 5, "##ower": 5, "##wer": 5, "low": 9, "##ow": 9, "##er": 5, "##w": 9, "##r": 5}
    assert cuts("lower", first) == [0]
    assert tokens_above(words, 5, 1)[5:9] == ["##ow", "##w", "low", "##er"]
    assert tokens_above(words, 5, 2)[5:8] == ["low", "lower", "##e"]


def test_the_search_may_miss() -> None:
    words = {"ab": 3, "abab": 3, "ba": 1}
    tried = list(learn(words, 4, min_frequency=1))
    assert [threshold for threshold, _ in tried] == [2, 3]
    assert len(tried[-1][1]) > 4


def test_what_is_not_learnt_from() -> None:
    words = {"[UNK]": 50, "aaaa": 40, "ab": 30, "xa": 20, "ba": 10}
    settings = {"reserved": ["[UNK]"], "min_frequency": 1, "max_word_length": 3, "max_alphabet": 2, "max_words": 1}
    _, vocabulary = list(learn(words, 9, **settings))[-1]  # type: ignore[arg-type]
    assert vocabulary[:3] == ["[UNK]", "a", "b"]
    assert "ba" not in vocabulary
    assert "ab" in vocabulary


def test_steps() -> None:
    assert list(threshold_lines(ThresholdSearch(learn({"ab": 9}, 5, min_frequency=9), 5))) == [
        "threshold 9: 5 of 5 tokens",
        "  tokens  a  b  ab  ##a  ##b",
    ]


@given(WORDS, st.integers(1, 9))
def test_counts_that_are_left_are_those_of_ends(words: dict[str, int], threshold: int) -> None:
    """This is what the core counts instead."""
    starts = {word: range(len(word)) for word in words}
    ends: dict[tuple[int, str], int] = {}
    for word, count in words.items():
        for start in starts[word]:
            end = (len(word) - start, ("##" if start else "") + word[start:])
            ends[end] = ends.get(end, 0) + count
    frequent = {token: n for (_, token), n in sorted(ends.items(), reverse=True) if n >= threshold}
    assert keep(words, starts, threshold) == frequent
