"""Draw neutral blocks on a console: the only view that draws with rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from bpe_cli.views.blocks import (
    Adaptive,
    Bar,
    Blocks,
    Folded,
    Hanging,
    Heading,
    Line,
    Screen,
    SetText,
    Sheet,
    Strip,
    Value,
    value_line,
)
from bpe_cli.views.lines import fold
from bpe_cli.views.sheets import EDGES, GAP

if TYPE_CHECKING:
    from bpe_cli.views.blocks import Block, Cell, Column

BAR_CELLS = 30
STRIP_CELLS = 48
LEAST_STRIP_CELLS = 16
LEAST_COLUMN_CELLS = 2
"""What a column has at least, however narrow the screen: some characters take two."""


class OnConsole:
    """Blocks as an object that rich prints."""

    def __init__(self, *parts: Block | Blocks) -> None:
        """Choose the blocks."""
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colors = "" if console.no_color else console.color_system or ""
        screen = Screen(options.max_width, colors)
        for part in self._parts:
            yield from _drawn(part if isinstance(part, Blocks) else [part], screen, console)


def _drawn(blocks: Iterable[Block], screen: Screen, console: Console) -> RenderResult:
    for block in blocks:
        match block:
            case Heading(text, apart):
                yield Text(f"\n{text}" if apart else text, style="bold")
            case Line():
                yield _text(block)
            case Hanging():
                yield from _hanging(block, screen.width, console)
            case SetText(stretches):
                yield from _set(stretches)
            case Folded(text):
                yield from _set(fold(text, screen.width))
            case Sheet():
                yield from [_table(block)] if _fits(block, screen.width) else map(_text, _as_lines(block))
            case Adaptive():
                yield from _drawn(block.blocks(screen), screen, console)
            case _:
                yield Text()


def _text(line: Line) -> Text:
    parts = (_text(part) if isinstance(part, Line) else part for part in line.parts)
    text = Text.assemble(*parts, style=line.style)
    if line.whole:
        text.no_wrap, text.overflow = True, "ignore"
    if line.trimmed:
        text.rstrip()
    return text


def _hanging(block: Hanging, width: int, console: Console) -> Iterator[Segment]:
    text, room = _text(block.line), max(1, width - block.indent)
    lines = list(text.wrap(console, room, overflow="fold")) if text.cell_len > room else [text]
    for number, line in enumerate(lines):
        line.rstrip()
        label = f"{'' if number else block.label:{block.indent}}"
        yield Segment(label if line else label.rstrip())
        yield from line.render(console)
        yield Segment.line()


def _set(stretches: Iterable[tuple[str, str]]) -> Iterable[Segment]:
    """Return a set text; what has one style is one stretch of output: letters of Arabic only join within one."""
    segments = (Segment.line() if text == "\n" else Segment(text, Style.parse(style)) for text, style in stretches)
    return Segment.simplify(segments)


def _table(sheet: Sheet) -> Table:
    shown = Table.grid(padding=(0, 2)) if sheet.is_list else Table(box=box.SIMPLE, pad_edge=False)
    for column in sheet.columns:
        layout = {"overflow": "fold", **column.layout}
        shown.add_column(Text(column.header), justify="right" if column.right else "left", **layout)
    for number, row in enumerate(sheet.rows):
        shown.add_row(*map(_cell, row), end_section=number in sheet.ends)
    return shown


def _fits(sheet: Sheet, width: int) -> bool:
    """Return whether a table has room for something of each column, and for all of what is never broken."""
    taken = (len(sheet.columns) - 1) * (2 if sheet.is_list else GAP) + (0 if sheet.is_list else EDGES)
    for number, column in enumerate(sheet.columns):
        taken += _least_width(column, [row[number] for row in sheet.rows])
    return taken <= width


def _as_lines(sheet: Sheet) -> Iterator[Line]:
    """Yield what a table says as lines, a row after the other; its drawings are left out."""
    for row in sheet.rows:
        if not sheet.is_list:
            yield Line()
        for column, cell in zip(sheet.columns, row, strict=True):
            said = value_line(cell) if isinstance(cell, Value) else cell if isinstance(cell, Line) else str(cell)
            if str(said).strip():
                yield Line(f"{column.title}: " if column.title else "", said, trimmed=True)


def _least_width(column: Column, cells: Iterable[Cell]) -> int:
    """Return the columns of the screen that a column of a table cannot do without."""
    layout = column.layout
    if (given := layout.get("width", layout.get("min_width"))) is not None:
        return int(given)
    widest = max(cell_len(line) for cell in (column.header, *cells) for line in str(cell).split("\n"))
    return min(widest, (layout.get("max_width") or widest) if layout.get("no_wrap") else LEAST_COLUMN_CELLS)


def _cell(cell: Cell) -> RenderableType:
    match cell:
        case str():
            return Text(cell)
        case Line():
            return _text(cell)
        case Value():
            return _text(value_line(cell))
        case Bar(relative):
            return _Bar(relative)
        case Strip():
            return _Strip(cell)
        case Folded(text):
            return _Folded(text)


class _Bar:
    """A bar of up to ``BAR_CELLS`` cells, or as many as there is room for."""

    def __init__(self, relative: float) -> None:
        self._relative = relative

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, BAR_CELLS)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("█" * round(self._relative * min(BAR_CELLS, options.max_width)))


class _Strip:
    """A line with marks of up to ``STRIP_CELLS`` cells, or as many as there is room for."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(LEAST_STRIP_CELLS, options.max_width), min(STRIP_CELLS, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self._strip.drawn(min(STRIP_CELLS, options.max_width)))


class _Folded:
    """A cell in which every space counts."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _set(fold(self._text, options.max_width))
