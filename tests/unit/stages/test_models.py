"""What any model can be asked for, and what that costs: nothing of its value."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from array import array
from typing import get_args

import pytest

from bpe_cli.stages import MergeBpe, Model, RankBpe, ScoredBpe
from bpe_cli.stages.models import AnyModel
from bpe_cli.stages.vocabulary import Merges, Vocabulary

VOCABULARY = Vocabulary.from_tokens([b"a", b"b", b"ab"])
GIVEN = {"merges": Merges(array("I", [0, 1, 2])), "scores": array("d", [0.0, -1.0, -2.0]), "unk_id": 0}
GIVEN["events"] = GIVEN["merges"].triples
ON_BYTES = (RankBpe, MergeBpe)


def made(kind: type) -> Model:
    needed = [each.name for each in dataclasses.fields(kind) if each.default is dataclasses.MISSING]
    return kind(VOCABULARY, **{name: GIVEN[name] for name in needed if name != "vocabulary"})


@pytest.mark.parametrize("kind", get_args(Model), ids=lambda kind: kind.__name__)
def test_every_model_answers_to_every_name(kind):
    model = made(kind)
    fields = {each.name for each in dataclasses.fields(kind)}
    for name in AnyModel.__annotations__:
        default = kind in ON_BYTES if name == "byte_level" else getattr(AnyModel, name)
        assert name in fields or getattr(model, name) == default
    assert not hasattr(model, "__dict__")
    # What it merely answers to is no part of its value.
    assert set(kind.__match_args__) == fields
    assert all(f"{name}=" in repr(model) for name in fields)
    assert not any(re.search(rf"\b{name}=", repr(model)) for name in AnyModel.__annotations__.keys() - fields)
    for other in (copy.copy(model), pickle.loads(pickle.dumps(model)), dataclasses.replace(model)):
        assert other == model
        assert hash(other) == hash(model)


def test_by_hand():
    assert (RankBpe(VOCABULARY).unk_id, RankBpe(VOCABULARY).kinds, RankBpe(VOCABULARY).merges) == (None, b"", None)
    assert ScoredBpe(VOCABULARY, GIVEN["scores"], 2, b"\x01\x01\x02").unk_id == 2
