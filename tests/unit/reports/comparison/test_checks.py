"""Conditions on a comparison: read, evaluated by hand, worded for CI."""

from __future__ import annotations

import pytest

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.checks import Condition, offenders
from bpe_cli.reports.comparison.comparison import Comparison, Row

TOTAL = Row.of("total", 1, 12, 12, [4, 3])
COMPARISON = Comparison(("a", "b"), (256, 300), (), TOTAL, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bytes_per_token < 4", ["a: bytes_per_token < 4 (3)"]),
        ("bytes_per_token<=4.0", ["a: bytes_per_token <= 4 (3)", "b: bytes_per_token <= 4 (4)"]),
        ("tokens>3", ["a: tokens > 3 (4)"]),
        ("ratio >= .75", ["a: ratio >= 0.75 (1)", "b: ratio >= 0.75 (0.75)"]),
        ("ratio != 1", ["b: ratio != 1 (0.75)"]),
        ("characters_per_token == 5", []),
    ],
)
def test_conditions_by_hand(text, expected):
    assert offenders(COMPARISON, [Condition.parse(text)]) == expected


def test_what_has_no_value_makes_nothing_true():
    empty = Comparison(("a",), (256,), (), Row.of("total", 0, 0, 0, [0]), ())
    assert offenders(empty, [Condition.parse("bytes_per_token < 4"), Condition.parse("tokens < 1")]) == [
        "a: tokens < 1 (0)"
    ]


@pytest.mark.parametrize(
    "text", ["", "bytes_per_token", "speed < 3", "tokens < -1", "tokens < x", "tokens < 1e3", "4 < tokens"]
)
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError, match="is not a condition"):
        Condition.parse(text)
