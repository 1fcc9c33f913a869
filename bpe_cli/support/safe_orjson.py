"""Import orjson so that an interrupt during the import stays an interrupt, and want of memory an error.

When orjson is imported, its compiled code imports these modules, and does not look whether that succeeds: an exception
there, as an interrupt is, crashes the process. Once they are here, orjson runs no Python code. It does not look whether
Python has memory for it either.
"""

# ruff: noqa: F401  # they are imported to be there
from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import json
import uuid

import orjson as orjson

LONG = 1 << 16
"""Bytes from which on it is asked whether there is memory for them."""

_DEEPEST = 254
"""Values in values that orjson writes."""


def look_for_memory(data: bytes) -> None:
    """Check that there is memory for what JSON becomes, where this process may have only so much.

    Raises:
        MemoryError: if there is not.
    """
    if len(data) < LONG or not _is_limited():
        return
    # A copy, texts of 2 bytes a character, and 8 bytes that orjson asks for ahead; then what Python takes for a list or
    # dict, a text, and a place in a dict.
    brackets, quotes, commas = data.count(b"[") + data.count(b"{"), data.count(b'"'), data.count(b",")
    _look_for(11 * len(data) + 72 * brackets + 40 * quotes + 116 * commas)


def dumps(value: object, option: int | None = None) -> bytes:
    """Return what ``orjson.dumps`` does, where there is memory for it.

    For values that may be large: where this process may have only so much memory, their size is reckoned first.

    Raises:
        MemoryError: if there is not.
        orjson.JSONEncodeError: if JSON cannot hold the value.
    """
    if _is_limited():
        _look_for(4 * _most_bytes(value))  # it doubles what it has, and copies that, and the result at last
    return orjson.dumps(value, option=option)


def _most_bytes(value: object, depth: int = 0) -> int:
    """Return how many bytes a value becomes at most, indented.

    >>> _most_bytes({"a": [1, "b"]}) >= len(orjson.dumps({"a": [1, "b"]}, option=orjson.OPT_INDENT_2))
    True
    """
    own = 32 + 4 * depth  # a number, what stands around it, and the blanks before it and before its end
    if isinstance(value, str):
        return own + 6 * len(value)  # a control character has so many
    if isinstance(value, dict) and depth < _DEEPEST:
        keys = 6 * sum(len(key) for key in value if isinstance(key, str))
        return own + keys + sum(_most_bytes(each, depth + 1) for each in value.values())
    if isinstance(value, (list, tuple)) and depth < _DEEPEST:
        return own + sum(_most_bytes(each, depth + 1) for each in value)
    return own


def _is_limited() -> bool:
    """Return whether this process may have only so much memory."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _look_for(size: int) -> None:
    import mmap

    if size < LONG:
        return
    try:
        mmap.mmap(-1, size).close()
    except OSError as error:
        raise MemoryError(f"there is no memory for {size:,} bytes of JSON") from error
