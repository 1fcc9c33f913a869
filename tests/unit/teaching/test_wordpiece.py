"""Check the textbook's WordPiece on the worked examples of Hugging Face's course and of what retells it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.bpe import count_pairs
from bpe_cli.teaching.wordpiece import choose, encode_word, scores, spell, train
from bpe_cli.views.training_steps import score_lines
from tests.word_piece_examples import (
    ALPHABET,
    COUNTS,
    FIRST_PAIRS,
    HUG_ALPHABET,
    HUG_COUNTS,
    HUG_VOCABULARY,
    SENTENCE,
    SENTENCE_TOKENS,
    SORTED_VOCABULARY,
    SPECIAL,
    VOCABULARY,
)

WORDS = st.dictionaries(st.text("ab#ß", min_size=1, max_size=8), st.integers(1, 4), min_size=1, max_size=8)


# -- hug, pug, pun, bun, hugs ----------------------------------------------------------------------


def test_hugs_begin_with_the_rarest_parts() -> None:
    words = spell(HUG_COUNTS)
    assert list(words) == [tuple(text.split()) for text in
                           ("h ##u ##g", "p ##u ##g", "p ##u ##n", "b ##u ##n", "h ##u ##g ##s")]  # fmt: skip
    assert count_pairs(words)["##u", "##g"] == 20
    scored = scores(words)
    assert {score for pair, score in scored.items() if "##u" in pair} == {Fraction(1, 36)}
    assert scored["##g", "##s"] == Fraction(1, 20)
    training = train(HUG_COUNTS, 10, alphabet=HUG_ALPHABET, tie="first-seen")
    assert training.tokens()[:9] == [*HUG_ALPHABET, "##gs", "hu"]


def test_hugs_third_merge_is_not_the_one_of_the_course() -> None:
    """The course has the third merge give ``hug``, since hu+##g and hu+##gs both score 1/15: the one does not.

    ``##g`` occurs 15 times at that moment, not 10, for it is in ``pug`` as well. The course's own program
    gives ``hugs``, as we do.
    """
    second = list(train(HUG_COUNTS, 10, alphabet=HUG_ALPHABET, tie="first-seen"))[1]
    scored = scores(second.words)
    assert scored["hu", "##gs"] == Fraction(1, 15)
    assert scored["hu", "##g"] == Fraction(10, 15 * 15)
    assert {str(score) for pair, score in scored.items() if "hu" not in pair and pair != ("##u", "##g")} == {"1/21"}
    training = train(HUG_COUNTS, 10, alphabet=HUG_ALPHABET, tie="first-seen")
    assert training.merges()[2] == ("hu", "##gs")


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("hugs", "hug ##s"),
        ("bugs", "b ##u ##gs"),
        ("pugs", "p ##u ##gs"),
        ("mug", "[UNK]"),
        ("bum", "[UNK]"),
    ],
)
def test_hugs_encoding(word: str, tokens: str) -> None:
    assert encode_word(word, HUG_VOCABULARY) == tokens.split()


# -- the four sentences ----------------------------------------------------------------------------


def test_sentences_scores() -> None:
    scored = scores(spell(COUNTS))
    assert list(scored.items())[:6] == FIRST_PAIRS
    assert list(scored.items())[-1] == (("##n", "##s"), Fraction(1, 110))  # 0.00909...
    assert choose(scored, count_pairs(spell(COUNTS)), "first-seen") == ("a", "##b")
    assert scored["a", "##b"] == Fraction(1, 5)


def test_sentences_training() -> None:
    training = train(COUNTS, 70, special=SPECIAL, tie="first-seen")
    tokens = training.tokens()
    assert tokens[5:45] == ALPHABET
    assert tokens == VOCABULARY
    assert sorted(tokens[5:]) + sorted(SPECIAL) == SORTED_VOCABULARY
    assert ("ab", "##o", "##u", "##t") in next(iter(training)).words


def test_sentences_encoding() -> None:
    assert encode_word("Hugging", VOCABULARY) == ["Hugg", "##i", "##n", "##g"]
    assert encode_word("HOgging", VOCABULARY) == ["[UNK]"]
    assert [token for word in SENTENCE for token in encode_word(word, VOCABULARY)] == SENTENCE_TOKENS


# -- what else it says -----------------------------------------------------------------------------


def test_the_first_seen_pair_depends_on_the_order_and_the_most_frequent_does_not() -> None:
    words = {"ab": 1, "xb": 1, "cd": 2}  # all pairs score 1/2
    turned = dict(reversed(words.items()))
    assert train(words, 6).merges() == train(turned, 6).merges() == [("c", "##d")]
    assert train(words, 6, tie="first-seen").merges() == [("a", "##b")]
    assert train(turned, 6, tie="first-seen").merges() == [("c", "##d")]


def test_rare_pairs_are_not_merged() -> None:
    words = {"xyz": 1, "ab": 2, "ac": 3}
    assert train(words, 99, min_frequency=2).merges() == [("a", "##c"), ("a", "##b")]


def test_a_text_that_is_made_twice_is_one_token() -> None:
    """Only a text that looks like the prefix can be: here ``ba`` inside a word, and ``##ba`` as a word.

    The course's program would list it twice, and count it twice towards the size that is wanted.
    """
    training = train({"##ba": 2, "##": 1}, 99)
    assert [step.product for step in training] == ["##ba", "##", "##ba"]
    assert training.tokens()[-2:] == ["##ba", "##"]


def test_letters_outside_the_alphabet_are_left_out() -> None:
    training = train({"a-b": 1}, 99, alphabet=["a", "##b"])
    assert training.tokens() == ["a", "##b", "ab"]


def test_unknown_rule() -> None:
    with pytest.raises(ValueError, match="most-frequent, first-seen"):
        train({"a": 1}, 9, tie="lowest-ids")  # type: ignore[arg-type]


def test_steps() -> None:
    training = train(HUG_COUNTS, 8)
    assert list(score_lines(training))[:3] == [
        "start: 7 tokens in use",
        "      10  h ##u ##g",
        "       5  p ##u ##g",
    ]
    assert list(score_lines(training))[8:10] == ["step 1: ##g + ##s -> ##gs, score 1/20 = 5 / (20 * 5)",
                                            "       5  h ##u ##gs"]  # fmt: skip


@given(WORDS)
def test_all_words_become_tokens_if_nothing_stops_it(words: dict[str, int]) -> None:
    training = train(words, 10_000)
    steps = list(training)
    assert all(len(word) == 1 for word in (steps[-1].words if steps else training.words))
    assert set(training.tokens()) >= set(words)
    for step in steps:
        assert 0 < step.score <= 1


@given(WORDS, st.lists(st.text("ab#ß", min_size=1, max_size=5), max_size=12))
def test_tokens_of_a_word_spell_it(words: dict[str, int], tokens: list[str]) -> None:
    for word in words:
        found = encode_word(word, tokens)
        assert found == ["[UNK]"] or found[0] + "".join(token.removeprefix("##") for token in found[1:]) == word
    assert encode_word("aaa", ["a", "##a"], max_characters=2) == ["[UNK]"]
