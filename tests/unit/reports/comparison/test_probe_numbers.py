"""How numbers are cut: by hand, by rule, and by tokenizers whose rule is known."""

from __future__ import annotations

import pytest

from bpe_cli.reports.comparison.probe_numbers import (
    DIGITS,
    EXAMPLES,
    SAMPLED,
    grouping_of,
    groups,
    probe_numbers,
    sampled,
)
from bpe_cli.stages import CharacterBpe, LongestMatch
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import named
from tests.unit.reports.comparison.tiny import tiny
from tests.unit.reports.published import published

PAIRS = [b"%d%d" % (one, other) for one in range(10) for other in range(10)]


def test_single_digits():
    (result,) = probe_numbers([tiny()]).results
    assert (result.grouping, result.group_size, result.consistency) == ("single digits", 1, 1)
    assert result.one_token == result.one_token_spaced == 10
    assert [each.mean_tokens for each in result.lengths] == [*range(1, DIGITS + 1)]
    assert result.lengths[2].usual == (1, 1, 1)
    assert [each.numbers for each in result.lengths] == [10, 90, 900, 9000, *[SAMPLED] * (DIGITS - 4)]


@pytest.mark.parametrize(
    ("pattern", "grouping", "usual"),
    [(r"\d{1,2}|\D", "left to right", (2, 2, 1)), (r"\d{1,2}(?=(?:\d{2})*(?!\d))|\D", "right to left", (1, 2, 2))],
)
def test_pairs_of_digits(pattern, grouping, usual):
    (result,) = probe_numbers([tiny(*PAIRS, pattern=pattern)]).results
    assert (result.grouping, result.group_size, result.consistency) == (grouping, 2, 1)
    assert result.lengths[4].usual == usual
    assert result.lengths[4].mean_tokens == 3
    assert (result.one_token, result.one_token_spaced) == (100, 100)


def test_what_is_cut_unevenly():
    """Of 10 to 99 only 42 is one token."""
    (result,) = probe_numbers([tiny(b"42")]).results
    two = result.lengths[1]
    assert (two.usual, two.consistency, two.fewest, two.most) == ((1, 1), 89 / 90, 1, 2)
    assert two.mean_tokens == (89 * 2 + 1) / 90
    assert (result.grouping, result.group_size) == ("irregular", None)
    assert result.one_token == 11
    assert result.consistency < 1


def test_a_space_may_be_in_the_token_or_beside_it():
    (result,) = probe_numbers([tiny(b" 7", b" 42")]).results
    assert (result.one_token, result.one_token_spaced) == (10, 11)


def test_numbers_that_are_left_out():
    (result,) = probe_numbers([Tokenizer(LongestMatch(Vocabulary.from_tokens([b"a"])))]).results
    assert result.lengths[0].usual == ()
    assert (result.grouping, result.group_size, result.consistency, result.one_token) == ("irregular", None, 1, 0)


def test_numbers_that_are_unknown():
    """The unknown token is one token, and no number is that one; 1 is known, and 12 in part."""
    vocabulary = Vocabulary.from_tokens([b"[UNK]", b"1"])
    (result,) = probe_numbers([Tokenizer(LongestMatch(vocabulary, unk_id=0))]).results
    assert (result.one_token, result.one_token_spaced) == (1, 0)
    assert (result.grouping, result.group_size) == ("irregular", None)
    assert [(each.usual, each.fewest) for each in result.lengths[:2]] == [((), 0), ((), 0)]
    assert (result.lengths[1].most, result.examples[EXAMPLES.index("-1")]) == (2, ())


@pytest.mark.parametrize("unk_id", [5, None])
def test_numbers_of_which_digits_are_unknown_or_left_out(unk_id):
    """Of 15 the 1 has a token, and 15 is not that one; the space has none."""
    vocabulary = Vocabulary.from_tokens([b"0", b"1", b"2", b"3", b"4", b"?"])
    tokenizer = Tokenizer(CharacterBpe(vocabulary, Merges.from_pairs([]), unk_id=unk_id))
    (result,) = probe_numbers([tokenizer]).results
    assert (result.one_token, result.one_token_spaced) == (5, 0)
    assert (result.lengths[1].fewest, result.lengths[1].most) == (0, 2)
    assert result.examples[EXAMPLES.index("-1")] == ()


def test_examples_are_cut_into_what_they_are():
    (result,) = probe_numbers([named("o200k_base")]).results
    for text, parts in zip(EXAMPLES, result.examples, strict=True):
        assert b"".join(parts) == text.encode()
    assert result.examples[EXAMPLES.index("3.14159")] == (b"3", b".", b"141", b"59")


@pytest.mark.parametrize(
    ("name", "grouping", "size", "one_token"),
    [("gpt2", "irregular", None, 907), ("cl100k_base", "left to right", 3, 1000)],
)
def test_known_ones(name, grouping, size, one_token):
    """One-token numbers are found again by asking for each."""
    tokenizer = named(name)
    (result,) = probe_numbers([tokenizer]).results
    assert (result.grouping, result.group_size, result.one_token) == (grouping, size, one_token)
    assert one_token == sum(len(tokenizer.encode(str(number))) == 1 for number in range(10_000))


def test_a_mark_before_the_first_word_is_no_part_of_a_number(shared):
    (result,) = probe_numbers([published(shared / "vocabs" / "llama2-repaired").tokenizer]).results
    assert (result.grouping, result.one_token, result.one_token_spaced) == ("single digits", 10, 10)


@pytest.mark.parametrize("digits", range(1, DIGITS + 1))
def test_numbers_are_different_and_of_their_length(digits):
    numbers = sampled(digits)
    assert len(set(numbers)) == len(numbers)
    assert all(len(number) == digits and int(number) >= 0 for number in numbers)
    assert len({number[0] for number in numbers}) >= 9


def test_rules_by_hand():
    assert groups([0, 3, 3, 4]) == (3, 1)
    assert grouping_of([(1,), (2,), (3,), (1, 3)]) == ("right to left", 3)
    assert grouping_of([(1,), (2,), (3,), (4,)]) == ("left to right", 4)
