"""From random small tokenizers of every kind into every format: the same ids to random texts, or a refusal."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from bpe_cli.stages import ALGORITHMS
from tests.proof.kinds import round_trips
from tests.random_tokenizers import make

SEEDS = int(os.environ.get("RANDOM_TOKENIZERS", "90"))
"""How many are made; RANDOM_TOKENIZERS=5000 hunts."""

GROUPS = 6


@pytest.mark.parametrize("group", range(GROUPS))
def test_what_is_written_gives_the_same_ids(group, tmp_path):
    done: Counter[str] = Counter()
    for seed in range(group, SEEDS, GROUPS):
        done += round_trips.attempt(tmp_path, Random(seed), seed)
    assert done["files written and read"] > SEEDS // GROUPS, done
    assert done["refused, as the format cannot hold it"] > done["files written and read"]
    assert len([kind for kind in ALGORITHMS if done[f"tokenizers: {kind}"]]) > 3, done
    assert done["tokenizers that contradict themselves, refused"] < SEEDS // GROUPS // 3


def test_random_tokenizers_are_of_every_kind():
    made = [make(Random(seed)) for seed in range(SEEDS)]
    assert {tokenizer.model.kind for tokenizer in made} == ALGORITHMS.keys()
    assert any(not token.special for tokenizer in made for token in tokenizer.special_tokens)
    assert any(tokenizer.post_processor for tokenizer in made)
