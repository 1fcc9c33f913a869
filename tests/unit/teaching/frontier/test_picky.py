"""PickyBPE: what is kept up to date is right, and what it learnt encodes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.frontier.picky import UNKNOWN, Encoder, Merge, Split, Training, covered_characters, words_of

WORDS = st.dictionaries(
    st.text("abc", min_size=1, max_size=7).map("▁".__add__), st.integers(1, 9), min_size=1, max_size=6
)


def recounted(training: Training) -> Counter[str]:
    counted: Counter[str] = Counter()
    for word, frequency in zip(training.words, training.frequencies, strict=True):
        for token in word:
            counted[token] += frequency
    return counted


@given(WORDS, st.integers(8, 25), st.floats(0.1, 1), st.sampled_from(["birth", "ids"]))
def test_words_and_frequencies_stay_right(words, vocab_size, threshold, tie):
    training = Training(words, vocab_size=vocab_size, threshold=threshold, tie=tie)
    for event in training.events():
        counted = recounted(training)
        assert ["".join(word) for word in training.words] == list(words)
        if isinstance(event, Split):
            assert not training.tokens[event.token].present
            assert not counted[event.token]
            assert "".join(event.parts) == event.token
    frequencies = Counter({token: each.frequency for token, each in training.tokens.items()})
    assert +frequencies == recounted(training)


@given(WORDS, st.integers(8, 25), st.floats(0.1, 1))
def test_encoding_gives_the_words_back(words, vocab_size, threshold):
    training = Training(words, vocab_size=vocab_size, threshold=threshold)
    events = list(training.events())
    present = {token: each.present for token, each in training.tokens.items()}
    encoder = Encoder(present, events)
    for word in words:
        tokens = encoder.encode(word)
        assert "".join(tokens) == word
        assert all(present[token] for token in tokens)


@given(WORDS, st.integers(8, 25), st.floats(0.1, 1), st.integers(1, 3))
def test_exact_counts_are_those_of_counting_anew(words, vocab_size, threshold, min_frequency):
    training = Training(
        words, vocab_size=vocab_size, threshold=threshold, tie="ids", exact=True, min_frequency=min_frequency,
        reserved=["ab"],
    )  # fmt: skip
    for event in training.events():
        counted = sum((training.pairs_with(None, number) for number in range(len(training.words))), Counter())
        if isinstance(event, Merge):  # what its parts are split into is not counted yet
            assert +Counter(training.counts) == counted
            assert event.count >= min_frequency
            assert "".join(event.pair) != "ab"
    assert training.size == sum(each.present for each in training.tokens.values()) <= max(vocab_size, 8)


def test_a_token_comes_back_with_its_id():
    words = {"▁abx": 6, "▁aby": 1, "▁ab": 1}
    training = Training(words, vocab_size=14, threshold=0.6)
    events = list(training.events())
    splits = [event.token for event in events if isinstance(event, Split)]
    again = [event.pair for event in events if isinstance(event, Merge) and "".join(event.pair) in splits]
    assert len(again) > len(set(again)) > 0
    token_ids = [token.token_id for token in training.tokens.values()]
    assert token_ids == list(range(len(token_ids)))


def test_rare_characters_are_unknown():
    words = words_of("aaaa bbbb aaaa bbbb ab x")
    assert covered_characters(words, 0.9) == ["▁", "a", "b"]
    training = Training(words, vocab_size=8, threshold=1, coverage=0.9)
    assert training.words[-1] == ("▁", UNKNOWN)
    assert all(UNKNOWN not in pair for pair in training.counts)


@pytest.mark.parametrize("coverage", [1.0, 1.5])
def test_full_coverage_keeps_all(coverage):
    assert covered_characters({"ab": 1}, coverage) == ["a", "b"]
