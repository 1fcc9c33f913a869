"""Ends of tokens: the fast way and the slow way say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.boundaries import Cutter
from bpe_cli.stages import LongestMatch, MergeBpe, SpecialToken, Split
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import named
from tests.unit.reports.comparison.tiny import WORDS, tiny
from tests.unit.reports.published import published


def test_by_hand():
    cutter = Cutter(tiny(b"ab", b"\xe8\xb0"))
    assert [ends for _, ends in cutter.cut([b"abc", b"", "谁".encode()])] == [[2, 3], [], [2, 3]]
    assert cutter.count([b"abc", b"", "谁".encode()]) == [2, 0, 2]
    assert cutter.unknown([b"abc"]) == 0
    assert cutter.keeps([b"abc", b"\xff"])


def test_special_tokens_are_as_long_as_they_are():
    cutter = Cutter(tiny(specials=(b"<end>",)), "all")
    assert [ends for _, ends in cutter.cut([b"a<end>b"])] == [[1, 6, 7]]


def test_an_id_may_be_as_high_as_ids_go():
    """A table of all ids up to it would have 16 GB."""
    cutter = Cutter(tiny().with_special_tokens([SpecialToken(b"<far>", (1 << 32) - 2)]), "all")
    assert list(cutter.cut([b"a<far>b"])) == [([97, (1 << 32) - 2, 98], [1, 6, 7])]


@pytest.mark.parametrize("specials", [(), "all"])
def test_an_added_token_that_is_spelt_as_another_one_leaves_that_its_length(specials):
    """The added token "Ġa" has the id of " a": text of both has one id for two and for three bytes."""
    vocabulary = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b" a"])
    added = SpecialToken("Ġa".encode(), 256, special=False)
    model = MergeBpe(vocabulary, Merges.from_pairs([(32, 97, 256)]))
    tokenizer = Tokenizer(model, (Split(WORDS),), (added,))
    text = "x a Ġa a y".encode()
    ((ids, ends),) = Cutter(tokenizer, specials).cut([text])
    assert (ids, ends) == ([120, 256, 32, 256, 256, 32, 121], [1, 3, 4, 7, 9, 10, 11])


@given(st.lists(st.one_of(st.binary(max_size=20), st.text(max_size=12).map(str.encode)), max_size=5))
@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
def test_ends_are_those_of_tokens(name, texts):
    tokenizer = named(name)
    for text, (ids, ends) in zip(texts, Cutter(tokenizer).cut(texts), strict=True):
        tokens = tokenizer.tokens(text)
        assert (ids, ends) == ([token.token_id for token in tokens], [token.end for token in tokens])


@pytest.mark.parametrize("name", ["bert-base-uncased", "t5-small", "roberta-base", "llama2-repaired"])
def test_any_tokenizer_is_cut_from_left_to_right(name, shared):
    tokenizer = published(shared / "vocabs" / name).tokenizer
    texts = ["Hello  world, ñandú 東京 ❤️\n".encode(), b"", b" 12", "é".encode()]
    for text, (ids, ends) in zip(texts, Cutter(tokenizer).cut(texts), strict=True):
        assert len(ids) == len(ends) == len(tokenizer.encode(text))
        assert ends == sorted(ends)
        assert all(0 <= end <= len(text) for end in ends)


@pytest.mark.parametrize(("unk_id", "cuts"), [(None, ([0], [3])), (1, ([1, 0], [2, 3]))])
def test_where_text_is_lost(unk_id, cuts):
    """Where no token is unknown, the token behind what is left out begins where that begins."""
    model = LongestMatch(Vocabulary.from_tokens([b"a", b"?"]), unk_id=unk_id)
    assert list(Cutter(Tokenizer(model)).cut_and_lost(["éa".encode(), b"a"])) == [(*cuts, [(0, 2)]), ([0], [1], [])]
    assert list(Cutter(tiny()).cut_and_lost([b"a", b""])) == [([97], [1], []), ([], [], [])]


def test_what_is_lost_is_known(shared):
    cutter = Cutter(published(shared / "vocabs" / "t5-small").tokenizer)
    assert cutter.unknown(["東京".encode(), b"one"]) == 1
    assert not cutter.keeps([b"a  b"])
    cutter = Cutter(Tokenizer(LongestMatch(Vocabulary.from_tokens([b"one"]))))
    assert cutter.unknown([b"one", b"one two, one"]) == 1
