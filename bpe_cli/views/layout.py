"""Lay out tables the same way everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

BAR_CELLS = 30
NARROW = 66
"""With fewer columns, long texts stand below a table instead of in its last column."""


def table() -> Table:
    """Make an empty table."""
    return Table(box=box.SIMPLE, pad_edge=False)


class Noted:
    """Show a table whose last column has long texts; a narrow console has them below it.

    Columns of numbers are aligned at their right.
    """

    def __init__(self, columns: Sequence[str], note: str) -> None:
        """Begin a table with names of columns, and that of the last one."""
        self._columns = columns
        self._note = note
        self._rows: list[tuple[Sequence[str], Text, str]] = []

    def add_row(self, *cells: str, note: Text | str, name: str | None = None) -> None:
        """Add a row; ``name`` is what its text is called where that stands below, else its first cell."""
        self._rows.append((cells, Text(note) if isinstance(note, str) else note, name or cells[0]))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= NARROW
        shown = table()
        for number, column in enumerate(self._columns):
            right = all(cells[number][:1].isdecimal() for cells, _, _ in self._rows)
            shown.add_column(column, justify="right" if right else "left", overflow="fold")
        if wide:
            shown.add_column(self._note, overflow="fold")
        for cells, note, _ in self._rows:
            shown.add_row(*map(Text, cells), *([note] if wide else []))
        yield shown
        if not wide and any(note for _, note, _ in self._rows):
            yield from (Text(f"{name}: ").append_text(note) for _, note, name in self._rows if note)
            yield Text()


class Bar:
    """Draw a bar of up to ``BAR_CELLS`` cells, or as many as there is room for."""

    def __init__(self, relative: float) -> None:
        """Draw so much of the longest bar, 0 to 1."""
        self._relative = relative

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
