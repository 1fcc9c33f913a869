"""The core's two greedy encoders against the textbook's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.stages import LongestMatch
from bpe_cli.teaching.longest_match import encode, encode_from_left, token_length
from bpe_cli.vocabulary import Vocabulary
from tests.core_model import CoreModel

UNKNOWN = "<unk>"


def model(tokens: list[str], *, left_to_right: bool = False, suffix: str = "", unknown: bool = True) -> CoreModel:
    vocabulary = Vocabulary.from_tokens([token.encode() for token in [*tokens, UNKNOWN]])
    unk_id = len(tokens) if unknown else None
    return CoreModel(LongestMatch(vocabulary, left_to_right, unk_id, suffix))


def texts(tokens: list[str], core: CoreModel, word: str) -> list[str]:
    return [[*tokens, UNKNOWN][token_id] for token_id in core.ids(word.encode())]


# -- worked examples -------------------------------------------------------------------------------

NOTEBOOK = ["m", "s</w>", "n", "ou", "in", "ta"]  # by frequency, so that the id decides as the frequency does


def test_the_notebooks_words() -> None:
    core = model(NOTEBOOK, suffix="</w>")
    assert texts(NOTEBOOK, core, "inmountains") == ["in", "m", "ou", "n", "ta", "in", "s</w>"]
    assert texts(NOTEBOOK, core, "mountains") == ["m", "ou", "n", "ta", "in", "s</w>"]
    assert texts(NOTEBOOK, core, "mountain") == ["m", "ou", "n", "ta", "in", UNKNOWN]  # nothing is </w>
    assert core.spans(b"ins") == [(4, 0, 2), (1, 2, 3)]
    assert core.spans(b"in") == [(4, 0, 2), (6, 2, 2)]


def test_the_two_ways_differ() -> None:
    tokens = ["ab", "bcd", "abc", "d"]
    assert texts(tokens, model(tokens), "abcd") == ["<unk>", "bcd"]
    assert texts(tokens, model(tokens, left_to_right=True), "abcd") == ["abc", "d"]


def test_an_end_counts_as_one_character() -> None:
    tokens = ["bcd", "d</w>"]  # three characters before two, though d</w> has five
    assert texts(tokens, model(tokens, suffix="</w>"), "bcd") == ["bcd", UNKNOWN]


def test_equals_by_id() -> None:
    assert texts(["ab", "bc"], model(["ab", "bc"]), "abc") == ["ab", UNKNOWN]
    assert texts(["bc", "ab"], model(["bc", "ab"]), "abc") == [UNKNOWN, "bc"]


def test_unknown_stretches() -> None:
    assert model(["a"]).spans("éxaéx".encode()) == [(1, 0, 3), (0, 3, 4), (1, 4, 7)]
    assert model(["a"], unknown=False).spans("éxaéx".encode()) == [(0, 3, 4)]
    assert texts(["a"], model(["a"]), "<unk>") == [UNKNOWN]


def test_characters_are_whole() -> None:
    vocabulary = Vocabulary.from_tokens([b"\xbd", b"\xe4", b"?"])
    for left_to_right in (False, True):
        core = CoreModel(LongestMatch(vocabulary, left_to_right, 2))
        assert core.spans(b"\xe4\xbd\xa0\xe4\xbd") == [(2, 0, 3), (1, 3, 4), (0, 4, 5)]


# -- the textbook ----------------------------------------------------------------------------------


def in_order(tokens: list[str], suffix: str) -> list[str]:
    return sorted(tokens, key=lambda token: -token_length(token, suffix))  # stable: then by id


@given(
    st.lists(st.text("abé", min_size=1, max_size=5), min_size=1, max_size=12, unique=True),
    st.lists(st.text("abéx", min_size=1, max_size=20), min_size=30, max_size=60),
    st.sampled_from(["", "</w>", "b", "ab"]),
    st.data(),
)
def test_words_are_cut_by_the_book(tokens: list[str], words: list[str], suffix: str, data: st.DataObject) -> None:
    if suffix:
        final = data.draw(st.lists(st.sampled_from(tokens), max_size=4, unique=True))
        tokens = list(dict.fromkeys([*tokens, *(token + suffix for token in final), suffix[:-1] or "a"]))
    pieces = [word.encode() for word in words]
    names = [*tokens, UNKNOWN]
    found = model(tokens, suffix=suffix).encode(pieces)
    order = in_order(tokens, suffix)
    assert [[names[token] for token in ids] for ids in found] == [encode(word + suffix, order) for word in words]
    found = model(tokens, left_to_right=True, suffix=suffix).encode(pieces)
    expected = [encode_from_left(word + suffix, tokens) for word in words]
    assert [[names[token] for token in ids] for ids in found] == expected


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, max_size=9, unique=True), st.binary(max_size=30))
def test_spans_cover_any_bytes(tokens: list[str], piece: bytes) -> None:
    for left_to_right in (False, True):
        spans = model(tokens, left_to_right=left_to_right, suffix="</w>").spans(piece) if piece else []
        assert [start for _, start, _ in spans] == [0, *(end for _, _, end in spans)][: len(spans)]
        assert not spans or spans[-1][2] == len(piece)


@pytest.mark.parametrize("left_to_right", [False, True])
def test_a_giant_run_of_one_letter(left_to_right: bool) -> None:
    tokens = ["a" * length for length in range(1, 300)]
    length = 150_000
    ids = model(tokens, left_to_right=left_to_right).ids(b"a" * length)
    assert ids == [298] * (length // 299) + [length % 299 - 1]


def test_equal_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="ids 0 and 1 are the same bytes"):
        model(["a", "a"])
