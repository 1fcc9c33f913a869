"""Mistral's tekken.json gives mistral-common's ids, and comes out with the values that it had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_cli.formats.byte_level import tekken
from tests.differential.texts import suite, suite_bytes

FILE = Path("vocabs", "tekken-240718", "tekken_240718.json")


@pytest.fixture(scope="module")
def recorded(shared):
    return tekken.load(shared / FILE)


def test_ids_are_those_of_mistral_common(shared, recorded):
    expected = json.loads((shared / "expected" / "mistral" / "tekken-240718.json").read_bytes())
    texts = suite(shared)
    assert {name: case["ids"] for name, case in expected["cases"].items()} == {
        name: recorded.encode(texts[name]) for name in expected["cases"]
    }
    assert recorded.vocab_size == expected["n_words"]
    assert len(recorded.special_tokens) == expected["num_special"]
    assert recorded.slow_patterns == ()
    for data in [*suite_bytes(shared).values(), *(text.encode() for text in texts.values())]:
        assert recorded.decode_bytes(recorded.encode(data)) == data


def test_file_comes_out_with_its_values(shared, recorded):
    written = tekken.dump(recorded)[""]
    assert json.loads(written) == json.loads((shared / FILE).read_bytes())
