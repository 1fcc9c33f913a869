"""Read the steps of a text that are written in the visible alphabet of bytes, as other views read tokens."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from bpe_cli.reports.text.steps.values import Row, Steps
from bpe_cli.reports.text.token_text import read_visible

Value = TypeVar("Value")


def readable(steps: Steps) -> Steps:
    """Return steps whose texts are the bytes that they stand for; as they are where they are written so already."""
    if not steps.spelt:
        return steps
    return replace(steps, spelt=False, rows=tuple(map(_read_row, steps.rows)))


def _read_row(row: Row) -> Row:
    # The text of a special token is no spelling of bytes.
    return row if row.special is not None else _read(row)


def _read(value: Value) -> Value:
    """Read all bytes in a value."""
    read: Any = value
    if isinstance(value, bytes):
        read = read_visible(value)
    elif isinstance(value, tuple):
        read = tuple(map(_read, value))
    elif is_dataclass(value) and not isinstance(value, type):
        read = replace(value, **{each.name: _read(getattr(value, each.name)) for each in fields(value)})
    return read  # type: ignore[no-any-return]  # what goes in comes out
