"""Overlap of vocabularies: by hand, by sets, and of tokenizers that are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.overlap import merge_products, overlaps, script_of
from bpe_cli.tokenizer.named_encodings import named
from tests.unit.reports.comparison.tiny import tiny
from tests.unit.reports.published import published


def test_by_hand():
    first, second = tiny(b"ab", b"abc", "д".encode()), tiny(b"ab", b"cd", b"abc", b"abcd")
    (found,) = overlaps([first, second])
    assert (found.first, found.second) == (0, 1)
    assert found.sizes == (259, 260)
    assert found.shared == 258  # the bytes, ab and abc
    assert found.jaccard == 258 / 261
    assert found.containment == (258 / 259, 258 / 260)
    assert found.weighted == (None, None)
    assert found.equal_merges == 1
    assert found.rank_correlation == 1  # what both have stands in the same order
    assert found.first_alone.longest == ("д".encode(),)
    assert [(each.script, each.count, each.examples) for each in found.second_alone.scripts] == [
        ("Latin", 2, (b"cd", b"abcd"))
    ]
    assert found.second_alone.longest == (b"abcd", b"cd")


def test_weights_by_hand():
    first, second = tiny(b"ab", specials=(b"<s>",)), tiny(b"cd")
    counts = [[0] * first.vocab_size, [0] * second.vocab_size]
    counts[0][256], counts[0][ord("x")], counts[0][257] = 3, 1, 100  # ab, x, and <s>, which is not text
    counts[1][ord("y")] = 5
    (found,) = overlaps([first, second], counts)
    assert found.weighted == (0.25, 1.0)
    assert overlaps([first, first], [[0] * 258] * 2)[0].weighted == (None, None)


def test_merges_in_another_order():
    (found,) = overlaps([tiny(b"ab", b"cd", b"ef"), tiny(b"ab", b"ef", b"cd")])
    assert found.equal_merges == 1
    assert found.rank_correlation == 1 - 2 / (259 * 258 / 2)  # one pair of all is the wrong way round


@given(
    st.lists(st.binary(min_size=2, max_size=3), unique=True), st.lists(st.binary(min_size=2, max_size=3), unique=True)
)
def test_against_sets(mine, others):
    first, second = ({bytes([byte]) for byte in range(256)} | set(each) for each in (mine, others))
    one, two = tiny(*mine), tiny(*others)
    (found,) = overlaps([one, two])
    (back,) = overlaps([two, one])
    assert found.shared == back.shared == len(first & second)
    assert found.jaccard == back.jaccard == len(first & second) / len(first | second)
    assert found.containment == back.containment[::-1]
    assert found.first_alone.count == len(first - second) == sum(each.count for each in found.first_alone.scripts)
    assert found.second_alone == back.first_alone
    assert found.rank_correlation == pytest.approx(back.rank_correlation)
    assert set(found.first_alone.longest) <= first - second


def test_the_same_has_everything_in_common():
    for found in overlaps([named("gpt2")] * 3):
        assert (found.jaccard, found.containment, found.rank_correlation) == (1, (1, 1), 1)
        assert found.equal_merges == 50_000
        assert (found.first_alone.count, found.first_alone.scripts, found.first_alone.longest) == (0, (), ())


def test_a_file_in_another_spelling_is_the_same_vocabulary(shared):
    """Hugging Face's gpt2 spells bytes as letters and lists merges; its tokens mean the same."""
    (found,) = overlaps([named("gpt2"), published(shared / "vocabs" / "gpt2-hf").tokenizer])
    assert (found.jaccard, found.equal_merges) == (1, 50_000)
    assert found.rank_correlation == 1


def test_a_file_that_lists_every_pair_has_the_same_merges(shared):
    """Hugging Face's llama3 has 280,147 merges for 127,744 tokens; the first 100,000 are those of cl100k_base."""
    ranks, pairs = (published(shared / "vocabs" / name).tokenizer for name in ("llama3-tiktoken", "hf-llama3"))
    first, second = overlaps([named("cl100k_base"), ranks, pairs])
    assert (first.equal_merges, second.equal_merges) == (100_000, 100_000)
    assert merge_products(ranks) == merge_products(pairs)
    assert len(merge_products(pairs)) == 127_744


def test_other_models_have_no_merges_to_agree_on(shared):
    (found,) = overlaps([named("gpt2"), published(shared / "vocabs" / "bert-base-uncased").tokenizer])
    assert found.equal_merges is None
    assert found.sizes[1] < 30_522  # ##s and s mean the same
    assert merge_products(published(shared / "vocabs" / "t5-small").tokenizer) is None


def test_one_alone_is_compared_with_nothing():
    assert overlaps([tiny()]) == []


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Straße", "Latin"),
        ("12 Б", "Cyrillic"),
        (" 東", "Han"),
        ("ー", "other"),
        ("ß", "Latin"),
        ("…", "none"),
        ("", "none"),
    ],
)
def test_scripts(text, script):
    assert script_of(text.encode()) == script
