"""The textbook of PathPiece cuts texts as the paper's code does, in all of its three ways."""

from __future__ import annotations

import pytest

from bpe_cli.stages import RankBpe
from bpe_cli.stages.spelling import from_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.teaching.frontier.path_piece import fewest, longest_from_the_left
from bpe_cli.tokenizer import Tokenizer
from tests.differential.frontier import case, texts
from tests.oracle.rust_random import StdRng

WAYS = {
    "longest": fewest,
    "random_seed42": lambda text, vocabulary: fewest(text, vocabulary, StdRng(42).up_to),
    "greedy": longest_from_the_left,
}


CASES = ("superbpe-botchan-1500", "superbpe-english-3000")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name, way):
    recorded = case(shared, "pathpiece", name)
    tokens = [recorded["params"]["special"].encode(), *map(from_visible, recorded["vocab"])]
    ids = {token: number for number, token in enumerate(tokens)}
    given = texts(shared)
    found = {
        each: [ids[token] for token in WAYS[way](given[each].encode(), ids)] for each in recorded["encodings"][way]
    }
    assert found == recorded["encodings"][way]
    assert sum(map(len, found.values())) == recorded["total_tokens"][way]


@pytest.mark.parametrize("name", CASES)
def test_fewest_tokens_of_the_core(shared, name):
    recorded = case(shared, "pathpiece", name)
    tokens = [recorded["params"]["special"].encode(), *map(from_visible, recorded["vocab"])]
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens(tokens))).with_fewest_tokens()
    given = texts(shared)
    assert {each: tokenizer.encode(given[each]) for each in recorded["encodings"]["longest"]} == recorded["encodings"][
        "longest"
    ]
