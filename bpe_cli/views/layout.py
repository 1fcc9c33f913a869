"""Lay out tables the same way everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

BAR_CELLS = 30


def table() -> Table:
    """Make an empty table."""
    return Table(box=box.SIMPLE, pad_edge=False)


class Bar:
    """Draw a bar of up to ``BAR_CELLS`` cells, or as many as there is room for."""

    def __init__(self, relative: float) -> None:
        """Draw so much of the longest bar, 0 to 1."""
        self._relative = relative

    @property
    def plain(self) -> str:
        """What it says in words: nothing, for the number stands beside it."""
        return ""

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, BAR_CELLS)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("█" * round(self._relative * min(BAR_CELLS, options.max_width)))


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
