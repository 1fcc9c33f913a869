"""Tokenizers so small that what they do can be followed by hand."""

from __future__ import annotations

from bpe_cli.stages import RankBpe, SpecialToken, Split
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer

WORDS = r"\s?\S+|\s"


def tiny(*tokens: bytes, name: str = "tiny", pattern: str = WORDS, specials: tuple[bytes, ...] = ()) -> Tokenizer:
    """Make a byte-level tokenizer with all bytes and the tokens given, which are their own ranks."""
    contents = [bytes([byte]) for byte in range(256)] + list(tokens)
    special = tuple(SpecialToken(text, len(contents) + place) for place, text in enumerate(specials))
    return Tokenizer(RankBpe(Vocabulary.from_tokens(contents)), (Split(pattern),), special, name=name)
