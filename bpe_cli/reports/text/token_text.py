"""Work out how a token is to be read: as its vocabulary spells it, but for bytes, which are given as bytes.

Marks of words (``▁``, ``##``, ``</w>``) stay, for they tell one token from another. What only stands for a
byte is read: the visible alphabet of byte-level vocabularies, and the names ``<0xE4>`` of byte fallback.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from bpe_cli.stages.components import ByteLevel, ByteLevelNormalizer
from bpe_cli.stages.spelling import from_visible

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

_NAMED_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")


def reading_of(tokenizer: Tokenizer) -> Callable[[bytes], bytes]:
    """Return what reads an ordinary token.

    >>> from array import array
    >>> from bpe_cli.stages import Unigram
    >>> from bpe_cli.tokenizer import Tokenizer
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> model = Unigram(Vocabulary.from_tokens([b"<0xE8>"]), array("d", [0.0]), byte_fallback=True)
    >>> reading_of(Tokenizer(model))(b"<0xE8>"), reading_of(Tokenizer(model))(b"ab")
    (b'\\xe8', b'ab')
    """
    if tokenizer.model.kind in ("bpe-ranks", "bpe-merges"):
        return _as_it_is
    if tokenizer.model.byte_fallback:
        return _fallback
    stages = (*tokenizer.normalizer, *tokenizer.pre_tokenizer)
    if any(isinstance(stage, (ByteLevel, ByteLevelNormalizer)) for stage in stages):
        return read_visible
    return _as_it_is


def _as_it_is(token: bytes) -> bytes:
    return token


def _fallback(token: bytes) -> bytes:
    named = _NAMED_BYTE.fullmatch(token)
    return bytes.fromhex(named[1].decode()) if named else token


def read_visible(token: bytes) -> bytes:
    """Read the visible alphabet; a user's own token that is not written in it is itself."""
    try:
        content = from_visible(token.decode())
    except UnicodeDecodeError:
        return token
    return token if content is None else content
