"""Lay out tables the same way everywhere."""

from __future__ import annotations

from rich import box
from rich.table import Table


def table() -> Table:
    """Make an empty table."""
    return Table(box=box.SIMPLE, pad_edge=False)


def yes(value: bool) -> str:
    """Write a truth value.

    >>> yes(True), yes(False)
    ('yes', 'no')
    """
    return "yes" if value else "no"
