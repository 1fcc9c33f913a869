"""Vocabularies of several sizes on held-out text: numbers that can be checked by hand."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError
from bpe_cli.reports.tokenizer.corpus_report import Frequencies
from bpe_cli.reports.vocabulary_curve import knee, vocabulary_curve
from tests.counted import at_least, compared


def found(tokens, counts=(), size=1200):
    return Frequencies(array("Q", counts), {}, 2, size, tokens)


def test_by_hand():
    curve = vocabulary_curve(
        [(300, 300, found(600, [0, 4, 1]), 1), (600, 600, found(300), 1), (2400, 2400, found(240), None)], 64
    )
    assert (curve.documents, curve.bytes, curve.d_model) == (2, 1200, 64)
    assert [point.bytes_per_token for point in curve.sizes] == [2.0, 4.0, 5.0]
    assert [point.saved for point in curve.sizes] == [None, 0.5, pytest.approx(0.2)]
    assert [point.saved_per_doubling for point in curve.sizes] == [None, 0.5, pytest.approx(1 - 0.8**0.5)]
    assert [point.embedding_parameters for point in curve.sizes] == [19_200, 38_400, 153_600]
    assert [(point.used, point.unknown) for point in curve.sizes] == [(2, 4), (0, 0), (0, None)]
    # Above the chord: (4 - 2) / (5 - 2) - log(2) / log(8) = 2/3 - 1/3.
    assert (curve.knee, curve.knee_distance) == (600, pytest.approx(1 / 3))


def test_a_size_that_is_there_already_saves_nothing():
    curve = vocabulary_curve([(300, 280, found(600), None), (600, 280, found(600), None)])
    assert [(point.saved, point.saved_per_doubling) for point in curve.sizes] == [(None, None), (0.0, None)]
    assert curve.knee is None
    assert curve.sizes[1].embedding_parameters is None


def test_one_more_token_may_make_a_text_much_longer():
    """Extrapolated to 32,000 more tokens, such a rate overflows."""
    curve = vocabulary_curve([(32_000, 32_000, found(10), None), (32_001, 32_001, found(11), None)])
    assert [(point.saved, point.saved_per_doubling) for point in curve.sizes] == [
        (None, None), (pytest.approx(-0.1), None),
    ]  # fmt: skip


def test_a_text_that_was_another_each_time_is_refused():
    with pytest.raises(InputError, match="the held-out text changed between one size and the next"):
        vocabulary_curve([(300, 300, found(400), None), (600, 600, found(0, size=0), None)])


def test_an_empty_text_is_refused():
    with pytest.raises(InputError, match="the held-out text is empty"):
        vocabulary_curve([(300, 300, found(0, size=0), None)])


def test_a_text_without_tokens_is_refused():
    with pytest.raises(InputError, match="the held-out text has no tokens with 600 tokens") as caught:
        vocabulary_curve([(300, 300, found(2), None), (600, 600, found(0), None)])
    assert caught.value.hint


@pytest.mark.parametrize(
    "points",
    [
        [(1000, 2.0)],
        [(1000, 2.0), (2000, 3.0)],
        [(1000, 1.0), (2000, 2.0), (4000, 4.0)],  # bent the other way
        [(1000, 1.0), (2000, 2.0), (4000, 3.0)],  # straight
        [(1000, 3.0), (2000, 4.0), (4000, 3.0)],
        [(1000, 3.0), (1000, 4.0), (1000, 5.0)],
    ],
)
def test_where_there_is_no_knee(points):
    assert knee(points) == (None, None)


@at_least(3)
@given(
    st.lists(st.integers(1, 600).map(lambda number: number / 100), min_size=3, max_size=9),
    st.floats(0.5, 20),
    st.floats(-3, 3),
)
def test_it_does_not_depend_on_the_unit_of_the_values(values, factor, shift):
    points = [(1000 << place, value) for place, value in enumerate(sorted(values))]
    place, distance = knee(points)
    if place is None or distance is None or distance < 1e-6:
        return
    scaled, scaled_distance = knee([(size, factor * value + shift) for size, value in points])
    assert 0 < place < len(points) - 1
    assert scaled is not None
    assert scaled_distance == pytest.approx(distance, abs=1e-6)
    compared()
