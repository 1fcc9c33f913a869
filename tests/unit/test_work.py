"""Work is counted: what goes on for ever is stopped, and what takes fifty times as long as it should is noticed."""

from __future__ import annotations

import contextlib
import sys
from itertools import count

import pytest

from bpe_cli.teaching.bpe import merge_word
from tests.work import assert_little_work, cost, lines


def merge(length: int) -> None:
    assert merge_word(("a",) * length, ("a", "a"), "aa") == ("aa",) * (length // 2)


def test_lines_are_those_of_the_package_and_the_same_in_every_run():
    assert lines(lambda: sorted(range(1000)), 0) == 0
    few, many = lines(lambda: merge(2), 10**6), lines(lambda: merge(80), 10**6)
    assert 2 < few < many / 10
    assert lines(lambda: merge(2), few) == few
    with pytest.raises(AssertionError, match=f"more than {few - 1:,} lines run"):
        lines(lambda: merge(2), few - 1)


def test_what_goes_on_for_ever_is_stopped():
    def forever():
        for _ in count():
            with contextlib.suppress(Exception):
                merge(2)

    tracing = sys.gettrace()
    with pytest.raises(AssertionError, match="more than 10,000 lines run"):
        lines(forever, 10_000)
    assert sys.gettrace() is tracing


def test_time_is_that_of_adding_up_bytes():
    size = 1 << 20
    assert 0 < cost(lambda: sum(bytes(size)), size, 5) <= 5
    with pytest.raises(AssertionError, match="times as long as adding up 1,048,576 bytes, not 5"):
        cost(lambda: [sum(bytes(size)) for _ in range(50)], size, 5)


def test_both_are_asserted():
    assert_little_work(lambda: merge(2), size=100, most_lines=2_000, most_cost=5)
    with pytest.raises(AssertionError, match="lines run"):
        assert_little_work(lambda: merge(80), size=100, most_lines=10, most_cost=5)
    with pytest.raises(AssertionError, match="times as long"):
        assert_little_work(lambda: sum(bytes(1 << 24)), size=100, most_lines=10, most_cost=5)
