"""The pairs that could merge at a step are all neighbours that the model can merge; the first one is merged."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.text.steps.pieces import Limits
from bpe_cli.reports.text.steps.record import teller_of
from bpe_cli.tokenizer import named_encodings
from bpe_cli.trainers import TRAINERS, train
from tests.counted import at_least, compared

TEXT = "abab baba aabb abba ba ab " * 3
KINDS = {
    "bbpe": {"vocab_size": 270},
    "bpe": {"vocab_size": 20, "initial_alphabet": "seen"},
    "sentencepiece": {"vocab_size": 16, "model": "bpe"},
}
MODELS = {name: train([TEXT], TRAINERS[name].Options(**options)) for name, options in KINDS.items()}
MODELS["gpt2"] = named_encodings.find("gpt2")


@pytest.mark.parametrize("name", MODELS)
@at_least(30)
@given(st.text("ab", min_size=2, max_size=14))
def test_all_that_could_merge(name, text):
    steps = teller_of(MODELS[name], limits=Limits(pairs=None))(text.encode())
    few = teller_of(MODELS[name], limits=Limits(pairs=2))(text.encode())
    none = teller_of(MODELS[name])(text.encode())
    mergeable = set()
    for row, other, empty in zip(steps.rows, few.rows, none.rows, strict=True):
        before = row.walk.start.contents if row.walk is not None else ()
        for step, cut, bare in zip(
            *(each.walk.steps if each.walk else () for each in (row, other, empty)), strict=True
        ):
            pairs = {(each.left, each.right) for each in step.candidates}
            neighbours = list(pairwise(before))
            assert pairs <= set(neighbours)
            assert all(each.times == neighbours.count((each.left, each.right)) for each in step.candidates)
            # What could merge once can whenever it stands there, and nothing can that never does.
            assert mergeable & set(neighbours) <= pairs
            mergeable |= pairs
            worth = [each.rank if step.score is None else -each.score for each in step.candidates]
            assert worth == sorted(worth)
            taken = step.candidates[0]
            assert (taken.left, taken.right, taken.product, taken.taken) == (step.left, step.right, step.product, True)
            assert [each.tied for each in step.candidates[1:]] == [each == worth[0] for each in worth[1:]]
            assert (cut.candidates, cut.candidate_count) == (step.candidates[:2], len(step.candidates))
            assert (bare.candidates, bare.candidate_count) == ((), 0)
            before = step.symbols.contents
            compared()
