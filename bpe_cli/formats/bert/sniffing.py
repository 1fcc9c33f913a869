"""Distinguish BERT's vocabularies from other files by what they begin with."""

from __future__ import annotations

import re

_UNKNOWN = (b"[UNK]", b"[unk]")
_FRAMES = ((b"[CLS]", b"[SEP]"), (b"[cls]", b"[sep]"))
_JSON_HEAD = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.){0,400}"\s*:\s*\d')
_JSON_KEY = re.compile(rb'"((?:[^"\\]|\\.){0,100})"\s*:\s*\d')


def sniff(head: bytes) -> bool:
    """Return whether a file begins like BERT's vocabulary, as lines or as a JSON object."""
    return _sniff_json(head) if head.lstrip()[:1] == b"{" else _sniff_lines(head)


def _sniff_lines(head: bytes) -> bool:
    """Look for BERT's special tokens, each on a line of its own, among lines that are different and have no blanks."""
    cut = head.rfind(b"\n")
    lines = [line.removesuffix(b"\r") for line in head[: cut if cut >= 0 else None].split(b"\n")]
    lines = [line for line in lines if line]  # an empty one is an id without a token
    distinct = set(lines)
    unknown = [name for name in _UNKNOWN if name in distinct]
    framed = any(frame[0] in distinct and frame[1] in distinct for frame in _FRAMES)
    if not unknown or not (framed or any(line[:2] == b"##" and len(line) > 2 for line in distinct)):
        return False
    # Texts about BERT, and tokens written one a line, have these lines too.
    blank = sum(b" " in line or b"\t" in line for line in lines)
    return blank * 100 <= len(lines) and len(distinct) * 100 >= len(lines) * 99 and lines.count(unknown[0]) == 1


def _sniff_json(head: bytes) -> bool:
    """Look for tokens that go on inside a word; a byte-level vocabulary has next to none."""
    if not _JSON_HEAD.match(head):
        return False
    keys = _JSON_KEY.findall(head)
    continuing = sum(key[:2] == b"##" and key[2:3] not in (b"", b"#") for key in keys)
    byte_level_words = any(key.startswith(("Ġ".encode(), b"\\u0120")) for key in keys)
    named = any(name in keys for name in _UNKNOWN)
    return not byte_level_words and continuing > 0 and (named or continuing * 50 >= len(keys))
