"""Premiums and Gini's coefficient, by hand and by their definitions."""

from __future__ import annotations

from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.probe_languages import gini, probe_languages
from bpe_cli.tokenizer.named_encodings import named
from tests.counted import at_least, compared
from tests.unit.reports.comparison.tiny import tiny
from tests.unit.reports.published import published

TEXTS = {"de": [b"aaa", b"bb", b""], "en": [b"a", b"bbbb", b"x"]}


def test_by_hand():
    probe = probe_languages([tiny(), tiny(b"aa", b"bb")], TEXTS)
    assert (probe.languages, probe.pivot, probe.line_count, probe.byte_counts) == (("de", "en"), 1, 3, (5, 6))
    single, merged = probe.results
    german, english = single.costs
    assert (german.token_count, english.token_count) == (5, 6)  # 3 2 0 and 1 4 1
    assert german.premium == 5 / 6
    assert german.mean_premium == (3 + 0.5 + 0) / 3
    assert german.median_premium == 0.5
    assert (english.premium, english.mean_premium, english.median_premium) == (1, 1, 1)
    assert single.worst == (1,)
    assert single.gini == 2 * 1 / (2 * 4 * 5.5)  # |5 - 6|, both ways, by 2 n² times the mean
    assert [cost.token_count for cost in merged.costs] == [3, 4]  # 2 1 0 and 1 2 1


def test_lines_that_the_pivot_lacks_have_no_ratio():
    probe = probe_languages([tiny()], TEXTS, pivot="de")
    assert probe.results[0].costs[1].mean_premium == fmean([1 / 3, 2])  # the third line of de is empty
    (result,) = probe_languages([tiny()], {"a": [b""], "b": [b"x"]}).results
    assert result.costs[1].premium is result.costs[1].median_premium is None
    assert probe_languages([tiny()], {"a": [b""], "b": [b""]}).results[0].gini is None


def test_premiums_are_symmetric():
    forth = probe_languages([named("gpt2")], TEXTS, pivot="en").results[0].costs[0].premium
    back = probe_languages([named("gpt2")], TEXTS, pivot="de").results[0].costs[1].premium
    assert forth * back == pytest.approx(1)


def test_equal_languages_cost_the_same():
    (result,) = probe_languages([named("gpt2")], {"a": [b"one", b"two"], "b": [b"one", b"two"]}).results
    assert (result.gini, result.worst, result.costs[0]) == (0, (), result.costs[1])


@at_least(12)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
def test_gini_against_its_definition(values):
    differences = sum(abs(one - other) for one in values for other in values)
    if not any(values):
        assert gini(values) is None
        return
    assert gini(values) == pytest.approx(differences / (2 * len(values) ** 2 * fmean(values)))
    assert gini(values) == pytest.approx(gini([7 * value for value in values]))
    assert 0 <= gini(values) <= 1 - 1 / len(values)
    compared()


@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=9), st.text("ab", max_size=9)), min_size=1, max_size=9))
def test_against_counting_line_by_line(pairs):
    tokenizer = tiny(b"ab", b"ba", b"abab")
    texts = {"en": [one.encode() for one, _ in pairs], "xx": [other.encode() for _, other in pairs]}
    ratios = [
        len(tokenizer.tokens(other)) / len(tokenizer.tokens(one)) for one, other in zip(*texts.values(), strict=True)
    ]
    (cost,) = probe_languages([tokenizer], texts).results[0].costs[1:]
    assert cost.mean_premium == pytest.approx(fmean(ratios))
    assert cost.median_premium == median(ratios)


def test_unknown_text_is_counted(shared):
    tokenizer = published(shared / "vocabs" / "t5-small").tokenizer
    costs = probe_languages([tokenizer], {"en": [b"tea"], "ja": ["お茶".encode()]}).results[0].costs
    assert [cost.unknown_count for cost in costs] == [0, 1]


@pytest.mark.parametrize(
    ("texts", "pivot", "message"),
    [
        ({"en": [b"a"]}, None, "there are not two"),
        ({"en": [b"a"], "de": []}, None, "different numbers of lines: en 1, de 0"),
        ({"en": [b"a"], "de": [b"b"]}, "fr", "the pivot 'fr' is not among the languages"),
    ],
)
def test_what_cannot_be_compared(texts, pivot, message):
    with pytest.raises(UsageError, match=message):
        probe_languages([tiny()], texts, pivot=pivot)
