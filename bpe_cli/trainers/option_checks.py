"""Check what all algorithms' options have in common, before anything is read."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite

from bpe_cli.errors import UsageError
from bpe_cli.stages import ByteLevel
from bpe_cli.support.core_arguments import bytes_of
from bpe_cli.trainers.base import Options, check_utf8

_LARGEST = (1 << 63) - 1
_LONGEST = (1 << 32) - 1
_LENGTHS = frozenset({"max_token_length", "max_digits", "max_words"})
"""Options that are lengths of tokens, which the core keeps in 32 bits."""
_ANY_BYTES = frozenset({"never_within"})
"""Options whose texts are looked for in tokens, which may be of any bytes."""


def check_options(options: Options) -> None:
    """Check what the options of all algorithms have in common: numbers, pre-tokenizers and texts.

    Raises:
        UsageError: if a number is too large, a text is not UTF-8, or a pre-tokenizer spells bytes as characters.
        InputError: if half a character stands in a text of any bytes.
    """
    _check_numbers(options)
    _check_spelling(options)
    _check_texts(options)


def _check_numbers(options: Options) -> None:
    """Check that the numbers of an algorithm's options fit the core.

    Raises:
        UsageError: if a number is below 0 (an id: below -1, which stands for no id) or too large, or is not a number.
    """
    for each in fields(options):
        value = getattr(options, each.name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float) and not isfinite(number):
                raise UsageError(f"{each.name} must be a number, not {number}")
            if isinstance(number, int):
                lowest = -1 if each.name.endswith("_id") else 0
                largest = _LONGEST if each.name in _LENGTHS else _LARGEST
                if not lowest <= number <= largest:
                    raise UsageError(f"{each.name} must be from {lowest} to {largest:,}, not {number:,}")


def _check_texts(options: Options) -> None:
    """Check that the texts of an algorithm's options are UTF-8.

    Raises:
        UsageError: if one is not.
        InputError: if half a character stands in one of any bytes.
    """
    for each in fields(options):
        value = getattr(options, each.name)
        for text in value if isinstance(value, tuple) else (value,):
            if not isinstance(text, str):
                continue
            if each.name in _ANY_BYTES:
                bytes_of(text, f"text of {each.name}")
            else:
                check_utf8(text, f"the text {text!r} of {each.name}")


def _check_spelling(options: Options) -> None:
    """Check that no pre-tokenizer spells bytes as characters: pieces are counted as the bytes that were spelt.

    Raises:
        UsageError: if one does; the tokenizer would see other characters than it learnt from.
    """
    if ByteLevel() in (getattr(options, "pre_tokenizer", None) or ()):
        raise UsageError(
            "ByteLevel in `pre_tokenizer` spells bytes as characters, and this algorithm learns from characters",
            hint="bbpe, mingram and greedtok learn from bytes, and need no such stage",
        )
