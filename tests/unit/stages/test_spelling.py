"""The visible byte alphabet is GPT-2's: a printable character a byte, both ways."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.stages.spelling import ALPHABET_ORDER, BYTE_TO_CHAR, CHAR_TO_BYTE, from_visible, to_visible
from tests.counted import at_least, compared
from tests.needs import needs


def test_the_alphabet_by_hand():
    assert [BYTE_TO_CHAR[byte] for byte in (0, 9, 10, 32, 33, 126, 127, 160, 161, 172, 173, 174, 255)] == list(
        "ĀĉĊĠ!~ġł¡¬Ń®ÿ"
    )
    assert len(set(BYTE_TO_CHAR)) == len(CHAR_TO_BYTE) == 256
    assert not any(character.isspace() or not character.isprintable() for character in BYTE_TO_CHAR)
    assert (ALPHABET_ORDER[0], ALPHABET_ORDER[-1]) == (0x21, 0xAD)
    assert sorted(ALPHABET_ORDER) == list(range(256))
    assert max(map(ord, BYTE_TO_CHAR)) == 0x143


@given(st.binary())
def test_bytes_come_back(data):
    assert from_visible(to_visible(data)) == data
    assert to_visible(data) == "".join(BYTE_TO_CHAR[byte] for byte in data)


@given(st.text())
def test_other_characters_are_refused(text):
    expected = bytes(CHAR_TO_BYTE[character] for character in text) if set(text) <= set(BYTE_TO_CHAR) else None
    assert from_visible(text) == expected


@pytest.mark.parametrize("text", [" ", "\xad", "\xa0", "\x00", "\x7f", "Ń" + chr(0x144), "\ud800", "你", "\uffff"])
def test_what_is_outside_is_refused(text):
    assert from_visible(text) is None


@at_least(4)
def test_it_is_the_alphabet_of_real_files(shared):
    """Every token of a real byte-level vocabulary is written in it."""
    files = [*shared.glob("vocabs/**/*tokenizer.json"), *shared.glob("vocabs/**/vocab.json")]
    for path in files[:25]:
        data = json.loads(path.read_text(encoding="utf-8"))
        model = data.get("model") if isinstance(data, dict) else None
        vocabulary = model.get("vocab") if isinstance(model, dict) else data
        if isinstance(vocabulary, dict) and "Ġthe" in vocabulary:
            added = {token["content"] for token in data.get("added_tokens", [])}
            bad = [token for token in vocabulary if from_visible(token) is None and token not in added]
            assert all(token.startswith("<") for token in bad), (path, bad[:5])
            compared()


def test_it_is_hugging_face_s():
    tokenizers = needs("tokenizers")
    assert set(tokenizers.pre_tokenizers.ByteLevel.alphabet()) == set(CHAR_TO_BYTE)
    splitter = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    text = "".join(map(chr, range(0x2000)))
    assert splitter.pre_tokenize_str(text) == [(to_visible(text.encode()), (0, len(text)))]
