"""Kendall's tau-b by hand, by counting all pairs, and by SciPy."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.reports.comparison.overlap import inversions, kendall_tau_b
from tests.counted import at_least, compared
from tests.needs import needs
from tests.profiles import MANY
from tests.thorough import more

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


def by_pairs(first, second):
    """Count every pair of places, as the definition has it."""
    agreement = untied_first = untied_second = 0
    for one, other in combinations(range(len(first)), 2):
        x, y = first[one] - first[other], second[one] - second[other]
        agreement += (x * y > 0) - (x * y < 0)
        untied_first += x != 0
        untied_second += y != 0
    scale = untied_first * untied_second
    return agreement / sqrt(scale) if scale else None


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [4, 5, 6], 1.0),
        ([1, 2, 3], [6, 5, 4], -1.0),
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6),  # 5 pairs agree, 1 does not
        ([1, 1, 2], [1, 2, 3], 2 / sqrt(2 * 3)),  # one pair of three is tied in the first
        ([1, 1], [1, 2], None),
        ([1], [1], None),
        ([], [], None),
    ],
)
def test_by_hand(first, second, expected):
    assert kendall_tau_b(first, second) == pytest.approx(expected)


@given(PAIRS)
def test_against_all_pairs(pairs):
    first, second = [x for x, _ in pairs], [y for _, y in pairs]
    assert kendall_tau_b(first, second) == pytest.approx(by_pairs(first, second))
    assert kendall_tau_b(second, first) == pytest.approx(kendall_tau_b(first, second))


@settings(max_examples=more(30, MANY))
@given(st.integers(0, 9000), st.randoms(use_true_random=True))
def test_inversions_over_many_buckets(count, random):
    values = list(range(count))
    assert inversions(values) == 0
    assert inversions(values[::-1]) == count * (count - 1) // 2
    random.shuffle(values)
    swapped = values[:]
    if count > 1 and swapped[0] > swapped[1]:
        swapped[0], swapped[1] = swapped[1], swapped[0]
        assert inversions(swapped) == inversions(values) - 1


@at_least(10)
@given(PAIRS)
def test_against_scipy(pairs):
    stats = needs("scipy.stats")
    if by_pairs([x for x, _ in pairs], [y for _, y in pairs]) is None:
        return
    theirs = stats.kendalltau([x for x, _ in pairs], [y for _, y in pairs]).statistic
    assert kendall_tau_b([x for x, _ in pairs], [y for _, y in pairs]) == pytest.approx(theirs)
    compared()
