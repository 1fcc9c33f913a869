"""Short JSON is read by the standard library: only where it reads what orjson reads."""

from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError
from bpe_cli.formats.read_file import Node, _parse_short

ALIKE = [
    '{"a": 1, "a": [true, null]}',
    "-0",
    "-0.0",
    "1e99",
    "0.1",
    '"\\ud83d\\ude00"',
    '"é"',
    " [] ",
    "999999999999999999",
    "9223372036854775808", "-9223372036854775808", "18446744073709551615",
    "18446744073709551616", "-9223372036854775809", "1000000000000000019884624838656", "-" + "9" * 98,
]  # fmt: skip
LEFT = [
    "1e400", "NaN", "Infinity", "[-Infinity]", '"\\ud800"', '"\x01"', "9" * 301, "[1,]", "{} {}", "",
    "\ufeff{}", "[" * 100 + "]" * 100, "01", "'a'", "0" * 99 + "1",
]  # fmt: skip


@pytest.mark.parametrize("text", ALIKE)
def test_what_all_read_alike_is_read(text):
    read = _parse_short(text.encode())
    assert repr(read) == repr(orjson.loads(text)) != "None"


@pytest.mark.parametrize("text", LEFT)
def test_the_rest_is_left_to_orjson(text):
    assert _parse_short(text.encode()) is None


@pytest.mark.parametrize(
    "data", [b'"\xff"', '"é"'.encode("latin-1"), '{"a": 1}'.encode("utf-16"), b"[" + b" " * 70_000 + b"]"]
)
def test_other_encodings_and_long_documents_are_left(data):
    assert _parse_short(data) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES, st.booleans(), st.binary(max_size=2), st.integers(0))
def test_it_reads_what_orjson_reads(value, escaped, noise, place):
    data = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    place %= len(data) + 1
    for document in (data, data[:place] + noise + data[place + len(noise) :]):
        try:
            plainly = repr(orjson.loads(document))
        except orjson.JSONDecodeError:
            assert _parse_short(document) is None
            with pytest.raises(FormatError):
                Node.parse(document, "f")
        else:
            assert repr(Node.parse(document, "f").value) == plainly
            assert repr(_parse_short(document)) in (plainly, "None")
