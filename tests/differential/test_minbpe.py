"""minbpe's models give minbpe's ids, and come out byte for byte as they went in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_cli.formats.byte_level import minbpe
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, train
from tests.differential.texts import suite

RECORDED = Path("expected", "train", "minbpe")
NAMES = ("basic.shakespeare60k.384", "basic.zh20k.384", "regex.shakespeare60k.512", "regex.zh20k.384")


@pytest.fixture(params=NAMES)
def recorded(request, shared) -> tuple[Path, Tokenizer]:
    """Return where a model lies, without suffix, and the model."""
    path = shared / RECORDED / request.param
    return path, minbpe.load(path.with_name(path.name + ".model"))


def test_ids_are_minbpe_s(shared, recorded):
    path, tokenizer = recorded
    cases = json.loads(path.with_name(path.name + ".json").read_text())["cases"]
    assert len(cases) > 300
    for name, text in suite(shared).items():
        ids = tokenizer.encode(text)
        assert ids == cases[name]["ids"], name
        assert tokenizer.decode_bytes(ids) == text.encode()
        if "special" in cases[name]:
            assert tokenizer.encode(text, specials="all") == cases[name]["special"], name


def test_files_come_out_as_they_went_in(recorded):
    path, tokenizer = recorded
    assert minbpe.dump(tokenizer) == {"": path.with_name(path.name + ".model").read_bytes()}
    assert minbpe.dump_vocab(tokenizer) == path.with_name(path.name + ".vocab").read_bytes()


def test_trained_here_is_the_same_file(shared):
    text = (shared / RECORDED / "zh20k.txt").read_bytes()
    expected = minbpe.loads((shared / RECORDED / "regex.zh20k.384.model").read_bytes())
    trained = train([text], bbpe.BbpeOptions(384, compat="minbpe"))
    assert minbpe.loads(minbpe.dump(trained)[""]).model == expected.model
