"""Tokens that are added are found in text, and nothing else changes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.formats import dump
from bpe_cli.stages import SpecialToken
from bpe_cli.surgery import Operation, add_tokens, chained
from bpe_cli.trainers import train, wordpiece
from bpe_cli.trainers.unmerged import WordOptions
from tests.needs import needs

from .makers import WORDS, byte_level


def added(content: str, **flags: bool) -> SpecialToken:
    return SpecialToken(content.encode(), 0, **{"special": False, **flags})


@given(WORDS, st.lists(st.text("abcdxyz<> ", min_size=1, max_size=5), max_size=6))
def test_ids_and_old_pieces(words, contents):
    begun = byte_level(words, 3, special_tokens=("<s>",))
    operation = add_tokens(begun, map(added, contents))
    grown = operation.tokenizer
    new = [
        each for each in dict.fromkeys(contents) if each.encode() not in {t for _, t in begun.model.vocabulary.items()}
    ]
    new = [each for each in new if each != "<s>"]
    assert [token.content.decode() for token in grown.special_tokens[1:]] == new
    assert [token.token_id for token in grown.special_tokens[1:]] == [
        *range(begun.vocab_size, begun.vocab_size + len(new))
    ]
    for token in grown.special_tokens[1:]:
        assert grown.encode(token.content) == [token.token_id]
        assert list(operation.made_of[token.token_id]) == begun.encode(token.content)
        assert begun.decode_bytes(operation.made_of[token.token_id]) == token.content
    assert grown.model == begun.model


def test_what_is_there_is_kept_and_told():
    begun = byte_level(["ab"], 1, special_tokens=("<s>",))
    operation = add_tokens(begun, [added("new"), added("ab"), added("new"), added("<s>", special=True), added("ab")])
    assert operation.summary == ("1 added", "2 given twice", "2 already there and kept")
    assert operation.notes == ("'ab', '<s>': already a token, and kept as it is",)
    assert operation.tokenizer.special_tokens == (
        SpecialToken(b"<s>", 0),
        added("new").__class__(b"new", 258, special=False),
    )
    assert add_tokens(begun, []).tokenizer == begun
    with pytest.raises(UsageError, match="empty"):
        add_tokens(begun, [added("")])


def test_ids_end():
    far = replace(byte_level(["ab"], 1), special_tokens=(SpecialToken(b"<x>", (1 << 32) - 2),))
    assert add_tokens(far, [added("new")]).tokenizer.special_tokens[1].token_id == (1 << 32) - 1
    with pytest.raises(UsageError, match="no id left"):
        add_tokens(far, [added("new"), added("newer")])


def test_a_text_that_had_no_tokens():
    begun = train(["low lower"], WordOptions(vocab_size=3, unk_token=None))
    operation = add_tokens(begun, [added("newest")])
    assert operation.made_of == {begun.vocab_size: ()}
    assert operation.notes == ("1 of the new tokens have a text that could not be encoded before",)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("kind", ["bytes", "wordpiece"])
def test_like_the_tokenizers_library(kind, special):
    """Their add_tokens gives the same ids, and finds the same tokens."""
    hf = needs("tokenizers")
    begun = (
        byte_level(["low", "lower"], 3) if kind == "bytes" else train(["low lower"], wordpiece.Options(vocab_size=60))
    )
    theirs = hf.Tokenizer.from_str(dump(begun, "tokenizer.json")[""].decode())
    contents = ["newest", "<x>", "Lo we", "éa"]
    theirs.add_tokens([hf.AddedToken(each, special=special, normalized=not special) for each in contents])
    grown = add_tokens(begun, [added(each, special=special, normalized=not special) for each in contents]).tokenizer
    for text in ("low newestlow<x> Lo we", "lo we éa éaéa", "newe st"):
        assert theirs.encode(text, add_special_tokens=False).ids == grown.encode(text, specials="all")
    assert json.loads(dump(grown, "tokenizer.json")[""])["added_tokens"] == json.loads(theirs.to_str())["added_tokens"]


def test_the_map_as_a_file():
    begun = byte_level(["ab"], 1)
    operation = Operation(begun, {0: 0, 2: None, 1: 1}, {257: (1, 2)}, other_to_new={3: None})
    assert operation.id_map() == (
        b'{"schema":"bpe.id-map/1","size":257,"old_to_new":{"0":0,"1":1,"2":null},"made_of":{"257":[1,2]},'
        b'"other_to_new":{"3":null}}\n'
    )
    assert b"other_to_new" not in Operation(begun, {}).id_map()


def test_two_changes_as_one():
    """Of the ids 0 to 3 the first drops 1, moves two and adds one; the second drops 0, moves one and adds two."""
    begun = byte_level(["ab"], 1)
    first = Operation(begun, {0: 0, 1: None, 2: 1, 3: 2}, {3: (1, 2)}, ("a",), ("b",), {7: 3, 8: 1, 9: None})
    second = Operation(begun, {0: None, 1: 1, 2: 2, 3: 5}, {0: (3, 1), 4: (2, 6)}, ("c",), ("d",))
    both = chained(first, second)
    assert both.old_to_new == {0: None, 1: None, 2: 1, 3: 2}
    assert both.made_of == {5: (1, 2), 0: (1, 2, 2), 4: ()}
    assert both.other_to_new == {7: 5, 8: 1, 9: None}
    assert (both.summary, both.notes) == (("a", "c"), ("b", "d"))
    assert chained(Operation(begun, {0: 0}), replace(second, other_to_new={6: 4})).other_to_new == {6: 4}
