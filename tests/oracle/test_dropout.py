"""Check the two ways to leave merges out by how often each result comes."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.oracle.character_bpe import merge, order_of_merges
from tests.oracle.dropout import merge_with_dropout, merge_with_lasting_dropout

INDEPENDENT = order_of_merges([("a", "b"), ("c", "d")])
OVERLAPPING = order_of_merges([("b", "c"), ("a", "b"), ("ab", "c")])
TIMES = 4000


def close(counts: Counter[str], expected: dict[str, float]) -> bool:
    """Whether all frequencies are within five standard deviations of the probabilities."""
    return counts.keys() <= expected.keys() and all(
        abs(counts[text] / TIMES - p) <= 5 * (p * (1 - p) / TIMES) ** 0.5 for text, p in expected.items()
    )


def test_two_merges_that_have_nothing_to_do_with_each_other() -> None:
    # The paper: both are dropped in one step with 1/4; the first survives with 1/2, the second alone
    # with 1/4, and then there is one more step for the other.
    draw = Random(1)
    anew = Counter(" ".join(merge_with_dropout("abcd", INDEPENDENT, 0.5, draw)) for _ in range(TIMES))
    assert close(anew, {"ab cd": 0.375, "ab c d": 0.25, "a b cd": 0.125, "a b c d": 0.25})
    lasting = Counter(" ".join(merge_with_lasting_dropout("abcd", INDEPENDENT, 0.5, draw)) for _ in range(TIMES))
    assert close(lasting, dict.fromkeys(("ab cd", "ab c d", "a b cd", "a b c d"), 0.25))


def test_merges_that_overlap() -> None:
    draw = Random(2)
    anew = Counter(" ".join(merge_with_dropout("abc", OVERLAPPING, 0.5, draw)) for _ in range(TIMES))
    assert close(anew, {"a bc": 0.5, "abc": 0.125, "ab c": 0.125, "a b c": 0.25})
    lasting = Counter(" ".join(merge_with_lasting_dropout("abc", OVERLAPPING, 0.5, draw)) for _ in range(TIMES))
    assert close(lasting, {"a bc": 0.5, "abc": 0.125, "ab c": 0.125, "a b c": 0.25})


@pytest.mark.parametrize("way", [merge_with_dropout, merge_with_lasting_dropout])
def test_nothing_or_everything_is_dropped(way) -> None:
    for text in ("abcabcd", "abab", "x", ""):
        assert way(text, OVERLAPPING, 0, Random(1)) == merge(text, OVERLAPPING)
        assert way(text, OVERLAPPING, 1, Random(1)) == list(text)
