"""Carry tokenizers in and out of files: one module a format, each with ``sniff``, ``load`` and ``dump``.

``dump`` gives contents, it does not write: file name -> bytes, where ``""`` is the output path itself.
What a format cannot hold is an error that names it, unless the caller agrees to that very loss.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import orjson

from bpe_cli import encodings
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import counts_file, gguf, hf_json, sentencepiece_model, subword_nmt, tiktoken_ranks, vocab_merges
from bpe_cli.formats.features import LOSSES
from bpe_cli.patterns import ALIASES, PATTERNS, resolve
from bpe_cli.tokenizer import Tokenizer

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell its format."""


class Format(Protocol):
    """What a format's module has."""

    @property
    def FILES(self) -> tuple[str, ...]:  # noqa: N802  # a constant in the modules, as are the next two
        """Names that files of it have, as patterns; in a folder the first that fits stands for it."""

    @property
    def MODELS(self) -> frozenset[str]:  # noqa: N802
        """The kinds of models that it can write."""

    @property
    def HOLDS(self) -> frozenset[str]:  # noqa: N802
        """What it can write of ``features.FEATURES``, at least in some cases."""

    def sniff(self, head: bytes) -> bool:
        """Tell from the first bytes whether a file has this format."""

    def load(self, path: Path, pattern: str | None = None) -> Tokenizer:
        """Read a tokenizer."""

    def dump(self, tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
        """Give the contents of the files that hold a tokenizer."""


FORMATS: dict[str, Format] = {
    "tokenizer.json": hf_json,
    "tiktoken": tiktoken_ranks,
    "subword-nmt": subword_nmt,
    "vocab-merges": vocab_merges,
    "sentencepiece": sentencepiece_model,
    "gguf": gguf,
}
"""The formats, in the order in which a file is held against them."""


def load(path: str | Path, pattern: str | None = None) -> Tokenizer:
    """Read a tokenizer from a file or a folder, whatever its format; names do not count, contents do.

    Args:
        path: The file, or its folder.
        pattern: The split pattern, by name or as an expression, for formats that hold none.

    Raises:
        InputError: There is no such file, or it cannot be read.
        FormatError: No format fits, or the file is broken.
        UsageError: A pattern is given where none can be, or by a name that does not exist.
    """
    path = Path(path)
    expression = None if pattern is None else resolve_pattern(pattern)
    found, name = locate(path)
    return replace(FORMATS[name].load(found, expression), name=str(path))


def identify(path: str | Path) -> str:
    """Tell the format of a file or folder.

    Raises:
        InputError, FormatError: As for ``locate``.
    """
    return locate(Path(path))[1]


def locate(path: Path) -> tuple[Path, str]:
    """Find the file that a path stands for, and tell its format.

    Of a folder it is the first file that has a usual name of a format, in the order of ``FORMATS``.

    Raises:
        InputError: There is no such file, or it cannot be read.
        FormatError: No format fits; the message says what the file looks like.
    """
    try:
        if path.is_dir():
            path = _in_folder(path)
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a regular file", hint="save it to disk first")
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except FileNotFoundError:
        raise InputError(f"cannot read {path}: no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else None
        raise InputError(f"cannot read {path}: {(reason or str(error)).lower()}") from error
    for name, module in FORMATS.items():
        # A list of merges with ends of words belongs to the vocabulary that lies beside it, if one does.
        if module.sniff(head) and not (module is subword_nmt and vocab_merges.find_pair(path.parent)):
            return path, name
    raise FormatError(
        f"{path} is {_describe(head)}, not a tokenizer in a format that can be read",
        hint=f"formats are {', '.join(FORMATS)}",
    )


def _in_folder(folder: Path) -> Path:
    """Give the file that stands for a folder.

    Raises:
        FormatError: No file in it has a name that tokenizers have.
    """
    names = sorted(entry.name for entry in folder.iterdir())
    for module in FORMATS.values():
        for usual in module.FILES:
            fitting = [name for name in names if usual in (name, "*" + Path(name).suffix)]
            if len(fitting) == 1 and (module is not vocab_merges or vocab_merges.find_pair(folder)):
                return folder / fitting[0]
    shown = "but " + ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") if names else "it is empty"
    raise FormatError(
        f"the folder {folder} holds no tokenizer, {shown}",
        hint="it needs tokenizer.json, or vocab.json with merges.txt; or name a file in it",
    )


def _describe(head: bytes) -> str:
    """Say what a file looks like that no format knows."""
    if not head:
        return "empty"
    if counts_file.sniff(head):
        return "a counts file (of `bpe train --counts-out`)"
    for magic, what in {
        b"GGUF": "the beginning of a GGUF file",
        b"\x1f\x8b": "gzip-compressed",
        b"\x28\xb5\x2f\xfd": "zstd-compressed",
        b"PK": "a ZIP archive",
        b"version https://git-lfs": "a Git LFS pointer, not the file itself",
        b"\xef\xbb\xbf": "text with a byte order mark",
    }.items():
        if head.startswith(magic):
            return what
    if re.match(rb'\s*(\{|\[\s*[\["{\d\]])', head):
        try:
            whole = orjson.loads(head)
            keys = list(whole) if isinstance(whole, dict) else []
        except orjson.JSONDecodeError:  # longer than what was read, or broken
            found = re.findall(rb'"((?:[^"\\\n]|\\.){1,40})"\s*:', head)
            keys = [key.decode("utf-8", "replace") for key in dict.fromkeys(found)]
        return "JSON with " + (f"the keys {', '.join(key[:40] for key in keys[:5])}" if keys else "no keys")
    if b"\0" in head:
        return "binary"
    try:
        head[: len(head) - 4 if len(head) == HEAD_BYTES else None].decode()
    except UnicodeDecodeError:
        return "binary"
    first = head.decode("utf-8", "replace").split("\n", 1)[0]
    return f"text that begins {first[:40]!r}"


def dump(tokenizer: Tokenizer, format_name: str, allow_loss: Collection[str] = ()) -> dict[str, bytes]:
    """Give the contents of the files that hold a tokenizer.

    Args:
        tokenizer: What is to be held.
        format_name: One of ``FORMATS``.
        allow_loss: What may be left out, by the names in ``features.LOSSES``.

    Returns:
        File name -> content. The name ``""`` is the output path itself; others lie in it as a folder.

    Raises:
        FormatError: The format cannot hold all of it.
        UsageError: There is no such format, or no such loss.
    """
    module = FORMATS.get(format_name)
    if module is None:
        raise UsageError(f"unknown format {format_name!r}", hint=f"formats are {', '.join(FORMATS)}")
    for loss in allow_loss:
        if loss not in LOSSES:
            raise UsageError(f"no format loses {loss!r}", hint=f"losses are {', '.join(sorted(LOSSES))}")
    return module.dump(tokenizer, frozenset(allow_loss))


def resolve_pattern(name_or_regex: str) -> str:
    """Give the expression for a pattern's name or for an expression.

    Raises:
        UsageError: It looks like a name, and there is no pattern of it.
    """
    known = name_or_regex in PATTERNS or name_or_regex in ALIASES or name_or_regex == "none"
    if not known and re.fullmatch(r"[\w-]*", name_or_regex):
        raise UsageError(
            f"unknown pattern {name_or_regex!r}",
            hint=f"patterns are {', '.join(PATTERNS)}, none, or an expression in the syntax of the `regex` module",
        )
    return resolve(name_or_regex)


def find_tokenizer(spec: str, pattern: str | None = None) -> Tokenizer:
    """Give the tokenizer that a user means: a path, a named encoding, or a model.

    >>> find_tokenizer("gpt-4o").name
    'o200k_base'

    Raises:
        UsageError: It is none of these; the message names the nearest that are.
        InputError, FormatError: As for ``load``.
    """
    try:
        is_path = spec != "" and Path(spec).exists()
    except (OSError, ValueError):
        is_path = False
    if is_path:
        return load(spec, pattern)
    name = spec if spec in encodings.ENCODINGS else encodings.encoding_for_model(spec)
    if name is None:
        if re.search(r"[/\\]|\.(json|tiktoken|txt|model|bpe|gguf)$", spec):
            raise InputError(f"cannot read {spec}: no such file")
        raise encodings.unknown(spec)
    if pattern is not None:
        raise UsageError(f"{name} has a split pattern of its own; no pattern can be given with it")
    return encodings.named(name)
