"""Wrap tokens into lines of a width without losing or adding anything, as rich's wrapping would do to spaces.

``Writer`` sets them one after the other; ``interlinear`` sets what belongs to each under it, in columns that are
aligned and wrapped together. Neighbours differ in colour; without colour bars stand between them. What is wider than a
line goes on in the next one, with its notes under its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bpe_cli.views.visible import BAR, NEWLINE, Borders

if TYPE_CHECKING:
    from bpe_cli.views.blocks import Screen

Stretch = tuple[str, str]
"""A stretch of text and its style, or the end of a line."""

LINE_END: Stretch = ("\n", "")

PLAIN = ""
CHARACTER = "bold"
"""Of a character that lies in several tokens, whose bytes have the colours."""

_SPECIAL = "bold reverse"
_SPECIAL_PLAIN = "bold"

Palette = tuple[str, ...]
"""Styles that tokens take in turn; none where a console has no colours.

Every style gives both sides, black on a light colour, so that it does not depend on the terminal's own. Lighter and
darker ones take turns: neighbours differ for those who see few hues, too.
"""


def _on(*colors: str) -> Palette:
    return tuple(f"#000000 on {color}" for color in colors)


TRUE_COLORS = _on("#d6e6ff", "#f5a8b8", "#d3f5c4", "#c8a6f5", "#fff0ad", "#f9b572")
CUBE_COLORS = _on("#d7ffff", "#d787d7", "#d7ffaf", "#ffaf5f")
"""All are in the cube of 256 colours, so that they are the same on every such terminal."""
BASIC_COLORS = tuple(f"black on {color}" for color in ("cyan", "yellow", "green", "magenta"))

_PALETTES: dict[str, Palette] = {"": (), "truecolor": TRUE_COLORS, "256": CUBE_COLORS}


def palette_of(screen: Screen) -> Palette:
    """Choose the colours of tokens; none at all where a console has no colours."""
    return _PALETTES.get(screen.colors, BASIC_COLORS)


def token_style(palette: Palette, number: int, special: bool = False) -> str:
    """Return the style of a token: never that of its neighbour, except for special tokens, which have brackets."""
    if special:
        return _SPECIAL if palette else _SPECIAL_PLAIN
    return palette[number % len(palette)] if palette else PLAIN


BORDER = ""
"""A unit that is nothing: where what reads from the right must end, as before the bytes of a character."""


class Writer:
    """Set units of text in lines of a width, none broken unless it is wider than a line."""

    def __init__(self, width: int, *, marked: bool = False) -> None:
        """Begin a line of ``width`` columns; ``marked`` writes what ``direction`` asks for."""
        self._width = max(width, 1)
        self._borders = Borders(active=marked)
        self._column = 0
        self._pieces: list[str] = []
        self._style = PLAIN
        self._segments: list[Stretch] = []
        self._line_due = False

    def put(self, unit: str, style: str) -> None:
        """Write a unit; a line break follows the mark of a line feed."""
        size = cell_len(unit)
        if size > self._width and len(unit) > 1:
            for character in unit:
                self.put(character, style)
            return
        if self._line_due or (self._column and self._column + size > self._width):
            self._break()
        self._add(self._borders.before(unit) + unit, style)
        self._column += size
        self._line_due = unit == NEWLINE

    def put_word(self, word: str, style: str) -> None:
        """Write a word behind a space, or on a new line."""
        if self._column and self._column + 1 + cell_len(word) > self._width:
            self._break()
        elif self._column:
            self.put(" ", PLAIN)
        self.put(word, style)

    def border(self) -> None:
        """End what reads from the right."""
        if mark := self._borders.here():
            self._add(mark, self._style)

    def boundary(self) -> None:
        """Write a bar, behind the mark of a line feed rather than on the next line."""
        due, self._line_due = self._line_due, False
        if due:  # one column was kept free for it
            self._add(BAR, PLAIN)
        else:
            self.put(BAR, PLAIN)
        self._line_due = due

    def finish(self) -> list[Stretch]:
        """Return all lines."""
        if self._column:
            self._break()
        self._flush()
        return self._segments

    def _break(self) -> None:
        self._flush()
        self._segments.append(LINE_END)
        self._column = 0
        self._line_due = False
        self._borders.line()

    def _add(self, unit: str, style: str) -> None:
        if style != self._style:
            self._flush()
            self._style = style
        self._pieces.append(unit)

    def _flush(self) -> None:
        if self._pieces:
            self._segments.append(("".join(self._pieces), self._style))
            self._pieces = []


def fold(text: str, width: int) -> list[Stretch]:
    """Set a line of text, such as an expression, in which every space counts."""
    writer = Writer(width)
    blanks = ""  # they go to the next line with what follows: at the end of one nobody sees them
    for character in text:
        if character == " ":
            blanks += character
        else:
            writer.put(blanks + character, PLAIN)
            blanks = ""
    if blanks:
        writer.put(blanks, PLAIN)
    return writer.finish()


Units = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Interlined:
    """A column: what is shown above, and the notes under it, one a row.

    Attributes:
        units: What to write, and how.
        notes: What stands under it, in rows; all columns of a text have as many.
        style: How notes are written.
        tied: Whether a bar stands before it, in the first row, also in colour.
    """

    units: Units
    notes: tuple[str, ...]
    style: str
    tied: bool = False


@dataclass(frozen=True, slots=True)
class _Placed:
    """A column in its line, or a part of one that is wider than a line."""

    column: Interlined
    units: Units
    notes: tuple[str, ...]
    width: int
    goes_on: bool


def interlinear(columns: Iterable[Interlined], width: int, *, bars: bool, marked: bool = False) -> Iterator[Stretch]:
    """Yield columns set in lines, with an empty line between lines of more than one row.

    Args:
        columns: What to set.
        width: Columns of the terminal; numbers that are wider still go over it.
        bars: Whether bars stand between columns (no colour), or spaces.
        marked: Whether what reads from the right is kept in its place; see ``direction``.
    """
    lines = list(_lines(columns, width))
    for number, line in enumerate(lines, start=1):
        if number > 1:
            yield LINE_END
        # A bar behind the last column of a line says that a token ends there and another follows.
        closed = bars and number < len(lines) and not line[-1].goes_on
        yield from _tokens(line, bars, closed, marked)
        for row in range(len(line[0].notes)):
            if any(placed.notes[row] for placed in line):  # else the line holds only what goes on
                yield from _notes(line, row, bars, closed)


def _lines(columns: Iterable[Interlined], width: int) -> Iterator[list[_Placed]]:
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


def _parts(column: Interlined, width: int) -> Iterator[_Placed]:
    """Cut a column that is wider than a line."""
    held: list[tuple[str, str]] = []
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


def _tokens(line: list[_Placed], bars: bool, closed: bool, marked: bool) -> Iterator[Stretch]:
    borders = Borders(active=marked)
    for place, placed in enumerate(line):
        if place:
            yield (BAR if bars or placed.column.tied else " ", PLAIN)
        used = 0
        for unit, style in placed.units:
            used += cell_len(unit)
            yield (borders.here() if unit == BORDER else borders.before(unit) + unit, style)
        # What stands in the next column, a space too, is no part of a run from the right.
        yield (borders.here(), PLAIN)
        if closed or place + 1 < len(line):
            yield (" " * (placed.width - used), PLAIN)
    yield (BAR if closed else "", PLAIN)
    yield LINE_END


def _notes(line: list[_Placed], row: int, bars: bool, closed: bool) -> Iterator[Stretch]:
    for place, placed in enumerate(line):
        if place:
            yield (BAR if bars else " ", PLAIN)
        note = placed.notes[row]
        yield (note, placed.column.style if note else PLAIN)
        if closed or place + 1 < len(line):
            yield (" " * (placed.width - cell_len(note)), PLAIN)
    yield (BAR if closed else "", PLAIN)
    yield LINE_END
