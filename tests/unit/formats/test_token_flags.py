"""Flags of added tokens: which of them count, and how messages call them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.formats import added_tokens, gguf
from bpe_cli.formats.byte_level import minbpe
from bpe_cli.stages import Lowercase, MergeBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer

BYTES = MergeBpe(Vocabulary.from_tokens(bytes([byte]) for byte in range(256)), Merges.from_pairs([]))


def with_tokens(*tokens: SpecialToken) -> Tokenizer:
    return Tokenizer(BYTES, special_tokens=tokens)


def added(content: bytes, token_id: int, **flags: bool) -> SpecialToken:
    return SpecialToken(content, token_id, special=False, **flags)


def test_normalized_counts_only_where_something_normalizes():
    tokenizer = with_tokens(added(b"zebra", 256, normalized=True), SpecialToken(b"<s>", 257))
    assert added_tokens.effective_tokens(tokenizer) == (added(b"zebra", 256), SpecialToken(b"<s>", 257))
    lower = replace(tokenizer, normalizer=(Lowercase(),))
    assert added_tokens.effective_tokens(lower) == lower.special_tokens


@pytest.mark.parametrize("other", [b"bra<", b"ze", b"eb", b"a", b"my zeb", b"a zebra b"])
def test_normalized_counts_for_tokens_that_overlap(other):
    tokenizer = with_tokens(added(b"zebra", 256, normalized=True), added(other, 257))
    assert added_tokens.effective_tokens(tokenizer) == tokenizer.special_tokens


def test_what_is_left_out_changes_no_encoding():
    chance = random.Random(5)
    for _ in range(300):
        contents = {bytes(chance.choices(b"abc", k=chance.randint(1, 3))) for _ in range(4)}
        tokens = [added(each, 256 + n, normalized=chance.random() < 0.5) for n, each in enumerate(sorted(contents))]
        tokenizer = with_tokens(*tokens)
        plain = replace(tokenizer, special_tokens=added_tokens.effective_tokens(tokenizer))
        text = "".join(chance.choices("abc", k=20))
        assert plain.encode(text) == tokenizer.encode(text)


def test_a_message_names_the_flags_that_occur():
    tokens = [SpecialToken(b"<%d>" % n, 256 + n, rstrip=True, special=n > 0) for n in range(3)]
    with pytest.raises(FormatError) as caught:
        minbpe.dump(with_tokens(*tokens, SpecialToken(b"<x>", 259)), frozenset({"pattern"}))
    assert caught.value.message == (
        'minbpe\'s .model cannot hold how added tokens are looked for (special: false of "<0>", rstrip of "<0>" and 2 '
        "more)"
    )


def test_gguf_names_the_token_that_llama_cpp_makes_special():
    """A token that comes in between moves no other one's flags."""
    vocabulary = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"</", b"s>", b"</s>"])
    merges = Merges.from_pairs([(60, 47, 256), (115, 62, 257), (256, 257, 258)])
    tokens = tuple(SpecialToken(b"<|%d|>" % n, 259 + n) for n in range(3))
    tokenizer = Tokenizer(MergeBpe(vocabulary, merges), special_tokens=tokens)
    with pytest.raises(FormatError) as caught:
        gguf.dump(tokenizer, frozenset({"pattern"}))
    assert caught.value.message == (
        'a GGUF file cannot hold how added tokens are looked for (llama.cpp takes "</s>" for special)'
    )


def test_gguf_holds_added_tokens_where_nothing_normalizes():
    tokenizer = with_tokens(added(b"zebra", 256, normalized=True))
    again = gguf.loads(gguf.dump(tokenizer, frozenset({"pattern"}))[""])
    assert again.encode("a zebra") == tokenizer.encode("a zebra") == [97, 32, 256]


def test_gguf_names_a_model_so_that_white_space_is_taken_along():
    tokens = (SpecialToken(b"<|endoftext|>", 256), SpecialToken(b"<|user|>", 257, rstrip=True))
    again = gguf.loads(gguf.dump(with_tokens(*tokens), frozenset({"pattern"}))[""])
    assert again.special_tokens == tokens
    assert dict(again.origin.facts)["general.name"] == "phi-3"
    assert gguf.loads(gguf.dump(again)[""]).special_tokens == tokens
    others = (SpecialToken(b"<|endoftext|>", 256, rstrip=True), SpecialToken(b"<|user|>", 257, rstrip=True))
    with pytest.raises(FormatError, match=r'\(rstrip of "<\|endoftext\|>" and 1 more\)'):
        gguf.dump(with_tokens(*others), frozenset({"pattern"}))
