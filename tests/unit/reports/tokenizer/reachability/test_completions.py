"""Texts that complete parts of characters: all that there are of short ones, and any stretch of them alone."""

from __future__ import annotations

import pytest

from bpe_cli.reports.tokenizer.reachability.pieces import MOST, completions

CHARACTERS = [chr(code).encode() for code in range(0x80, 0x10000) if not 0xD800 <= code < 0xE000]


@pytest.mark.parametrize("length", [1, 2])
def test_the_end_of_a_character_becomes_every_one_that_has_it(length):
    """What may stand before it is kept for bytes that are alike: as the second of a character some are not."""
    endings: dict[bytes, set[bytes]] = {}
    for character in CHARACTERS:
        if len(character) > length and (length == 1 or character[-1] in (0x80, 0xBF)):
            endings.setdefault(character[-length:], set()).add(character)
    assert len(endings) == 64 * length
    for ending, characters in endings.items():
        texts = completions(ending)
        assert characters <= {*texts}
        assert all(ending in text and len(text.decode()) == 1 for text in texts)
        texts = completions(ending + b"a")
        assert characters <= {text.removesuffix(b"a") for text in texts}
        assert all(text.endswith(ending + b"a") and len(text.decode()) == 2 for text in texts)


def test_the_beginning_of_a_character_becomes_every_one_that_has_it():
    beginnings: dict[bytes, set[bytes]] = {bytes([lead]): set() for lead in (0xC0, 0xC1, 0xF5, 0xFF)}
    for character in CHARACTERS:
        for length in range(1, len(character)):
            if length == 1 or character[1] in (0x80, 0x9F, 0xA0, 0xBF):
                beginnings.setdefault(character[:length], set()).add(character)
    assert len(beginnings) > 100
    for beginning, characters in beginnings.items():
        assert {*completions(beginning)} == characters
        assert {*completions(b"a" + beginning)} == {b"a" + character for character in characters}


@pytest.mark.parametrize("beginning", [b"\xf0", b"\xf4", b"\xf0\x9f", b"\xf4\x8f", b"\xf0\x9f\x98", b"\xf4\x8f\xbf"])
def test_beginnings_of_four_bytes_become_some(beginning):
    texts = completions(beginning)
    assert 64 <= len(texts) == len({*texts}) <= MOST
    assert all(text.startswith(beginning) and len(text.decode()) == 1 for text in texts)


@pytest.mark.parametrize("token", [b"\x80", b"\x9f\xbf", b"\xbf\xbf\xbf", b"\xe8\xb0", b"\x80a\xf0", b"a\xff"])
def test_a_stretch_is_that_of_all(token):
    texts = completions(token)
    for first, last in ((0, 4), (4, 64), (64, MOST), (MOST, MOST + 1)):
        assert completions(token, first, last) == texts[first:last]
