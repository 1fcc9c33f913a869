"""Texts are encoded from where they lie, and become what their bytes become in one block."""

from __future__ import annotations

import pytest

from bpe_cli import Tokenizer, load
from bpe_cli.errors import InputError, UsageError
from bpe_cli.stages import RankBpe
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import bytes_of


class OwnStr(str):
    """A str that says something else than it holds."""

    def encode(self, *_):
        return b"its own bytes"


KINDS = [
    b"bytes",
    b"\xff no text \x80",
    "a short str",
    "one with \u00e9 and \u4e2d\u6587",
    "long and ascii " * 100,
    "long and not: \u00e9 " * 100,
    "a byte that was escaped: \udcff",
    bytearray(b"may change"),
    memoryview(b"a view"),
    OwnStr("a subclass"),
    "",
    b"",
]


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_kind_of_text(name, threads):
    tokenizer = load(name)
    for first in range(len(KINDS)):
        texts = KINDS[first:] + KINDS[:first]
        block = Block.of([bytes_of(text) for text in texts])
        ids, ends = tokenizer.encode_block(block)
        batch = tokenizer.encode_batch(texts, threads=threads)
        assert batch.ids == ids
        assert batch.offsets[1:] == ends
        assert batch.to_lists() == [tokenizer.encode(text) for text in texts]
        assert tokenizer.count_batch(texts, threads=threads) == [tokenizer.count(text) for text in texts]
        assert tokenizer.count_batch(texts) == [len(each) for each in batch]


@pytest.mark.parametrize("kind", [str, str.encode])
def test_many_texts_and_long_ones(kind):
    tokenizer = load("gpt2")
    long = "some words and \u00e9 " * 60_000
    texts = [kind(text) for text in (*["a few words"] * 40_000, long, "between", long[:70_000], *["the end"] * 5)]
    block = Block.of([bytes_of(text) for text in texts])
    ids, ends = tokenizer.encode_block(block)
    for threads in (1, 2, 4):
        batch = tokenizer.encode_batch(iter(texts), threads=threads)
        assert batch.ids == ids
        assert batch.offsets[1:] == ends


def test_a_byte_without_a_token_is_named():
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_ids({b"a": 0, b"b": 1, b"ab": 2})))
    for texts in (["ab", "abXab"], [b"ab", bytearray(b"abXab")]):
        with pytest.raises(InputError, match=r"^texts\[1\]: byte 0x58 at offset 2 has no token"):
            tokenizer.encode_batch(texts)
        with pytest.raises(InputError, match=r"^texts\[1\]: byte 0x58 at offset 2 has no token"):
            tokenizer.count_batch(texts)
        with pytest.raises(InputError, match="byte 0x58 at offset 2 has no token"):
            tokenizer.encode(texts[1])


def test_what_is_looked_for_is_compiled_once():
    tokenizer = load("gpt2")
    text = "a<|endoftext|>b"
    plain, special = tokenizer.encode(text), tokenizer.encode(text, specials="all")
    assert 50256 in special
    assert 50256 not in plain
    for specials in ("all", ["<|endoftext|>"], ("<|endoftext|>",), (each for each in ["<|endoftext|>"])):
        assert tokenizer.encode(text, specials=specials) == special
    compiled = tokenizer._matcher("all")
    assert tokenizer._matcher("all") is compiled
    for number in range(40):
        assert tokenizer.encode(text, specials=["<|endoftext|>"] * number) == (special if number else plain)
    with pytest.raises(UsageError):
        tokenizer.encode(text, specials=("<s>",))
    assert tokenizer.encode(text) == plain
