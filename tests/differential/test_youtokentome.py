"""YouTokenToMe's models give its ids and its text, and come out byte for byte as they went in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_cli.formats import youtokentome
from bpe_cli.tokenizer import Tokenizer
from tests.differential.texts import suite

RECORDED = Path("expected", "train", "YouTokenToMe")


@pytest.fixture(params=["botchan.1000", "botchan.1000.cov95", "ja.3000", "ru.2000", "zh.4000"])
def recorded(request, shared) -> tuple[Path, Tokenizer]:
    """Return where a model lies, and the model."""
    path = shared / RECORDED / f"{request.param}.yttm"
    return path, youtokentome.load(path)


def test_ids_and_text_are_those_of_the_library(shared, recorded):
    path, tokenizer = recorded
    texts = suite(shared)
    cases = json.loads((path.parent / f"{path.stem}.json").read_bytes())["cases"]
    assert len(cases) > 300
    bos, eos = tokenizer.usage.role("bos"), tokenizer.usage.role("eos")
    assert "bos_eos" in cases["ws_sp1"]
    for name, case in cases.items():
        ids = tokenizer.encode(texts[name])
        assert ids == case["ids"], name
        assert case.get("bos_eos", [bos, *ids, eos]) == [bos, *ids, eos]
        assert tokenizer.decode_bytes(ids).decode() == case["decoded"], name


def test_tokens_are_those_of_the_library(recorded):
    path, tokenizer = recorded
    vocab = json.loads((path.parent / f"{path.stem}.json").read_bytes())["vocab"]
    assert [tokenizer.token_bytes(token_id).decode() for token_id in range(tokenizer.vocab_size)] == vocab


def test_file_comes_out_as_it_went_in(recorded):
    path, tokenizer = recorded
    assert youtokentome.dump(tokenizer) == {"": path.read_bytes()}
