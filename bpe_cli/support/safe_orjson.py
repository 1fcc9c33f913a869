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
"""Bytes of JSON from which on it is asked whether there is memory for it."""


def look_for_memory(data: bytes) -> None:
    """Check that there is memory for what JSON becomes, where this process may have only so much.

    Raises:
        MemoryError: if there is not.
    """
    if len(data) < LONG:
        return
    try:
        import resource
    except ImportError:  # Windows
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    import mmap

    # A copy, texts of 2 bytes a character, and 8 bytes that orjson asks for ahead; then what Python takes for a list or
    # dict, a text, and a place in a dict.
    brackets, quotes, commas = data.count(b"[") + data.count(b"{"), data.count(b'"'), data.count(b",")
    try:
        mmap.mmap(-1, 11 * len(data) + 72 * brackets + 40 * quotes + 116 * commas).close()
    except OSError as error:
        raise MemoryError(f"there is no memory for {len(data):,} bytes of JSON") from error
