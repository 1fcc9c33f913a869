"""RWKV's world vocabulary: the longest token at each place, as a trie in plain Python finds it."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

import pytest

from bpe_cli.formats import rwkv
from tests.differential.texts import corpus, suite, suite_bytes

WORLD = Path("vocabs", "rwkv-world", "rwkv_vocab_v20230424.txt")

Trie = dict[Any, Any]


@pytest.fixture(scope="module")
def world(shared):
    """Return the vocabulary, and a trie of its tokens."""
    return rwkv.load(shared / WORLD), trie_of(shared / WORLD)


def trie_of(path: Path) -> Trie:
    """Return a trie of the tokens as the lines spell them (ids under the key None)."""
    trie: Trie = {}
    lines = [line.partition(" ") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    # The file is Python's own: here, and only here, it may be read as such.
    tokens = ast.literal_eval("[" + ",".join(rest.rpartition(" ")[0] for _, _, rest in lines) + "]")
    for (token_id, _, _), token in zip(lines, tokens, strict=True):
        node = trie
        for byte in token.encode() if isinstance(token, str) else token:
            node = node.setdefault(byte, {})
        node[None] = int(token_id)
    return trie


def by_trie(trie: Trie, text: bytes) -> list[int]:
    found, start = [], 0
    while start < len(text):
        node, at, best = trie, start, (0, 0)
        while at < len(text) and text[at] in node:
            node = node[text[at]]
            at += 1
            if None in node:
                best = (node[None], at)
        found.append(best[0])
        start = best[1]
    return found


def texts(shared: Path) -> list[bytes]:
    draw = random.Random(13)
    every = [text.encode() for text in [*suite(shared).values(), *corpus().values()]]
    return [*every, *suite_bytes(shared).values(), *(draw.randbytes(2000) for _ in range(20))]


def test_ids_are_those_of_the_longest_tokens(shared, world):
    tokenizer, trie = world
    for text in texts(shared):
        ids = tokenizer.encode(text)
        assert ids == by_trie(trie, text)
        assert tokenizer.decode_bytes(ids) == text


def test_file_comes_out_as_it_went_in(shared, world):
    assert rwkv.dump(world[0])[""] == (shared / WORLD).read_bytes()
