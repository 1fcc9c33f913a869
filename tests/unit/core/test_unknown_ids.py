"""The id of what is unknown is checked by every model: caches and tables have no room for larger ones."""

import json
from array import array
from typing import Any

import pytest

from bpe_cli import _core

TOO_LARGE = 2**32 - 1
MODELS: tuple[dict[str, Any], ...] = (
    {
        "type": "CharacterPairs", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
        "continuing_subword_prefix": "", "end_of_word_suffix": "", "separate_suffix": False,
    },
    {"type": "Events", "fuse_unk": False, "byte_level": False, "ignore_merges": True},
    {"type": "ScoredPairs", "byte_fallback": False},
    {"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
    {"type": "WordLevel", "fuse_unk": False},
    {
        "type": "LongestMatch", "left_to_right": True, "end_of_word_suffix": "", "separate_suffix": False,
        "continuing_subword_prefix": "",
    },
    {"type": "LongestMatch", "left_to_right": False, "end_of_word_suffix": "", "separate_suffix": False,
        "continuing_subword_prefix": ""},
    {"type": "FewestTokens", "fuse_unk": False, "end_of_word_suffix": "", "separate_suffix": False,
        "continuing_subword_prefix": "", "max_input_chars_per_word": None},
    {"type": "MaxMatch"},
    {"type": "GreedyCover"},
    {"type": "NGram", "n": 2},
)  # fmt: skip


def build(spec: dict[str, Any], unk_id: int) -> _core.Encoder:
    scores = {"ScoredPairs": array("d", [0.0, -1.0]), "LongestMatch": None}.get(spec["type"])
    kinds = b"\x02\x01" if spec["type"] == "ScoredPairs" else None
    merges = array("I") if spec["type"] == "CharacterPairs" else None
    return _core.Encoder(
        _core.Stages("{}"), json.dumps(spec | {"unk_id": unk_id}), (b"?a", array("I", [1, 2])),
        scores=scores, kinds=kinds, merges=merges,
    )  # fmt: skip


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec["type"])
def test_an_id_that_no_token_can_have_is_refused(spec):
    for unk_id in (TOO_LARGE, _core.MAX_TOKENS):
        with pytest.raises(ValueError, match=rf"^the unknown token's id {unk_id} is not below {_core.MAX_TOKENS}$"):
            build(spec, unk_id)
    ids, _ = build(spec, 0).encode(b"a", array("Q", [1]), None, 1)
    assert len(memoryview(ids)) <= 1
