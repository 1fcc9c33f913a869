"""Which inputs are tokenizers: some commands take them in the place of texts, and others say what to write instead."""

import os
import shlex

from bpe_cli.cli.console import note
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def tokenizers_among(
    named: "Sequence[str]", inputs: "Sequence[str]", library: str | None
) -> tuple[list[str], list[str]]:
    """Return the tokenizers and the texts: without -t the first inputs are tokenizers, two or one for a library.

    Raises:
        UsageError: if there are not enough.
    """
    tokenizers, texts = list(named), list(inputs)
    most = 2
    while len(tokenizers) < most and texts and not named:
        if library is not None and tokenizers and not is_tokenizer(texts[0]):
            break
        tokenizers.append(texts.pop(0))
    if len(tokenizers) < (most if library is None else 1):
        raise UsageError(
            "--ids compares two tokenizers, or one with another library",
            hint="for example: bpe compare A B --ids, or bpe compare A --ids --against transformers",
        )
    return tokenizers, texts


def is_tokenizer(name: str) -> bool:
    """Return whether an input is a tokenizer: a file that holds one, or the name of one where there is no such file."""
    if os.path.lexists(name):
        from bpe_cli.formats import is_tokenizer as is_file_of_one

        return is_file_of_one(name)
    from bpe_cli.tokenizer import named_encodings

    return named_encodings.find(name) is not None


def named_among(inputs: "Iterable[str]") -> list[str]:
    """Return the inputs that are names of tokenizers, and of no file."""
    return [name for name in inputs if not os.path.lexists(name) and is_tokenizer(name)]


def with_t(names: "Iterable[str]") -> str:
    """Return the options that name tokenizers, for a command line."""
    return shlex.join(word for name in names for word in ("-t", name))


def no_text(name: str, hint: str) -> UsageError:
    """Make the error of the name of a tokenizer where a text should be."""
    return UsageError(f"{name} is a tokenizer, not a file that can be read as text", hint=hint)


def check_texts(inputs: "Sequence[str]", *, named: bool, quiet: bool) -> None:
    """Refuse names of tokenizers where texts should be, and note if all texts are files of tokenizers.

    Args:
        inputs: The texts.
        named: Whether tokenizers are named elsewhere.
        quiet: Whether nothing is noted.

    Raises:
        UsageError: if an input is the name of a tokenizer.
    """
    if names := named_among(inputs):
        raise no_text(names[0], f"-t names a tokenizer: bpe compare TEXT {with_t(names)}")
    if inputs and not named and all(map(is_tokenizer, inputs)):
        what = "the input is a tokenizer, and is" if len(inputs) == 1 else "the inputs are tokenizers, and are"
        note(f"note: {what} read as text: to compare tokenizers, name each with -t", quiet=quiet)
