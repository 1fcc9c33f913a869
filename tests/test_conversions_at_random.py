"""From random small tokenizers of every kind into every format: the same ids to random texts, or a refusal."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats import FORMATS, dump, load
from bpe_cli.stages import ALGORITHMS
from bpe_cli.tokenizer import Specials, Tokenizer
from tests.every_format import pattern_for, put
from tests.random_tokenizers import make, texts

SEEDS = int(os.environ.get("RANDOM_TOKENIZERS", "90"))
"""How many are made; RANDOM_TOKENIZERS=5000 hunts."""

GROUPS = 6


def becomes(tokenizer: Tokenizer, text: bytes, specials: Specials) -> list[int] | None:
    try:
        return tokenizer.encode(text, specials=specials)
    except InputError:
        return None


def runs(tokenizer: Tokenizer) -> bool:
    try:
        becomes(tokenizer, b"a", ())
    except FormatError:  # it contradicts itself, as chance made it
        return False
    return True


@pytest.mark.parametrize("group", range(GROUPS))
def test_what_is_written_gives_the_same_ids(group, tmp_path):
    done: Counter[str] = Counter()
    written = 0
    kinds = set()
    for seed in range(group, SEEDS, GROUPS):
        random = Random(seed)
        tokenizer = make(random)
        if not runs(tokenizer):
            done["contradicts itself"] += 1
            continue
        some = texts(random, tokenizer)
        expected = [becomes(tokenizer, text, specials) for specials in ((), "all") for text in some]
        decoded = [tokenizer.decode_bytes(ids) for ids in expected[: len(some)] if ids is not None]
        for name in FORMATS:
            try:
                files = dump(tokenizer, name)
            except FormatError:
                done["refused"] += 1
                continue
            again = load(put(files, tmp_path / f"{seed} {name}"), pattern_for(name))
            assert [becomes(again, text, specials) for specials in ((), "all") for text in some] == expected, (
                seed,
                name,
            )
            if not any(
                "SpaceMarks" in repr(each.decoder) for each in (tokenizer, again)
            ):  # which leave special tokens out
                assert [again.decode_bytes(ids) for ids in expected[: len(some)] if ids is not None] == decoded, (
                    seed,
                    name,
                )
            written += 1
            kinds.add(tokenizer.model.kind)
    assert written > SEEDS // GROUPS, done
    assert done["refused"] > written
    assert len(kinds) > 3, kinds
    assert done["contradicts itself"] < SEEDS // GROUPS // 3


def test_random_tokenizers_are_of_every_kind():
    made = [make(Random(seed)) for seed in range(SEEDS)]
    assert {tokenizer.model.kind for tokenizer in made} == ALGORITHMS.keys()
    assert any(not token.special for tokenizer in made for token in tokenizer.special_tokens)
    assert any(tokenizer.post_processor for tokenizer in made)
