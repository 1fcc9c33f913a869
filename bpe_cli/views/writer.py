"""Set text in lines of a width without losing or adding anything: what rich's wrapping does to spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from bpe_cli.views.blocks import Line
from bpe_cli.views.direction import Borders
from bpe_cli.views.palette import PLAIN
from bpe_cli.views.visible import BAR, NEWLINE

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.style import Style

    from bpe_cli.views.blocks import Block

__all__ = ["PLAIN", "Folded", "Writer"]


class Writer:
    """Set units of text in lines of a width, none broken unless it is wider than a line."""

    def __init__(self, width: int, *, marked: bool = False) -> None:
        """Begin a line of ``width`` columns; ``marked`` writes what ``direction`` asks for."""
        self._width = max(width, 1)
        self._borders = Borders(active=marked)
        self._column = 0
        self._pieces: list[str] = []
        self._style = PLAIN
        self._segments: list[Segment] = []
        self._line_due = False

    def put(self, unit: str, style: Style) -> None:
        """Write a unit; a real line break follows the mark of a line feed."""
        size = cell_len(unit)
        if size > self._width and len(unit) > 1:
            for character in unit:
                self.put(character, style)
            return
        if self._line_due or self._column + size > self._width:
            self._break()
        self._add(self._borders.before(unit) + unit, style)
        self._column += size
        self._line_due = unit == NEWLINE

    def put_word(self, word: str, style: Style) -> None:
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

    def finish(self) -> list[Segment]:
        """Return all lines."""
        if self._column:
            self._break()
        self._flush()
        return self._segments

    def _break(self) -> None:
        self._flush()
        self._segments.append(Segment.line())
        self._column = 0
        self._line_due = False
        self._borders.line()

    def _add(self, unit: str, style: Style) -> None:
        if style is not self._style:
            self._flush()
            self._style = style
        self._pieces.append(unit)

    def _flush(self) -> None:
        if self._pieces:
            self._segments.append(Segment("".join(self._pieces), self._style))
            self._pieces = []


class Folded:
    """Render a line of text, such as an expression, in which every space counts."""

    def __init__(self, text: str) -> None:
        self.plain = text

    def blocks(self) -> list[Block]:
        """Return it as a line, where it stands by itself."""
        return [Line(self.plain)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        writer = Writer(options.max_width)
        blanks = ""  # they go to the next line with what follows: at the end of one nobody sees them
        for character in self.plain:
            if character == " ":
                blanks += character
            else:
                writer.put(blanks + character, PLAIN)
                blanks = ""
        if blanks:
            writer.put(blanks, PLAIN)
        yield from writer.finish()
