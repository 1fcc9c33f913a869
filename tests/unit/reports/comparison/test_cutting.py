"""Ends of tokens: the fast way and the slow way say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.formats import find_tokenizer
from bpe_cli.reports.comparison.boundaries import Cutter
from bpe_cli.tokenizer.named_encodings import named
from tests.unit.reports.comparison.tiny import tiny


def test_by_hand():
    cutter = Cutter(tiny(b"ab", b"\xe8\xb0"))
    assert [ends for _, ends in cutter.cut([b"abc", b"", "谁".encode()])] == [[2, 3], [], [2, 3]]
    assert cutter.count([b"abc", b"", "谁".encode()]) == [2, 0, 2]
    assert cutter.unknown([b"abc"]) == 0
    assert cutter.keeps([b"abc", b"\xff"])


def test_special_tokens_are_as_long_as_they_are():
    cutter = Cutter(tiny(specials=(b"<end>",)), "all")
    assert [ends for _, ends in cutter.cut([b"a<end>b"])] == [[1, 6, 7]]


@given(st.lists(st.one_of(st.binary(max_size=20), st.text(max_size=12).map(str.encode)), max_size=5))
@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_ends_are_those_of_tokens(name, texts):
    tokenizer = named(name)
    for text, (ids, ends) in zip(texts, Cutter(tokenizer).cut(texts), strict=True):
        tokens = tokenizer.tokens(text)
        assert (ids, ends) == ([token.token_id for token in tokens], [token.end for token in tokens])


@pytest.mark.parametrize("name", ["bert-base-uncased", "t5-small", "roberta-base", "llama2-repaired"])
def test_any_tokenizer_is_cut_from_left_to_right(name, shared):
    tokenizer = find_tokenizer(str(shared / "vocabs" / name))
    texts = ["Hello  world, ñandú 東京 ❤️\n".encode(), b"", b" 12", "é".encode()]
    for text, (ids, ends) in zip(texts, Cutter(tokenizer).cut(texts), strict=True):
        assert len(ids) == len(ends) == len(tokenizer.encode(text))
        assert ends == sorted(ends)
        assert all(0 <= end <= len(text) for end in ends)


def test_what_is_lost_is_known(shared):
    cutter = Cutter(find_tokenizer(str(shared / "vocabs" / "t5-small")))
    assert cutter.unknown(["東京".encode(), b"one"]) == 1
    assert not cutter.keeps([b"a  b"])
