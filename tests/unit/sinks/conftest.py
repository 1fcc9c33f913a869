"""A stand-in for a tokenizer, so that the sinks are tested without the compiled core."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.usage import NO_USAGE


class StubVocabulary:
    """Hold token bytes by id."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.blob = b"".join(tokens)
        self.ends = array("I", [sum(map(len, tokens[: place + 1])) for place in range(len(tokens))])

    def id_of(self, content):
        return self.tokens.index(content) if content in self.tokens else None

    def among(self, token_ids):
        return {token_id for token_id in token_ids if token_id < len(self.tokens)}


@dataclass
class StubModel:
    """Have what a model of ranks has."""

    vocabulary: StubVocabulary
    kind: str = "bpe-ranks"


class StubTokenizer:
    """Have a token for each byte (its id is the byte), then more tokens, then special ones."""

    def __init__(self, more=(b"ab", b" a", b"\xc3\xa9"), specials=(b"<|end|>", b"<a b>"), size=None, space=False):
        tokens = [bytes([byte]) for byte in range(256)] + list(more)
        self.model = self.live_model = StubModel(StubVocabulary(tokens))
        self.special_tokens = tuple(
            SimpleNamespace(content=content, token_id=len(tokens) + place, special=True)
            for place, content in enumerate(specials)
        )
        self.special_ids = {token.token_id: token for token in self.special_tokens}
        self.special_table = (array("I", self.special_ids), b"", array("I"))
        self.vocab_size = size or len(tokens) + len(specials)
        self.prefix_space = space
        self.usage = NO_USAGE
        self.pre_tokenizer = ()
        self.normalizer = self.decoder = ()
        self.has_bytes = self.has_spans = True
        self.unicode_version = self.post_processor = None
        self.name = "stub"

    def token_bytes(self, token_id):
        special = self.special_ids.get(token_id)
        return special.content if special else self.model.vocabulary.tokens[token_id]


@dataclass
class Encoded:
    """What an engine gives for a block."""

    block: Block
    ids: memoryview
    ends: memoryview


def encoded_blocks(tokenizer, documents, cuts):
    """Lay documents of ids into blocks, cut after the ids whose running numbers are in ``cuts``."""
    blocks, number = [], 0
    ids, ends, parts, continued = array("I"), array("Q"), [], False

    def emit(unfinished):
        nonlocal ids, ends, parts
        if unfinished:
            ends.append(len(ids))
            parts.append(text)
        if len(ends):
            block = Block.of(parts)
            block = Block(block.data, block.ends, continued, unfinished)
            blocks.append(Encoded(block, memoryview(ids), memoryview(ends)))
        ids, ends, parts = array("I"), array("Q"), []

    for document in documents:
        text = b""
        for token_id in document:
            ids.append(token_id)
            text += tokenizer.token_bytes(token_id)
            number += 1
            if number in cuts:
                emit(unfinished=True)
                continued, text = True, b""
        ends.append(len(ids))
        parts.append(text)
        if number + 1000 in cuts:
            emit(unfinished=False)
            continued = False
    emit(unfinished=False)
    return blocks


@pytest.fixture
def tokenizer():
    return StubTokenizer()


@pytest.fixture(scope="session")
def stubs():
    return SimpleNamespace(Tokenizer=StubTokenizer, encoded_blocks=encoded_blocks)
