"""GreedTok: scores are what placing really saves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.frontier.greedy_cover import Cover, Encoder, learn, pieces_in

WORDS = st.dictionaries(
    st.text("ab", min_size=1, max_size=7).map(str.encode), st.integers(1, 5), min_size=1, max_size=4
)


def pieces(cover: Cover) -> int:
    return sum(count * pieces_in(marks) for marks, count in zip(cover.marks, cover.counts, strict=True))


@given(WORDS, st.lists(st.integers(0, 99), max_size=5), st.integers(3, 9))
def test_a_score_is_what_placing_saves(words, order, max_token_length):
    cover = Cover(words, max_token_length=max_token_length)
    for number in order:
        candidates = sorted(cover.scores)
        if candidates:
            token = candidates[number % len(candidates)]
            before, score = pieces(cover), cover.scores[token]
            cover.place(token)
            assert before - pieces(cover) == score
            assert len(token) < max_token_length
    again = Cover(words, max_token_length=max_token_length)
    for token in cover.placed:
        again.place(token)
    assert again.scores == cover.scores


@given(WORDS, st.integers(0, 6), st.text("abc", max_size=12))
def test_encoding_gives_the_text_back(words, number, text):
    encoder = Encoder([step.token for step in learn(words, number)])
    assert b"".join(encoder.encode(text.encode())) == text.encode()
    assert len(encoder.tokens) == len(set(encoder.tokens)) == 256 + len(list(learn(words, number)))


def test_rare_words_have_no_candidates():
    assert [step.token for step in learn({b"ab": 1, b"cd": 2}, 9, min_word_count=2)] == [b"cd"]


def test_two_places_side_by_side_count_as_one_that_must_not_be_cut():
    encoder = Encoder([b"ab", b"abx", b"bay"])
    assert encoder.encode(b"ababxz") == [b"ab", b"ab", b"x", b"z"]
    assert encoder.encode(b"abxz") == [b"abx", b"z"]
