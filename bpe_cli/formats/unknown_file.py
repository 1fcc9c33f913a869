"""Describe what a file looks like that no format knows, and whether it was meant to be a tokenizer."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from bpe_cli.formats import counts_file
from bpe_cli.support.safe_orjson import orjson

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell its format."""

NAMES = (
    "*.model",
    "*.gguf",
    "*.tiktoken",
    "*.bpe",
    "*.bin",
    "tokenizer*.json",
    "tekken*.json",
    "vocab.json",
    "merges.txt",
)
"""Names that tokenizers have and texts hardly ever."""

_CUT_TOKENIZER = "the beginning of a tokenizer.json"
_POINTER = "a Git LFS pointer, not the file itself"
_MAGICS = {
    b"GGUF": "the beginning of a GGUF file",
    b"\x1f\x8b": "gzip-compressed",
    b"\x28\xb5\x2f\xfd": "zstd-compressed",
    b"PK": "a ZIP archive",
    b"version https://git-lfs": _POINTER,
    b"\xef\xbb\xbf": "text with a byte order mark",
}
_MEANT = {_MAGICS[b"GGUF"], _POINTER, _CUT_TOKENIZER}
_VERSION = re.compile(rb'\s*\{\s*"version"\s*:\s*"1\.0"')
_HINTS = {
    _POINTER: "`git lfs pull` fetches the file itself",
    _MAGICS[b"GGUF"]: "fetch the file again",
    _CUT_TOKENIZER: "fetch the file again",
}


def describe(head: bytes) -> str:
    """Describe what a file looks like that begins with these bytes."""
    if not head:
        return "empty"
    if counts_file.sniff(head):
        return "a counts file (of `bpe train --counts-out`)"
    for magic, what in _MAGICS.items():
        if head.startswith(magic):
            return what
    if re.match(rb'\s*(\{|\[\s*[\["{\d\]])', head):
        return _describe_json(head)
    if b"\0" in head:
        return "binary"
    try:
        head[: len(head) - 4 if len(head) == HEAD_BYTES else None].decode()
    except UnicodeDecodeError:
        return "binary"
    first = head.decode("utf-8", "replace").split("\n", 1)[0]
    return f"text that begins {first[:40]!r}"


def _describe_json(head: bytes) -> str:
    try:
        whole = orjson.loads(head)
        keys = list(whole) if isinstance(whole, dict) else []
    except orjson.JSONDecodeError:  # longer than what was read, or broken
        if _VERSION.match(head) and len(head) < HEAD_BYTES:
            return _CUT_TOKENIZER
        found = re.findall(rb'"((?:[^"\\\n]|\\.){1,40})"\s*:', head)
        keys = [key.decode("utf-8", "replace") for key in dict.fromkeys(found)]
    return "JSON with " + (f"the keys {', '.join(key[:40] for key in keys[:5])}" if keys else "no keys")


def hint_of(head: bytes) -> str | None:
    """Describe how to get the file that this one is not; None if nothing is known of that."""
    return _HINTS.get(describe(head))


def is_meant_as_tokenizer(name: str, head: bytes) -> bool:
    """Return whether a file that no format knows was meant to be a tokenizer.

    >>> is_meant_as_tokenizer("x.model", b""), is_meant_as_tokenizer("notes.txt", b"low lower")
    (True, False)
    >>> is_meant_as_tokenizer("x", b"version https://git-lfs.github.com/spec/v1")
    True
    """
    return any(fnmatchcase(name, pattern) for pattern in NAMES) or describe(head) in _MEANT
