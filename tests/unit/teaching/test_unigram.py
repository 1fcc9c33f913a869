"""Check the textbook's unigram model: the document's numbers, and its own invariants."""

from __future__ import annotations

from math import exp, isclose

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.unigram import (
    corpus_cost,
    costs,
    encode,
    initial_tokens,
    losses,
    train,
)
from tests.oracle.segmentations import expected_counts, probabilities, segmentations

TEXT = (
    "▁This ▁is ▁the ▁Hugging ▁Face ▁Course. ▁This ▁chapter ▁is ▁about ▁tokenization. ▁This ▁section ▁shows "
    "▁several ▁tokenizer ▁algorithms. ▁Hopefully, ▁you ▁will ▁be ▁able ▁to ▁understand ▁how ▁they ▁are ▁trained "
    "▁and ▁generate ▁tokens."
)
CORPUS = TEXT.split()
WORDS = {word: CORPUS.count(word) for word in dict.fromkeys(CORPUS)}


def test_the_course_begins_with_300_tokens() -> None:
    counts = initial_tokens(WORDS, 300)
    assert list(counts.items())[:5] == [("▁", 31), ("T", 3), ("h", 9), ("i", 13), ("s", 13)]
    assert list(counts.items())[-1] == ("several", 1)
    model = costs(counts)
    for token, cost in {
        "▁": 2.952892114877499,
        "T": 5.288267030694535,
        "h": 4.189654742026425,
        "sever": 6.386879319362645,
        "severa": 6.386879319362645,
        "several": 6.386879319362645,
    }.items():
        assert isclose(model[token], cost, rel_tol=0, abs_tol=1e-12), token
    for word, tokens, cost in (
        ("This", ["This"], 6.288267030694535),
        ("this", ["t", "his"], 10.03608902044192),
    ):
        found, found_cost = encode(word, model)
        assert found == tokens
        assert found_cost is not None
        assert isclose(found_cost, cost, rel_tol=0, abs_tol=1e-12)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 9), min_size=1), st.integers(3, 30))
def test_losses_are_those_of_cutting_all_words_anew(words: dict[str, int], size: int) -> None:
    model = costs(initial_tokens(words, size))
    whole = corpus_cost(words, model)
    without = {token: {other: cost for other, cost in model.items() if other != token} for token in model}
    assert losses(words, model) == {
        token: corpus_cost(words, others) - whole for token, others in without.items() if len(token) > 1
    }
    assert all(encode(word, model) == encode(word, model, longest=6) for word in words)


def test_the_course_ends_with_100_tokens() -> None:
    *_, counts = train(WORDS, 100)
    assert len(counts) <= 100
    model = costs(counts)
    for token, cost in {
        "▁": 2.318585434340487,
        "T": 4.653960350157523,
        "h": 3.5553480614894135,
        "i": 3.1876232813640963,
        "seve": 5.752572638825633,
        "sever": 5.752572638825633,
        "severa": 5.752572638825633,
        "several": 5.752572638825633,
    }.items():
        assert isclose(model[token], cost, rel_tol=0, abs_tol=1e-9), token
    text = "▁This ▁is ▁the ▁Hugging ▁Face ▁course."
    assert [token for word in text.split() for token in encode(word, model)[0]] == [
        *("▁This", "▁is", "▁the", "▁Hugging", "▁Face"),
        *("▁", "c", "ou", "r", "s", "e", "."),
    ]
    assert encode("▁course!", model) == (["<unk>"], None)


SCORES = st.dictionaries(st.text("ab", min_size=1, max_size=3), st.floats(-9, -0.1), max_size=6).map(
    lambda scores: {"a": -2.0, "b": -3.0} | scores
)


@given(SCORES, st.text("ab", min_size=1, max_size=8))
def test_the_best_is_the_best_of_all(scores: dict[str, float], word: str) -> None:
    best = max(score for _, score in segmentations(word, scores))
    tokens, cost = encode(word, {token: -score for token, score in scores.items()}, start_cost=0.0)
    assert "".join(tokens) == word
    assert cost is not None
    assert isclose(-cost, best, abs_tol=1e-9)


@given(SCORES, st.text("ab", min_size=1, max_size=8))
def test_probabilities_add_up(scores: dict[str, float], word: str) -> None:
    shares = probabilities(word, scores)
    assert isclose(sum(shares.values()), 1)
    expected = expected_counts({word: 3}, scores)
    characters = sum(len(token) * count for token, count in expected.items())
    assert isclose(characters, 3 * len(word))
    assert all(exp(score) <= 1 for score in scores.values())
