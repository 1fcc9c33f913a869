"""What the core cuts out of a ``tokenizer.json`` gives the tokenizer, or the error, that plain reading gives."""

from __future__ import annotations

import json
import random

import orjson
import pytest

from bpe_cli import _core
from bpe_cli.errors import BpeError
from bpe_cli.formats import dump
from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.tokenizer import named_encodings
from tests.cli.training_kinds import KINDS
from tests.every_format import trained
from tests.thorough import more


def outcome(read, data: bytes) -> object:
    """Return what reading comes to: all of the tokenizer, or the message and the hint."""
    try:
        tokenizer = read(data, "t.json")
    except BpeError as error:
        return type(error).__name__, error.message, error.hint
    return tokenizer, tokenizer.origin


def is_cut(data: bytes) -> bool:
    return _core.WrittenMerges.cut(data, "model", "vocab", "merges") is not None


def both_agree(data: bytes) -> object:
    plainly = outcome(tokenizer_json.loads_plainly, data)
    assert outcome(tokenizer_json.loads, data) == plainly
    return plainly


def small() -> dict:
    """Return a byte-level model with all that is special about special tokens."""
    token = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "added_tokens": [token | {"id": 7, "content": "<s>"}, token | {"id": 2, "content": "!"}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "ignore_merges": True,
            "vocab": {"a": 0, "b": 1, "!": 2, "Ġ": 3, "ab": 4, "Ġab": 5, "é\"\\": 6, "<s>": 7, "ba": 9},
            "merges": [["a", "b"], ["Ġ", "ab"], ["b", "a"]],
        },
    }  # fmt: skip


def test_worked_example():
    data = orjson.dumps(small())
    assert is_cut(data)
    tokenizer, _ = both_agree(data)
    assert [tokenizer.model.vocabulary.token(token_id) for token_id in range(10)] == [
        b"a", b"b", b"!", b" ", b"ab", b" ab", b"\xe9\"\\", b"", b"", b"ba",
    ]  # fmt: skip
    assert list(tokenizer.model.merges) == [(0, 1, 4), (3, 4, 5), (1, 0, 9)]


def changed(vocab=(), merges=(), added=(), model=(), **others) -> dict:
    """Return the same with more tokens, merges and added tokens, and with other members."""
    document = small() | others
    document["added_tokens"] += [{"id": token_id, "content": text} for text, token_id in dict(added).items()]
    document["model"]["vocab"] |= dict(vocab)
    document["model"]["merges"] += merges
    document["model"] |= dict(model)
    return document


CHARACTERS = {"pre_tokenizer": None}
CHANGES = {
    "a merge twice": {"merges": [["a", "b"]]},
    "a merge as text": {"vocab": {"bb": 8}, "merges": ["b b"]},
    "a merge of three": {"merges": [["a", "b", "a"]]},
    "a merge of nothing": {"merges": [["a", ""]]},
    "a merge of a token that is empty": {"vocab": {"": 8}, "merges": [["a", ""]]},
    "a merge with two blanks": {"merges": ["a  b"]},
    "a merge of what is missing": {"merges": [["a", "x"]]},
    "a product that is missing": {"merges": [["b", "b"]]},
    "a product made twice": {"vocab": {"aba": 8}, "merges": [["ab", "a"], ["a", "ba"]]},
    "a merge of a special token": {"vocab": {"a<s>": 8}, "merges": [["a", "<s>"]]},
    "an empty token": {"vocab": {"": 8}},
    "no byte": {"vocab": {"東": 8}},
    "no byte, of an added token": {"vocab": {"東": 8}, "added": {"東": 8}},
    "a byte that is another text": {"vocab": {"é": 8}, "added": {"é": 8}},
    "an id twice": {"vocab": {"x": 4}},
    "an id too large": {"vocab": {"x": 1 << 21}},
    "an id far too large": {"vocab": {"x": 1 << 40}},
    "an id that is text": {"vocab": {"x": "8"}},
    "the largest id": {"vocab": {"x": (1 << 21) - 1}},
    "an added token with another id": {"added": {"ab": 8}},
    "an added token with another text": {"added": {"x": 4}},
    "an added token behind all": {"added": {"x": 4_000_000_000}},
    "merges of null": {"model": {"merges": None}},
    "tokens of null": {"model": {"vocab": None}},
    "tokens in an array": {"model": {"vocab": [["a", 1.0]]}},
    "another kind": {"model": {"type": "WordPiece", "unk_token": "a"}},
    "characters": CHARACTERS,
    "characters and no byte": CHARACTERS | {"vocab": {"東": 8}},
    "characters with a prefix": CHARACTERS | {"model": {"continuing_subword_prefix": "a"}},
    "characters with a prefix that is missing": CHARACTERS | {"model": {"continuing_subword_prefix": "x"}},
    "characters with a wrong prefix": CHARACTERS | {"model": {"continuing_subword_prefix": 3, "other": 1}},
    "characters with a wrong suffix": CHARACTERS | {"model": {"end_of_word_suffix": 3}},
    "characters with an unknown one": CHARACTERS | {"model": {"unk_token": "ab"}},
    "characters with a missing unknown one": CHARACTERS | {"model": {"unk_token": "x"}},
    "an unknown field": {"model": {"other": 1}},
    "a wrong version": {"version": "2.0"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_unusual_is_read_as_it_is_plainly(change):
    document = changed(**CHANGES[change])
    both_agree(orjson.dumps(document))
    both_agree(json.dumps(document, indent=1).encode())  # ASCII, with escapes


def test_members_may_stand_in_any_order_or_be_missing():
    document = small()
    model = document["model"]
    model["vocab"] = model.pop("vocab")
    assert not is_cut(orjson.dumps(document))  # merges stand before tokens
    both_agree(orjson.dumps(document))
    del model["merges"]
    both_agree(orjson.dumps(document))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_alike(kind):
    both_agree(dump(trained(kind), "bpe.json")[""])


def test_a_large_vocabulary_is_cut():
    data = tokenizer_json.dump(named_encodings.named("gpt2"))[""]
    assert is_cut(data)
    both_agree(data)


HUNTED = more({"hf-qwen2_5", "roberta-base"}, set())
"""Folders of which the plain way takes long, and which are written as hf-llama3 and whisper-tiny are."""


def test_real_files_are_cut(shared):
    paths = sorted((shared / "vocabs").glob("*/tokenizer.json"))
    assert {path.parent.name for path in paths} > HUNTED
    cut = 0
    for path in paths:
        if path.parent.name not in HUNTED:
            data = path.read_bytes()
            both_agree(data)
            cut += is_cut(data)
    assert cut >= 8 - len(HUNTED)


def test_damaged_documents_are_read_alike():
    chance = random.Random(1)
    whole = orjson.dumps(small(), option=orjson.OPT_INDENT_2)
    good = 0
    for _ in range(more(900, 3000)):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 3)):
            place = chance.randrange(len(data) or 1)
            other = chance.randrange(len(data) or 1)
            match chance.randrange(5):
                case 0:
                    del data[place : place + chance.randrange(1, 9)]
                case 1:
                    data[place : place + 1] = (chance.choice(b'"\\{}[]:,0123 \n\x00\xffanu'),)
                case 2:
                    data[place:place] = data[other : other + chance.randrange(40)]
                case 3:
                    data[place:place] = chance.choice((b"\\u0061", b'"model": {}, ', b'"a": 1, ', b"-", b"1e2", b"nul"))
                case 4:
                    del data[place:]
        good += not isinstance(both_agree(bytes(data))[0], str)
    assert good > 15
