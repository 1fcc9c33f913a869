"""Find the tokenizer that a name or a path stands for, as ``-t`` of the command line does."""

from __future__ import annotations

import os

from bpe_cli.support.core_arguments import bytes_of, wrong_type
from bpe_cli.tokenizer import Tokenizer, named_encodings


def load(name_or_path: str | os.PathLike[str], pattern: str | None = None) -> Tokenizer:
    """Return a tokenizer by its name, or from a file or folder of any format; nothing is fetched.

    A str is what ``-t`` of the command line takes: an encoding (``"cl100k_base"``), a model (``"gpt-4o"``) in any case,
    a file, a folder, ``"hf:org/name"`` of Hugging Face's cache, ``"tiktoken:name"`` of tiktoken's. A path object is a
    file or folder in any case. A file's format is told from its contents.

    Args:
        name_or_path: What is meant.
        pattern: The split pattern, by name or as an expression, for formats that hold none.

    >>> load("gpt-4o").name, load("GPT2").encode("hello world")
    ('o200k_base', [31373, 995])

    Raises:
        UsageError: if there is no tokenizer of this name; the hint says which are meant.
        InputError: if the file cannot be read.
        FormatError: if no format fits, or the file is broken.
        TypeError: if an argument is of a wrong type.
    """
    if pattern is not None and not isinstance(pattern, str):
        raise wrong_type("pattern", "a str", pattern)
    if pattern is not None:
        bytes_of(pattern, "pattern")
    if isinstance(name_or_path, str):
        bytes_of(name_or_path, "name_or_path")
        # The formats of files are loaded only if one may be meant: a named encoding starts without them.
        if pattern is None and not _exists(name_or_path):
            found = named_encodings.find(name_or_path)
            if found is not None:
                return found
        from bpe_cli.formats import find_tokenizer

        return find_tokenizer(name_or_path, pattern)
    if not isinstance(name_or_path, os.PathLike):
        raise wrong_type("name_or_path", "a str or a path", name_or_path)
    from bpe_cli import formats

    return formats.load(os.fsdecode(name_or_path), pattern)


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # a NUL or a lone surrogate, which no path has
        return False
