"""Refuse names of tokenizers' files that say another thing than what is written."""

from __future__ import annotations

import os
from collections.abc import Iterable

from bpe_cli.errors import UsageError

_OF_MANY = (".model", ".txt", ".bin", ".vocab", ".bpe")
"""Endings that tell little: files of several formats are called so."""


def formats_of_ending(output: str | None) -> list[str]:
    """Return the formats whose files end as a name does.

    >>> formats_of_ending("x.gguf"), formats_of_ending("x.en"), "bpe.json" in formats_of_ending("x.json")
    (['gguf'], [], True)
    """
    from bpe_cli.formats import FORMATS

    ending = os.path.splitext(output or "")[1].casefold()
    return [name for name, module in FORMATS.items() if ending and any(each.endswith(ending) for each in module.FILES)]


def format_asked_for(output: str | None, formats: Iterable[str], usual: str) -> str:
    """Return the format that a name asks for, if it is one of some; else the usual one.

    >>> [format_asked_for(name, ["bpe.json", "sentencepiece"], "bpe.json") for name in ("x.json", "x.model", None)]
    ['bpe.json', 'sentencepiece', 'bpe.json']
    """
    named = formats_of_ending(output)
    return usual if usual in named else next((name for name in formats if name in named), usual)


def check_tokenizer_name(output: str | None, format_name: str) -> None:
    """Make sure that the name of a tokenizer's file does not say that it is another thing.

    Raises:
        UsageError: It does.
    """
    from bpe_cli.sinks.naming import TEXT, check_name, read_name

    named, ending = formats_of_ending(output), os.path.splitext(output or "")[1].casefold()
    name = read_name(output)
    check_name("-o", output, format_name, [*TEXT, name.ending] if named or name.packed else TEXT)
    if named and format_name not in named and ending not in _OF_MANY:
        raise UsageError(
            f"-o {output} names a {ending} file, but what is written is {format_name}",
            hint=f"bpe convert --format {named[0]} makes one of any tokenizer that it can hold",
        )
