"""Histograms of lengths and curves of use: every document counts once, and curves rise to all of the text."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.compare import compare
from bpe_cli.reports.comparison.comparison import METRICS, interval_of
from bpe_cli.reports.distributions import STEPS_PER_DECADE, length_ranges, use_curve
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.named_encodings import named
from tests.unit.reports.comparison.handmade import comparison, difference, row


@given(st.lists(st.integers(0, 10**6)))
def test_every_length_is_in_one_range(lengths):
    ranges = length_ranges(Counter(map(int.bit_length, lengths)))
    assert [count for first, last, count in ranges] == [
        sum(first <= length <= last for length in lengths) for first, last, _ in ranges
    ]
    assert sum(count for _, _, count in ranges) == len(lengths)
    assert all(last + 1 == first for (_, last, _), (first, _, _) in pairwise(ranges))
    if lengths:
        assert ranges[0][0] <= min(lengths) <= ranges[0][1]
        assert ranges[-1][0] <= max(lengths) <= ranges[-1][1]


@given(st.lists(st.integers(0, 10**6), max_size=300))
def test_a_curve_is_what_the_most_frequent_make_up(counts):
    ranked = sorted((count for count in counts if count), reverse=True)
    points = use_curve(counts)
    assert [share for _, share in points] == [sum(ranked[:rank]) / sum(ranked) for rank, _ in points]
    ranks = [rank for rank, _ in points]
    assert ranks == sorted(set(ranks))
    assert (ranks[0], ranks[-1], points[-1][1]) == (1, len(ranked), 1.0) if ranked else not points
    assert len(points) <= 3 * STEPS_PER_DECADE + 1


def test_a_comparison_has_both():
    documents = [b"a", b"", b"one two three", b"one two three four five"] * 3
    entry = ("t", [Block.of(documents[:5]), Block.of(documents[5:])])
    tokenizers = [named("gpt2"), named("o200k_base")]
    found = compare(tokenizers, [entry, ("u", [Block.of([b"x"])])])
    for tokenizer, ranges, counts in zip(tokenizers, found.lengths, found.frequencies, strict=True):
        tokens = [len(tokenizer.encode(document.decode())) for document in [*documents, b"x"]]
        assert ranges == length_ranges(Counter(map(int.bit_length, tokens)))
        assert use_curve(counts)[-1][0] == found.total.measures[0].used_ids


def test_an_interval_is_that_of_the_ratio():
    measured = comparison().rows[0]
    assert interval_of(measured, METRICS["ratio"], 1) == (0.89, 0.93)
    assert interval_of(measured, METRICS["tokens"], 1) == (0.89 * 3000, 0.93 * 3000)
    assert interval_of(measured, METRICS["bytes_per_token"], 1) == (12_000 / (0.93 * 3000), 12_000 / (0.89 * 3000))
    assert interval_of(measured, METRICS["tokens"], 0) is None
    assert interval_of(measured, METRICS["unknown"], 1) is None
    none = row("a", [10, 0], differences=(None, difference(0.0, 0.0, 0.0)))
    assert interval_of(none, METRICS["tokens"], 1) == (0.0, 0.0)
    assert interval_of(none, METRICS["bytes_per_token"], 1) is None
    words = row("a", [10, 20], differences=(None, difference(2.0, 1.5, 3.0)), word_count=(5, 5))
    assert interval_of(words, METRICS["fertility"], 1) == (3.0, 6.0)
    assert interval_of(comparison().total, METRICS["characters_per_token"], 1) is not None
