"""Check the encoder that needs no merges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.longest_match import encode, encode_from_left, longest_first, token_length


def test_length_counts_the_end_mark_once() -> None:
    assert [token_length(token) for token in ("</w>", "s</w>", "est", "")] == [1, 2, 3, 0]
    assert token_length("s_", end="_") == 2
    assert token_length("s</w>", end="") == 5


def test_equals_keep_their_order() -> None:
    assert longest_first({"ab": 1, "cd": 1, "e": 9, "fg": 2}) == ["fg", "ab", "cd", "e"]


def test_unknown_stretches() -> None:
    assert encode("", ["a"]) == []
    assert encode("xyz", ["a"]) == ["<unk>"]
    assert encode("xyzaxa", ["a"], unknown="?") == ["?", "a", "?", "a"]


def test_a_dot_is_a_dot() -> None:
    assert encode("e.g.x", ["e.g.", "x"]) == ["e.g.", "x"]
    assert encode("exgx", ["e.g.", "x"], unknown="?") == ["?", "x", "?", "x"]


def test_what_it_gives_need_not_be_shortest() -> None:
    assert encode("abcde", ["bcd", "abc", "de", "a", "e"]) == ["a", "bcd", "e"]  # abc de is shorter


def test_from_the_left() -> None:
    assert encode_from_left("", ["a"]) == []
    assert encode_from_left("abcde", ["bcd", "abc", "de", "a", "e"]) == ["abc", "de"]
    assert encode_from_left("xyaxa", ["a", "aa"], unknown="?") == ["?", "a", "?", "a"]


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), st.integers(1, 9)), st.text("abc", max_size=15))
def test_with_an_alphabet_nothing_is_unknown(counts: dict[str, int], word: str) -> None:
    tokens = longest_first({"a": 1, "b": 1, "c": 1} | counts)
    found = encode(word, tokens)
    assert "".join(found) == word
    assert set(found) <= set(tokens)
    found = encode_from_left(word, tokens)
    assert "".join(found) == word
    assert set(found) <= set(tokens)
