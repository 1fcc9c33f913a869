"""Sheets that adapt to the width of a console: what has no room beside goes below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from bpe_cli.views.blocks import Column, Gap, Line, Sheet, Value, numbers, text_column, value_line
from bpe_cli.views.labels import header, header_width

if TYPE_CHECKING:
    from bpe_cli.views.blocks import Block, Screen

NARROW = 66
"""With fewer columns, long texts stand below a sheet instead of in its last column."""


class TableWithNotes:
    """A sheet whose last column has long texts; a narrow console has them below it.

    Columns of numbers are aligned at their right.
    """

    def __init__(self, columns: Sequence[str], note: str) -> None:
        """Begin a sheet with names of columns, and that of the last one."""
        self._columns = columns
        self._note = note
        self._rows: list[tuple[Sequence[str], str, str]] = []

    def add_row(self, *cells: str, note: str, name: str | None = None) -> None:
        """Add a row; ``name`` is what its text is called where that stands below, else its first cell."""
        self._rows.append((cells, note, name or cells[0]))

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield a sheet with the texts in its last column, or without them, and they below."""
        wide = screen.width >= NARROW
        columns = [
            text_column(column, right=all(cells[number][:1].isdecimal() for cells, _, _ in self._rows))
            for number, column in enumerate(self._columns)
        ]
        rows = [(*cells, note) if wide else cells for cells, note, _ in self._rows]
        yield Sheet(*columns, *([self._note] if wide else []), rows=rows)
        if not wide and any(note for _, note, _ in self._rows):
            yield from (Line(f"{name}: {note}") for _, note, name in self._rows if note)
            yield Gap()


EDGES = 2
GAP = 3  # between two columns of a table

Values = tuple[str, Sequence[str]]
"""A label, and a value for each column."""


@dataclass(frozen=True)
class Grid:
    """Rows of values, a column per tokenizer; what does not fit beside goes below, under the same labels.

    A label is broken only between its words; where not even one column fits beside the labels, each tokenizer's
    values are lines.

    Attributes:
        head: The header of the labels.
        names: The tokenizers, as they are shown.
        sections: Rows, with a line between sections.
        first: Header and values of a column that stands before the tokenizers', in every table.
        left: Whether values are texts, set from the left.
        most: Columns of the screen that one tokenizer gets at most; longer values are folded.
    """

    head: str
    names: Sequence[str]
    sections: Sequence[Sequence[Values]]
    first: tuple[str, Sequence[str]] | None = None
    left: bool = False
    most: int | None = None

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield as many sheets as the width asks for."""
        rows = [row for section in self.sections for row in section]
        labels = [self.head, *(label for label, _ in rows)]
        widths = [
            max(header_width(name), *(cell_len(values[number]) for _, values in rows))
            for number, name in enumerate(self.names)
        ]
        widths = [min(width, self.most or width) for width in widths]
        room = screen.width - EDGES
        if self.first is not None:
            room -= max(map(cell_len, [self.first[0], *self.first[1]])) + GAP
        label_cells = min(max(map(cell_len, labels)), room - GAP - max(widths))
        if label_cells < max(cell_len(word) for label in labels for word in label.split() or [""]):
            yield from self._lists()
            return
        longest = max(map(cell_len, labels))
        for part in folded(widths, room - label_cells):
            taken = sum(widths[number] + GAP for number in part)
            yield self._sheet(part, min(longest, max(label_cells, room - taken)))

    def _sheet(self, columns: range, label_cells: int) -> Sheet:
        values: dict[str, Any] = {"no_wrap": not self.left, "max_width": self.most}
        shown = Sheet(
            Column(self.head, False, {"width": label_cells}),
            *([] if self.first is None else numbers(self.first[0])),
            *(text_column(header(self.names[number]), right=not self.left, **values) for number in columns),
        )
        place = 0
        for section in self.sections:
            for label, row in section:
                before = [] if self.first is None else [self.first[1][place]]
                shown.add_row(label, *before, *(row[number] for number in columns))
                place += 1
            shown.end_part()
        return shown

    def _lists(self) -> Iterator[Line]:
        labels = [label for section in self.sections for label, _ in section]
        if self.first is not None:
            yield from listed(f"\n{self.first[0]}", zip(labels, self.first[1], strict=True))
        for number, name in enumerate(self.names):
            values = [values[number] for section in self.sections for _, values in section]
            yield from listed(f"\n{name}", zip(labels, values, strict=True))


def listed(heading: str, values: Iterable[tuple[str, str | Line | Value]]) -> Iterator[Line]:
    """Lay out values as lines, for a console that no table fits into."""
    yield Line(heading, style="bold")
    for label, value in values:
        shown = value_line(value) if isinstance(value, Value) else value
        if str(shown).strip():
            yield Line(f"  {label.strip()}: ", shown, trimmed=True)


def folded(widths: Sequence[int], room: int) -> list[range]:
    """Divide columns among tables, at least one to each.

    >>> folded([5, 5, 5], 20), folded([50], 20)
    ([range(0, 2), range(2, 3)], [range(0, 1)])
    """
    parts = []
    start = 0
    while start < len(widths):
        end, left = start, room
        while end < len(widths) and (end == start or widths[end] + GAP <= left):
            left -= widths[end] + GAP
            end += 1
        parts.append(range(start, end))
        start = end
    return parts
