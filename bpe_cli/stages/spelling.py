"""How the texts of tokens spell bytes and blanks: GPT-2's visible byte alphabet, and SentencePiece's pieces.

The alphabet has a printable character for every byte, so that any token can be shown. Rule: the bytes that Latin-1
prints as ink (0x21-0x7E, 0xA1-0xAC, 0xAE-0xFF) are themselves; the other 68, in ascending order, are U+0100, U+0101 and
so on. No character of the alphabet is whitespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

_SHIFTED = count(0x100)

BYTE_TO_CHAR: tuple[str, ...] = tuple(
    chr(byte if 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE else next(_SHIFTED)) for byte in range(256)
)
"""The character of each byte, by byte."""

CHAR_TO_BYTE: dict[str, int] = {character: byte for byte, character in enumerate(BYTE_TO_CHAR)}
"""The byte of each character."""

ALPHABET_ORDER: bytes = bytes(sorted(range(256), key=BYTE_TO_CHAR.__getitem__))
"""All 256 bytes, sorted by the code points of their characters."""

_TO_VISIBLE = "".join(BYTE_TO_CHAR)
# Characters below U+0100 that stand for no byte must not pass as Latin-1: send them outside it.
_FROM_VISIBLE = {code: 0xFFFF for code in range(256) if chr(code) not in CHAR_TO_BYTE} | {
    ord(character): byte for character, byte in CHAR_TO_BYTE.items()
}


def to_visible(data: bytes) -> str:
    """Write bytes in the visible alphabet, a character a byte.

    >>> to_visible(b"a b")
    'aĠb'
    """
    return data.decode("latin-1").translate(_TO_VISIBLE)


def from_visible(text: str) -> bytes | None:
    """Read bytes from the visible alphabet; None when a character stands for no byte.

    >>> from_visible("aĠb"), from_visible("a b")
    (b'a b', None)
    """
    try:
        return text.translate(_FROM_VISIBLE).encode("latin-1")
    except UnicodeEncodeError:
        return None


# -- SentencePiece ---------------------------------------------------------------------------------

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
"""The types of pieces, by the numbers that SentencePiece's files and GGUF's write."""

MARK = "▁"
"""What a blank is written as (U+2581)."""

BYTE_TEXT = re.compile(rb"<0x[0-9A-F]{2}>")
"""The text of a piece that stands for a byte."""


def byte_text(byte: int) -> bytes:
    """Return the text of the piece that stands for a byte.

    >>> byte_text(10)
    b'<0x0A>'
    """
    return b"<0x%02X>" % byte


BYTE_TEXTS = tuple(map(byte_text, range(256)))
"""The texts of all bytes, in order."""


def has_runs(texts: Iterable[str]) -> bool:
    """Return whether blanks stand side by side in a text: no extra ones to SentencePiece if users define it.

    >>> has_runs([" a b "]), has_runs(["a", "  "])
    (False, True)
    """
    return any("  " in text for text in texts)
