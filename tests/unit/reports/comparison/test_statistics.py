"""How sure a difference is: by hand, against scipy and published numbers, and where nothing can be told."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.reports.comparison.compare import compare
from bpe_cli.reports.comparison.measures import LEAST_UNITS, MOST_UNITS, adjust, difference, holm
from bpe_cli.support.blocks import Block
from tests.needs import needs
from tests.unit.reports.small_tokenizers import byte_level


def units(counts, most=MOST_UNITS):
    found = _core.Units(most)
    found.extend(array("Q", counts))
    return found


def drawn(seed, count=60):
    chance = random.Random(seed)
    baseline = [chance.randrange(50, 2000) for _ in range(count)]
    return [max(1, round(n * chance.gauss(0.97, 0.05))) for n in baseline], baseline


def test_the_test_by_hand():
    """Six units, of which one goes the other way: |sum| is as large for the 2 + 2 * 1 ways that keep five signs."""
    first, baseline = [12, 12, 12, 12, 12, 9], [10, 10, 10, 10, 10, 10]
    found = difference(units(first), units(baseline), resamples=100_000)
    # Differences 2, 2, 2, 2, 2, -1: the sum is 9, and larger only if all agree: 11 or 9, both to either side.
    assert found.p == pytest.approx(4 / 64, abs=0.005)
    assert found.ratio == 69 / 60
    assert (found.units, found.unit_documents, found.method) == (6, 1, "bootstrap")


def test_the_interval_is_what_scipy_gives():
    stats = needs("scipy.stats")
    numpy = needs("numpy")
    for seed in range(3):
        first, baseline = drawn(seed)
        expected = stats.bootstrap(
            (numpy.array(first), numpy.array(baseline)),
            lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
            paired=True, method="percentile", n_resamples=20_000, vectorized=True, random_state=seed,
        )  # fmt: skip
        found = difference(units(first), units(baseline), resamples=20_000)
        width = found.high - found.low
        assert found.low == pytest.approx(expected.confidence_interval.low, abs=0.06 * width)
        assert found.high == pytest.approx(expected.confidence_interval.high, abs=0.06 * width)


def test_p_is_what_scipy_gives():
    stats = needs("scipy.stats")
    chance = random.Random(5)
    for shift in (0, 15, 30):
        baseline = [chance.randrange(100, 400) for _ in range(30)]
        first = [n + chance.randrange(-60, 60) + shift for n in baseline]
        expected = stats.permutation_test(
            (first, baseline), lambda a, b, axis: a.sum(axis=axis) - b.sum(axis=axis),
            permutation_type="samples", n_resamples=20_000, vectorized=True,
        )  # fmt: skip
        found = difference(units(first), units(baseline), resamples=20_000)
        assert found.p == pytest.approx(expected.pvalue, abs=0.02)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """400 corpora of 40 documents each, drawn from a population whose ratio is known."""
    chance = random.Random(1)
    hits = 0
    for number in range(400):
        pairs = []
        for _ in range(40):
            baseline = chance.randrange(50, 500)
            pairs.append((baseline * 9 + chance.randrange(-baseline, baseline + 1), baseline * 10))
        first, baseline = (array("Q", column) for column in zip(*pairs, strict=True))
        low, high = _core.bootstrap_interval(first, baseline, 500, number, 1)
        hits += low <= 0.9 <= high
    assert 0.90 <= hits / 400 <= 0.98


def test_holm_is_what_r_prints():
    """What R's ``p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")`` prints: 0.05 0.08 0.09 0.09 0.09."""
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.5, 0.9, 0.6]) == [1.0, 1.0, 1.0]
    assert holm([]) == []


def test_holm_is_what_statsmodels_gives():
    multitest = needs("statsmodels.stats.multitest")
    chance = random.Random(0)
    for count in (1, 2, 9, 40):
        probabilities = [chance.random() ** 3 for _ in range(count)]
        assert holm(probabilities) == pytest.approx(list(multitest.multipletests(probabilities, method="holm")[1]))


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_order_and_bounds(probabilities):
    adjusted = holm(probabilities)
    assert all(
        p <= own <= min(1, p * len(probabilities)) or any(other < p for other in probabilities)
        for p, own in zip(probabilities, adjusted, strict=True)
    )
    assert all(own <= 1 for own in adjusted)
    order = sorted(range(len(adjusted)), key=probabilities.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


@given(st.integers(0, 1 << 30), st.integers(1, 4))
def test_threads_change_nothing(seed, threads):
    first, baseline = drawn(seed, 20)
    one = difference(units(first), units(baseline), resamples=200)
    assert one == difference(units(first), units(baseline), resamples=200, threads=threads)


def test_where_nothing_can_be_told():
    six = [1, 2, 3, 4, 5, 6]
    assert difference(units(six), units([2, 2, 3, 4, 5, 6])) is not None
    assert difference(units(six), units(six)) is None
    assert difference(units(six[:-1]), units([2] * 5)) is None
    # Units without a token are none: five are left.
    assert difference(units([*six[:-1], 0]), units([2, 2, 2, 2, 2, 0])) is None
    # A resample can be without a token of the baseline.
    assert difference(units([1] * 6), units([0, 0, 0, 0, 0, 1])) is None
    assert difference(units([]), units([])) is None
    assert 2 / 2**LEAST_UNITS < 0.05 < 2 / 2 ** (LEAST_UNITS - 1)


def test_many_documents_become_units_together():
    counts = list(range(1, 1001))
    found = units(counts, most=100)
    assert found.unit_documents == 16
    assert list(memoryview(found.counts)) == [sum(counts[at : at + 16]) for at in range(0, 1000, 16)]
    told = difference(found, units([n + n % 3 for n in counts], most=100), resamples=99)
    assert (told.units, told.unit_documents) == (63, 16)


def test_rows_are_adjusted_together_and_the_total_by_itself():
    pairs = byte_level([b"ab"])
    triples = byte_level([b"ab", b"abc"])
    few = [b"abcx" * n for n in (5, 3, 4, 9, 1, 7, 2)]
    inputs = [(name, [Block.of(few)]) for name in ("one", "two", "three")]
    found = compare([byte_level(), pairs, triples], inputs)
    for row in found.rows:
        assert row.differences[0] is None
        for told in row.differences[1:]:
            assert told.p == pytest.approx(2 / 2**7, abs=0.005)
            assert told.p_adjusted == pytest.approx(6 * min(d.p for r in found.rows for d in r.differences if d))
    assert [told.p_adjusted for told in found.total.differences[1:]] == [
        2 * told.p for told in found.total.differences[1:]
    ]
    assert found.total.differences[1].units == 21
    assert found.total.differences[1].ratio == found.total.measures[1].ratio


def test_adjusting_leaves_out_what_was_not_told():
    told = difference(units([2] * 6), units([1] * 6), resamples=99)
    assert adjust([(None, told), (None,)]) == [(None, told), (None,)]


def test_too_few_resamples():
    with pytest.raises(ValueError, match="38 resamples are too few"):
        compare([byte_level()], [], resamples=38)
