"""Find which tokens a model falls back on: its unknown token, and tokens that are only a byte of a character."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.meanings import meaning_of

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

_NAMED_BYTE = re.compile(rb"<0x[0-9A-F]{2}>")
_FIRST_OF_SEVERAL = 0x80
"""From this byte on, a byte is one of several that make a character of UTF-8."""
_LONGEST_SPELT_BYTE = 2
"""Bytes that the visible alphabet of byte-level models takes for one byte, at most."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The ids that stand for text the vocabulary has nothing better for.

    Attributes:
        unknown: The model's unknown token; empty if it has none.
        bytes: The tokens of byte fallback (``<0xE4>``, those of ASCII too), and in byte-level models the
            tokens that are one byte from 0x80 on: less than a character.
    """

    unknown: frozenset[int]
    bytes: frozenset[int]


def fallback_ids(tokenizer: Tokenizer) -> Fallback:
    """Classify a tokenizer's ids.

    >>> from bpe_cli.stages import RankBpe
    >>> from bpe_cli.tokenizer import Tokenizer
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> fallback_ids(Tokenizer(RankBpe(Vocabulary.from_tokens([b"a", b"\\xe4", b"\\xe4\\xb8"]))))
    Fallback(unknown=frozenset(), bytes=frozenset({1}))

    Complexity: linear in the vocabulary.
    """
    model = tokenizer.model
    unknown = model.unk_id
    if model.byte_fallback:
        named = (token_id for token_id, token in model.vocabulary.items() if _NAMED_BYTE.fullmatch(token))
        found = frozenset(named)
    else:
        found = frozenset(_single_bytes(tokenizer))
    return Fallback(frozenset() if unknown is None else frozenset({unknown}), found)


def _single_bytes(tokenizer: Tokenizer) -> list[int]:
    """List the ids of tokens that stand for one byte of a longer character."""
    model = tokenizer.model
    around = model.continuing_subword_prefix, model.end_of_word_suffix
    longest = _LONGEST_SPELT_BYTE + sum(len(mark.encode()) for mark in around)
    meaning = meaning_of(tokenizer)
    found = []
    for token_id, token in model.vocabulary.items():
        if len(token) <= longest:
            content = meaning(token)
            if len(content) == 1 and content[0] >= _FIRST_OF_SEVERAL:
                found.append(token_id)
    return found
