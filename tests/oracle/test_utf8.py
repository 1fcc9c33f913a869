"""Hold the paper's dynamic programme against Python's decoder."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle.utf8 import character_of, recover, recoverable

# Beginnings, continuations and the bytes at the edges of what is valid, so that characters do occur
EDGES = st.lists(
    st.sampled_from([0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF])
    | st.sampled_from([0xE0, 0xE4, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF]),
    max_size=24,
).map(bytes)


def test_one_character() -> None:
    assert [character_of(c.encode()) for c in "aé你𐍈"] == list("aé你𐍈")
    assert character_of(b"") is None
    assert character_of(b"\xed\xa0\x80") is None  # a surrogate
    assert character_of(b"\xc0\x80") is None  # overlong
    assert character_of(b"\xf4\x90\x80\x80") is None  # beyond U+10FFFF


def test_table_of_a_broken_character() -> None:
    data = "你".encode() + b"\xe8\xb0" + b"!"  # 谁 without its last byte
    assert recoverable(data) == [0, 0, 0, 1, 1, 1, 2]
    assert recover(data) == "你!"


@given(st.binary(max_size=24) | EDGES)
@example(b"\xf0\x9f\x98")
@example(b"\xe4\xe4\xbd\xa0\xa0")
def test_dynamic_programme_is_decoding_with_ignore(data: bytes) -> None:
    expected = data.decode("utf-8", "ignore")
    assert recover(data) == expected
    assert recoverable(data)[-1] == len(expected)


@given(st.text(max_size=20))
def test_whole_text_comes_back(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    assert recover(text.encode()) == text
