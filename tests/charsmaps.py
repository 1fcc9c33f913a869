"""SentencePiece's tables of rules, each made once: that takes a second."""

from __future__ import annotations

from base64 import b64encode
from functools import cache

from bpe_cli import _core


@cache
def charsmap(name: str) -> bytes:
    """Return the table of a normalization."""
    return _core.charsmap(name)


@cache
def in_base64(name: str) -> str:
    """Return the table as stages hold it."""
    return b64encode(charsmap(name)).decode()
