"""Reachability against all texts up to some length, for small tokenizers of every kind."""

from __future__ import annotations

from random import Random

import pytest

from bpe_cli.reports.tokenizer.reachability import REACHABLE, examine
from tests.unit.reports.tokenizer.reachability.random_tokenizers import MODELS, all_texts, produced, tokenizer

ALPHABETS = {"wordpiece": "abA1!é中 ", "default": "ab1 "}
TOKENIZERS = 60


def check(made, alphabet, longest):
    """Check the verdicts on all tokens; give how many are of each answer."""
    found = produced(made, all_texts(alphabet, longest))
    reachability = examine(made)
    ids = set(dict(made.model.vocabulary.items())) | set(made.special_ids)
    assert reachability.examined == len(ids) == sum(count for _, count in reachability.counts)
    for token_id in ids:
        verdict = reachability.verdicts.get(token_id)
        if verdict is None:
            verdict = examine(made, [token_id]).verdicts[token_id]
            assert verdict.layer == "plain"
        assert (verdict.layer in REACHABLE) == (verdict.reachable is True)
        if verdict.reachable:
            assert token_id in made.encode(verdict.witness), verdict
        else:
            assert verdict.reason
        if verdict.reachable is False:
            assert token_id not in found, (verdict, made)
        if token_id in found and verdict.reachable is None:
            pytest.fail(f"a text of {longest} characters becomes {verdict} of {made}")
    return dict(reachability.counts)


@pytest.mark.parametrize("model", MODELS)
def test_no_token_that_a_short_text_becomes_is_called_unreachable(model):
    layers = set()
    for seed in range(TOKENIZERS):
        made = tokenizer(Random(f"{model} {seed}"), model)
        alphabet, longest = ("abA1!中 ", 4) if model == "word_piece" else ("ab1 ", 5)
        layers |= set(check(made, alphabet, longest))
    assert "plain" in layers
