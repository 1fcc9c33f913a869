"""The tokens that a tokenizer finds in text before any stage."""

from __future__ import annotations

from bpe_cli.support.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A token that text becomes only if the user asks for it.

    Attributes:
        content: Its text, as UTF-8 bytes.
        token_id: Its id.
        special: False for a token that was only *added* to the vocabulary (Hugging Face's ``special: false``). Such a
            token is always recognized in text.
        single_word: Whether it is recognized only where no letter or digit is next to it.
        lstrip: Whether it absorbs the whitespace before it.
        rstrip: Whether it absorbs the whitespace after it.
        normalized: Whether it is recognized in normalized text instead of the raw text.
    """

    content: bytes
    token_id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
