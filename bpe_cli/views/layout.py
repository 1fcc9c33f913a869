"""Lay out tables the same way everywhere."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
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


def ending(name: str, cells: int) -> str:
    """Shorten a long name to its end, where the names of a folder's files differ.

    >>> ending("a/very/long/path/to/the/folder/of/texts.txt", 34)
    '…/path/to/the/folder/of/texts.txt'
    """
    if cell_len(name) <= cells:
        return name
    kept = name
    while cell_len(kept) >= cells:
        kept = kept[1:]
    _, slash, whole_parts = kept.partition("/")
    return f"…{slash}{whole_parts}" if slash and whole_parts else f"…{kept}"
