"""Find the tokenizer that a user means by a name: a path, a place in a cache, a named encoding, or a model."""

from __future__ import annotations

import os
import re

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats.detect import locate
from bpe_cli.formats.files import load
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.tokenizer import Tokenizer, named_encodings

_ENDING = r"\.(json|tiktoken|txt|model|bpe|gguf)$"
"""Of files that hold tokenizers."""


def find_tokenizer(spec: str, pattern: str | None = None) -> Tokenizer:
    """Return the tokenizer that a user means: a path, a place in a cache, a named encoding, or a model.

    ``hf:org/name`` and ``tiktoken:name`` are looked up in the folders where other programs keep what they
    have fetched (``caches``); nothing is fetched here.

    >>> find_tokenizer("gpt-4o").name
    'o200k_base'

    Raises:
        UsageError: if it is none of these; the message names the nearest that are.
        InputError, FormatError: as for ``load``.
    """
    if _is_path(spec):
        return load(spec, pattern)
    from bpe_cli.formats import caches

    if spec.startswith(caches.HUGGING_FACE):
        return _from_hugging_face(spec, pattern)
    if spec.startswith(caches.TIKTOKEN):
        if pattern is not None:
            raise UsageError(f"{spec} has a split pattern of its own; no pattern can be given with it")
        return replace(caches.tiktoken_encoding(spec.removeprefix(caches.TIKTOKEN)), name=spec)
    named = named_encodings.find(spec)
    if named is None:
        if re.search(rf"[/\\]|{_ENDING}", spec):
            has_ending = re.search(_ENDING, spec) and not caches.has_model(spec)
            raise InputError(
                f"cannot read {spec}: no such file", hint=None if has_ending else caches.hint_of_name(spec)
            )
        error = named_encodings.unknown(spec)
        raise UsageError(error.message, hint=caches.hint_of_name(spec) or error.hint)
    if pattern is not None:
        raise UsageError(f"{named.name} has a split pattern of its own; no pattern can be given with it")
    return named


def _is_path(spec: str) -> bool:
    """Return whether there is a file or folder of this name, or may be one in a folder that nobody may look into."""
    try:
        os.stat(spec)
    except PermissionError:
        return os.path.dirname(spec) != ""
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return False
    return True


def _from_hugging_face(spec: str, pattern: str | None) -> Tokenizer:
    """Read a tokenizer from the cache of Hugging Face's hub.

    Raises:
        UsageError, InputError, FormatError: as for ``caches.snapshot`` and ``load``.
    """
    from bpe_cli.formats import caches

    reference = spec.removeprefix(caches.HUGGING_FACE)
    folder = caches.snapshot(reference)
    try:
        locate(folder)
    except FormatError as error:  # perhaps only the model's weights have been fetched
        raise FormatError(error.message, hint=caches.fetch_hint(reference)) from None
    return replace(load(folder, pattern), name=spec)
