"""Name SentencePiece's types of pieces, by the numbers that its files and GGUF's write, and the texts of bytes."""

from __future__ import annotations

import re

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

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
