"""The stages of a tokenizer that learns from words between blanks, and marks where each ends."""

from __future__ import annotations

import re

from bpe_cli.stages.byte_alphabet import to_visible
from bpe_cli.stages.decoders import (
    BPEDecoder,
    ByteLevelDecoder,
    Decoder,
    ReplaceDecoder,
    StripDecoder,
    WordPieceDecoder,
)
from bpe_cli.stages.normalizers import ByteLevelNormalizer, Normalizer
from bpe_cli.stages.pre_tokenizers import PreTokenizer, Split

WORDS = Split("[ \\r\\n]+", "Removed")
"""Cuts at ASCII blanks and line ends, and nowhere else: other white space stays in words (subword-nmt)."""

VISIBLE_WORDS = Split("[" + to_visible(b" \r\n") + "]+", "Removed")
"""The same where bytes are spelt as visible characters."""


def word_stages(by_byte: bool) -> tuple[tuple[Normalizer, ...], tuple[PreTokenizer, ...]]:
    """Return the normalizer and the pre-tokenizer that make words of text.

    ``by_byte``: words are of bytes, which the model sees as visible characters.
    """
    return ((ByteLevelNormalizer(),), (VISIBLE_WORDS,)) if by_byte else ((), (WORDS,))


def word_decoder(prefix: str, suffix: str, by_byte: bool = False) -> tuple[Decoder, ...]:
    """Return the decoder that takes off what is written around symbols, and puts blanks between words.

    Without prefix and suffix nothing tells where a word ends: then tokens are joined as they are.
    """
    if by_byte:
        blanks = (ReplaceDecoder(suffix, to_visible(b" ")),) if suffix else ()
        return (*blanks, ByteLevelDecoder(), *((StripDecoder(" ", 0, 1),) if suffix else ()))
    if prefix and suffix:
        return ReplaceDecoder(r"\A" + re.escape(prefix), "", literal=False), BPEDecoder(suffix)
    if suffix:
        return (BPEDecoder(suffix),)
    return (WordPieceDecoder(prefix, cleanup=False),) if prefix else ()
