"""Pre-tokenizers by name: what the command line's ``--pre-tokenizer NAME`` stands for."""

from __future__ import annotations

from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import ALIASES, PATTERNS, resolve
from bpe_cli.stages.pre_tokenizers import (
    BertPreTokenizer,
    Digits,
    FixedLength,
    Metaspace,
    PreTokenizer,
    Punctuation,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from bpe_cli.support.failures import every

NAMED: dict[str, tuple[PreTokenizer, ...]] = {
    "none": (),
    "bert": (BertPreTokenizer(),),
    "whitespace": (Whitespace(),),
    "whitespace-split": (WhitespaceSplit(),),
    "punctuation": (Punctuation(),),
    "digits": (Digits(),),
    "metaspace": (Metaspace(),),
    # White space is left out and each word gets a mark, so that words' spans do not hold the spaces.
    "t5": (WhitespaceSplit(), Metaspace()),
    "xlnet": (WhitespaceSplit(), Metaspace()),
    "scripts": (UnicodeScripts(),),
    "char": (FixedLength(1),),
}
"""Compositions of Hugging Face's components, with the settings of the models they are named after."""


def names() -> tuple[str, ...]:
    """List the names that are known: components first, then split patterns."""
    return (*NAMED, *PATTERNS, *ALIASES)


def named(wanted: str) -> tuple[PreTokenizer, ...]:
    """Return the pre-tokenizers of names with commas between them, in order.

    A name of ``patterns`` stands for the pattern alone: bytes stay bytes.

    Raises:
        UsageError: if a name is not known.

    >>> named("whitespace-split, digits")
    (WhitespaceSplit(), Digits(individual_digits=False))
    """
    stages = every(_named, (name.strip() for name in wanted.split(",")))
    return tuple(stage for each in stages for stage in each)


def _named(name: str) -> tuple[PreTokenizer, ...]:
    if name in NAMED:
        return NAMED[name]
    if name in PATTERNS or name in ALIASES:
        return (Split(resolve(name)),)
    raise UsageError(f"there is no pre-tokenizer {name!r}", hint=f"there are {', '.join(names())}")
