"""A model of transformers gets the embeddings of a changed tokenizer: it loads them, and its other answers stay."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from bpe_cli import extend, train
from bpe_cli.integrations.embeddings import move_embeddings
from bpe_cli.surgery import Operation
from tests.needs import needs_reader

torch = needs_reader("torch")
transformers = needs_reader("transformers")
TEXT = "low lower lowest newer newest wide wider widest " * 3


@pytest.fixture(autouse=True)
def _warnings() -> Iterator[None]:
    """Let the frameworks warn of what they will."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def changed(model, folder: Path, operation: Operation):
    """Save a model, move its embeddings, and load what came of it."""
    model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_bytes())
    shapes = move_embeddings(folder / "model.safetensors", folder / "model.safetensors", operation)
    config["vocab_size"] = shapes["model.embed_tokens.weight"][0]
    (folder / "config.json").write_text(json.dumps(config))
    return transformers.LlamaForCausalLM.from_pretrained(folder)


def logits(model, ids: list[int]):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits


@pytest.fixture
def small():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=262, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, tie_word_embeddings=False,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def test_a_larger_model(small, tmp_path):
    begun = train([TEXT], vocab_size=262)
    done = extend(begun, ["xyz xyz xyz"], add=2)
    grown = changed(small, tmp_path, done)
    assert grown.get_input_embeddings().weight.shape == (264, 16)
    small.resize_token_embeddings(264, mean_resizing=False)
    old, new = (each.get_input_embeddings().weight for each in (small, grown))
    assert torch.equal(old[:262], new[:262])
    for token_id, parts in done.made_of.items():
        assert torch.allclose(new[token_id], old[[*parts]].mean(dim=0))
    ids = begun.encode("lower wide")
    assert done.tokenizer.encode("lower wide") == ids
    assert torch.equal(logits(small, ids)[..., :262], logits(grown, ids)[..., :262])


def test_a_model_of_the_same_size(small, tmp_path):
    begun = train([TEXT], vocab_size=262)
    done = extend(begun, ["xyz xyz xyz"], replace=2, counts_from=[TEXT[:20]])
    same = changed(small, tmp_path, done)
    stay = [old for old, now in done.old_to_new.items() if now is not None]
    ids = begun.encode("low")
    assert done.tokenizer.encode("low") == ids
    assert torch.equal(logits(small, ids)[..., stay], logits(same, ids)[..., stay])
    assert len(stay) == 260
