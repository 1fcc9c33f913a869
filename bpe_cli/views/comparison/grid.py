"""Set values by tokenizers, in as many tables as the width asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from bpe_cli.views.layout import ending, table
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

_HEADER_CELLS = 16
_GAP = 2

Values = tuple[str, Sequence[str]]
"""A label, and a value for each column."""


class Grid:
    """Render rows of values, a column per tokenizer; what does not fit beside goes below, under the same labels."""

    def __init__(
        self,
        head: str,
        names: Sequence[str],
        sections: Sequence[Sequence[Values]],
        *,
        first: tuple[str, Sequence[str]] | None = None,
        left: bool = False,
        most: int | None = None,
    ) -> None:
        """Choose what to show.

        Args:
            head: The header of the labels.
            names: The tokenizers.
            sections: Rows, with a line between sections.
            first: Header and values of a column that stands before the tokenizers', in every table.
            left: Whether values are texts, set from the left.
            most: Columns of the screen that one tokenizer gets at most; longer values are folded.
        """
        self._head = head
        self._names = [ending(harmless(name), _HEADER_CELLS) for name in names]
        self._sections = sections
        self._first = first
        self._left = left
        self._most = most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = [row for section in self._sections for row in section]
        room = options.max_width - max(map(cell_len, [self._head, *(label for label, _ in rows)]))
        if self._first is not None:
            room -= max(map(cell_len, [self._first[0], *self._first[1]])) + _GAP
        widths = [
            max(cell_len(name), *(cell_len(values[number]) for _, values in rows))
            for number, name in enumerate(self._names)
        ]
        widths = [min(width, self._most or width) + _GAP for width in widths]
        start = 0
        while start < len(widths):
            end, left = start, room
            while end < len(widths) and (end == start or widths[end] <= left):
                left -= widths[end]
                end += 1
            yield self._table(range(start, end))
            start = end

    def _table(self, columns: range) -> Table:
        shown = table()
        shown.add_column(Text(self._head), overflow="fold")
        if self._first is not None:
            shown.add_column(Text(self._first[0]), justify="right", no_wrap=True)
        for number in columns:
            header = Text(self._names[number])
            shown.add_column(
                header,
                justify="left" if self._left else "right",
                no_wrap=not self._left,
                overflow="fold",
                max_width=self._most,
            )
        place = 0
        for section in self._sections:
            for label, values in section:
                before = [] if self._first is None else [Text(self._first[1][place])]
                shown.add_row(Text(label), *before, *(Text(values[number]) for number in columns))
                place += 1
            shown.add_section()
        return shown
