"""Check GPT-2's visible bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.byte_level import ALPHABET, BYTES, CHARACTERS, parse, show


def test_known_characters() -> None:
    assert show(b" \n\t\r\x00") == "\u0120\u010a\u0109\u010d\u0100"
    assert CHARACTERS[0x7F] == "\u0121"
    assert CHARACTERS[0xA0] == "\u0142"
    assert CHARACTERS[0xAD] == "\u0143"
    assert show(b"Az~\xa1\xac\xae\xff") == "Az~¡¬®ÿ"


def test_order() -> None:
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    assert list(CHARACTERS) == visible + [byte for byte in range(256) if byte not in visible]
    assert list(CHARACTERS.values()) == sorted(CHARACTERS.values())
    assert ALPHABET[0] == b"!"
    assert ALPHABET.index(b"\x00") == 188
    assert ALPHABET.index(b" ") == 220
    assert len(BYTES) == len(set(ALPHABET)) == 256


def test_no_character_is_white_space_or_hidden() -> None:
    assert all(character.isprintable() and not character.isspace() for character in BYTES)


def test_is_hugging_face() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    assert set(tokenizers.pre_tokenizers.ByteLevel.alphabet()) == set(BYTES)
    splitter = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    text = "".join(map(chr, range(0x2000)))
    assert splitter.pre_tokenize_str(text) == [(show(text.encode()), (0, len(text)))]


@given(st.binary())
def test_round_trip(data: bytes) -> None:
    assert parse(show(data)) == data


def test_characters_of_no_byte() -> None:
    with pytest.raises(ValueError, match="' ' stands for no byte"):
        parse("a b")
