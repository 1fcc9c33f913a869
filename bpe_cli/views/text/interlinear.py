"""Set tokens with what belongs to each under it: columns that are aligned and wrapped together.

Without colour bars stand between the columns of every row. What is wider than a line goes on in the next
one, with its notes under its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from bpe_cli.views.direction import Borders
from bpe_cli.views.palette import PLAIN
from bpe_cli.views.text.cells import BORDER
from bpe_cli.views.visible import BAR, NEWLINE

if TYPE_CHECKING:
    from rich.style import Style

Units = Sequence[tuple[str, "Style"]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what is shown above, and the notes under it, one a row.

    Attributes:
        units: What to write, and how.
        notes: What stands under it, in rows; all columns of a text have as many.
        style: How notes are written.
        tied: Whether a bar stands before it, in the first row, also in colour.
    """

    units: Units
    notes: tuple[str, ...]
    style: Style
    tied: bool = False


@dataclass(frozen=True, slots=True)
class _Placed:
    """A column in its line, or a part of one that is wider than a line."""

    column: Column
    units: Units
    notes: tuple[str, ...]
    width: int
    goes_on: bool


def interlinear(columns: Iterable[Column], width: int, *, bars: bool, marked: bool = False) -> Iterator[Segment]:
    """Yield columns set in lines, with an empty line between lines of more than one row.

    Args:
        columns: What to set.
        width: Columns of the terminal; numbers that are wider still go over it.
        bars: Whether bars stand between columns (no colour), or spaces.
        marked: Whether what reads from the right is kept in its place; see ``direction``.
    """
    # What has one style is one stretch of output: letters of Arabic only join within one.
    yield from Segment.simplify(_set(list(_lines(columns, width)), bars, marked))


def _set(lines: list[list[_Placed]], bars: bool, marked: bool) -> Iterator[Segment]:
    for number, line in enumerate(lines, start=1):
        if number > 1:
            yield Segment.line()
        # A bar behind the last column of a line says that a token ends there and another follows.
        closed = bars and number < len(lines) and not line[-1].goes_on
        yield from _tokens(line, bars, closed, marked)
        for row in range(len(line[0].notes)):
            if any(placed.notes[row] for placed in line):  # else the line holds only what goes on
                yield from _notes(line, row, bars, closed)


def _lines(columns: Iterable[Column], width: int) -> Iterator[list[_Placed]]:
    """Break columns into lines; behind the mark of a line feed one always ends."""
    line: list[_Placed] = []
    used = 0
    # One column stays free for the bar behind what fills a line.
    for placed in (part for column in columns for part in _parts(column, max(width - 1, 1))):
        if line and used + placed.width > width - 1:
            yield line
            line, used = [], 0
        line.append(placed)
        used += placed.width + 1
        if not placed.goes_on and placed.units and placed.units[-1][0] == NEWLINE:
            yield line
            line, used = [], 0
    if line:
        yield line


def _parts(column: Column, width: int) -> Iterator[_Placed]:
    """Cut a column that is wider than a line."""
    held: list[tuple[str, Style]] = []
    notes, used = column.notes, 0
    for unit, style in column.units:
        # A unit that is wider than a line itself is cut between its characters.
        for piece in unit if len(unit) > 1 and cell_len(unit) > width else (unit,):
            size = cell_len(piece)
            if held and used + size > width:
                yield _Placed(column, held, notes, max(used, *map(cell_len, notes)), goes_on=True)
                notes, held, used = ("",) * len(notes), [], 0
            held.append((piece, style))
            used += size
    yield _Placed(column, held, notes, max(used, 0, *map(cell_len, notes)), goes_on=False)


def _tokens(line: list[_Placed], bars: bool, closed: bool, marked: bool) -> Iterator[Segment]:
    borders = Borders(active=marked)
    for place, placed in enumerate(line):
        if place:
            yield Segment(BAR if bars or placed.column.tied else " ", PLAIN)
        used = 0
        for unit, style in placed.units:
            used += cell_len(unit)
            yield Segment(borders.here() if unit == BORDER else borders.before(unit) + unit, style)
        # What stands in the next column, a space too, is no part of a run from the right.
        yield Segment(borders.here(), PLAIN)
        if closed or place + 1 < len(line):
            yield Segment(" " * (placed.width - used), PLAIN)
    yield Segment(BAR if closed else "", PLAIN)
    yield Segment.line()


def _notes(line: list[_Placed], row: int, bars: bool, closed: bool) -> Iterator[Segment]:
    for place, placed in enumerate(line):
        if place:
            yield Segment(BAR if bars else " ", PLAIN)
        note = placed.notes[row]
        yield Segment(note, placed.column.style if note else PLAIN)
        if closed or place + 1 < len(line):
            yield Segment(" " * (placed.width - cell_len(note)), PLAIN)
    yield Segment(BAR if closed else "", PLAIN)
    yield Segment.line()
