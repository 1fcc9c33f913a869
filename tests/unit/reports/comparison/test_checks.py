"""Conditions on a comparison: read, evaluated by hand, worded for CI."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.reports.comparison.checks import Condition, amount, check_scope
from bpe_cli.reports.comparison.comparison import METRICS, Comparison, best_of, metrics_named
from tests.counted import at_least, compared
from tests.unit.reports.comparison.handmade import ALL, comparison, row, row_of

TOTAL = row_of("total", 1, 12, 12, [4, 3])
COMPARISON = Comparison(("a", "b"), (256, 300), (), TOTAL, ())


@pytest.fixture(autouse=True)
def more_metrics(monkeypatch):
    for name, metric in ALL.items():
        monkeypatch.setitem(METRICS, name, metric)


def found(report, *conditions):
    return [str(failure) for text in conditions for failure in Condition.parse(text).check(report).failures]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bytes_per_token < 4", ["a: bytes_per_token 3 < 4"]),
        ("bytes_per_token<=4.0", ["a: bytes_per_token 3 <= 4", "b: bytes_per_token 4 <= 4"]),
        ("tokens>3", ["a: tokens 4 > 3"]),
        ("total: tokens > 3e0", ["a: tokens 4 > 3"]),
        ("ratio >= .75", ["a: ratio 1 >= 0.75", "b: ratio 0.75 >= 0.75"]),
        ("ratio != 1", ["b: ratio 0.75 != 1"]),
        ("characters_per_token == 5", []),
        ("tokens > 1e-3", ["a: tokens 4 > 0.001", "b: tokens 3 > 0.001"]),
        ("tokens > 1E+3", []),
    ],
)
def test_conditions_by_hand(text, expected):
    assert found(COMPARISON, text) == expected


def test_scopes():
    report = comparison(rows=(row("en.txt", [10, 9]), row("a: b", [20, 5])), total=row("total", [30, 14]))
    assert found(report, "any: tokens > 15") == ["mine.json on a: b: tokens 20 > 15"]
    assert found(report, "any: tokens > 25") == []  # of all together it is true
    assert found(report, "a: b: tokens > 1") == ["mine.json on a: b: tokens 20 > 1", "gpt2 on a: b: tokens 5 > 1"]
    assert found(report, "en.txt :tokens>9") == ["mine.json on en.txt: tokens 10 > 9"]


def test_an_input_called_total_is_not_all_together():
    report = comparison(rows=(row("total", [10, 9]), row("any", [3, 3])), total=row("total", [13, 12]))
    assert found(report, "total: tokens > 9") == ["mine.json: tokens 13 > 9", "gpt2: tokens 12 > 9"]
    assert len(found(report, "any: tokens > 2")) == 4


def test_shares():
    report = comparison(total=row("total", [1000, 800], unknown_tokens=[1, 2]))
    assert found(report, "unknown_share > 0.1%") == ["gpt2: unknown_share 0.25% > 0.1%"]  # 0.1% is not more
    assert found(report, "unknown_share > .001") == found(report, "unknown_share > 0.1 %")
    assert found(report, "unknown_share >= 1e-1%") == [
        "mine.json: unknown_share 0.1% >= 0.1%", "gpt2: unknown_share 0.25% >= 0.1%",
    ]  # fmt: skip


def test_a_value_beside_its_limit_is_written_out():
    report = comparison(total=row("total", [3_000_000, 3_000_001], size=12_000_000))
    assert found(report, "bytes_per_token < 4") == ["gpt2: bytes_per_token 3.999998666667111 < 4"]


def test_what_has_no_value_fails():
    empty = Comparison(("a",), (256,), (), row_of("total", 0, 0, 0, [0]), ())
    assert found(empty, "bytes_per_token < 4", "tokens < 1") == [
        "a: bytes_per_token has no value: there are no tokens", "a: tokens 0 < 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "", "bytes_per_token", "tokens < x", "4 < tokens", "tokens < 1,000", "tokens < nan", "tokens < inf",
        "tokens < 1e", "tokens = 1", "tokens <", ": tokens", "tokens < 1%%", "tokens < ٣", "tokens < 1e99999999999",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError, match=r"is not a condition$"):
        Condition.parse(text)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("bytes_per_tokens < 3", "there is no metric 'bytes_per_tokens'", "did you mean bytes_per_token"),
        ("zzz < 3", "there is no metric 'zzz'", "there are tokens, bytes_per_token, "),
        ("tokens < -1", "no metric is below 0", ""),
        ("tokens < +1", "numbers have no sign", ""),
        ("tokens < 5%", "tokens is not a share", ""),
        ("unknown_share > 5", "is a share, at most 1", "write 5%"),
        ("unknown_share > 101%", "is a share, at most 1", ""),
        ("tokens < 1e999", "too large", ""),
    ],
)
def test_what_cannot_be_meant_is_said(text, message, hint):
    with pytest.raises(UsageError) as caught:
        Condition.parse(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_an_input_that_is_not_there():
    check_scope("de.txt", "de.txt: tokens < 1", ["de.txt"])
    check_scope("any", "", [])
    with pytest.raises(UsageError, match=r"there is no input 'e.txt'") as caught:
        check_scope("e.txt", "e.txt: tokens < 1", ["de.txt", "fr.txt"])
    assert caught.value.hint.startswith("did you mean de.txt")


OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
             "!=": operator.ne}  # fmt: skip


@given(
    st.integers(0, 10**6), st.sampled_from(sorted(OPERATORS)), st.floats(0, 1e15), st.sampled_from(["", " ", "\t "]),
    st.text(max_size=8),
)  # fmt: skip
def test_a_condition_means_what_it_says(tokens, sign, number, space, name):
    report = comparison(("t",), rows=(row(name, [tokens]),), total=row("total", [tokens]))
    text = f"tokens{space}{sign}{space}{number!r}"
    expected = OPERATORS[sign](tokens, number)
    assert bool(found(report, text)) is expected
    assert bool(found(report, f"total:{text}")) is expected
    scope = name.strip()
    if name == scope and scope not in ("any", "total", ""):
        assert bool(found(report, f"{name}:{text}")) is expected


@at_least(1)
@given(
    st.text(max_size=30)
    | st.tuples(
        st.sampled_from(["", "any:", "total: ", ": "]), st.sampled_from(sorted(METRICS)),
        st.sampled_from(["<", " >= ", "=", "!"]), st.integers(0, 9).map(str) | st.text(max_size=2),
        st.sampled_from(["", "", "%", "x"]),
    ).map("".join)
)  # fmt: skip
def test_no_text_does_anything_else(text):
    try:
        condition = Condition.parse(text)
    except UsageError:
        return
    assert condition.metric.name in METRICS
    compared()


def test_amounts():
    assert [amount(value, False) for value in (0, 5.0, 1e20, 1234.5678)] == ["0", "5", "1e+20", "1,234.57"]


def test_metrics_by_name():
    assert [metric.name for metric in metrics_named(["ratio", "tokens", "ratio"])] == ["ratio", "tokens"]
    assert metrics_named(["all"]) == tuple(each for each in METRICS.values() if each.kind != "speed")
    assert metrics_named(["ratio", "all"])[0].name == "ratio"
    with pytest.raises(UsageError, match="no metric 'speed'"):
        metrics_named(["speed"])


def test_best():
    tied = row("x", [5, 3, 3], word_count=[0, 0, 3], unknown_tokens=[0, 0, 0])
    assert best_of(tied, METRICS["tokens"]) == (1, 2)
    assert best_of(tied, METRICS["bytes_per_token"]) == (1, 2)
    assert best_of(tied, ALL["unknown_share"]) == ()  # all the same
    assert best_of(tied, ALL["tokens_per_word"]) == ()  # one value
    assert best_of(tied, ALL["vocabulary"]) == ()  # no way is better
    assert best_of(row("x", [5]), METRICS["tokens"]) == ()
