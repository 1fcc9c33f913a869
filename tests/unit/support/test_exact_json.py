"""JSON with integers of any size: as the standard library reads and writes it, where orjson takes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.support.exact_json import dumps, loads
from bpe_cli.support.safe_orjson import orjson

INTEGERS = st.integers() | st.integers(10**17, 10**20) | st.integers(-(10**25), 10**25)
PLAIN = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text('aé中\\"1')
VALUES = st.recursive(
    INTEGERS | PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_written_is_read_back(value):
    assert loads(dumps(value)) == value
    assert loads(json.dumps(value).encode()) == value


@given(st.binary(max_size=18) | st.text('[]{}:,"1-.e ', max_size=18).map(str.encode))
def test_beside_a_long_number_all_is_read_as_orjson_reads_it(data):
    data = b"[1234567890123456789, " + data + b"]"
    try:
        expected = orjson.loads(data)
    except orjson.JSONDecodeError:
        with pytest.raises(orjson.JSONDecodeError):
            loads(data)
    else:
        assert loads(data) == expected


def test_no_integer_becomes_a_float():
    for number in (2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**308):
        assert loads(b"[%d]" % number) == [number]
        assert dumps([number]) == b"[%d]" % number


def test_what_is_too_large_or_too_deep_is_refused(monkeypatch):
    with pytest.raises(orjson.JSONDecodeError, match="number is infinity") as caught:
        loads(b'{"a":\n ' + b"1" * 310 + b"}")
    assert (caught.value.lineno, caught.value.colno) == (2, 2)

    def deep(text):
        raise RecursionError

    monkeypatch.setattr(json, "loads", deep)  # how deep it goes depends on Python, and on who calls
    with pytest.raises(orjson.JSONDecodeError, match="nested too deeply"):
        loads(b"1" * 20)


@pytest.mark.parametrize(
    "value",
    [[2**64, {1}], [2**64, float("inf")], [2**64, "\ud800"], 10**309, 10**5000],
    ids=["a set", "infinity", "half a character", "too large", "too many digits"],
)
def test_what_json_does_not_have_is_refused(value):
    with pytest.raises(orjson.JSONEncodeError):
        dumps(value)
