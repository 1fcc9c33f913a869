"""Draw neutral blocks on a console."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich import box
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from bpe_cli.views.blocks import Gap, Heading, Italic, Line, Sheet, Verbatim

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from bpe_cli.views.blocks import Block, Cell


def drawn(block: Block) -> RenderableType:
    """Return what rich draws; what adapts itself to the console does that."""
    if isinstance(block, Heading):
        return Text(f"\n{block.text}" if block.apart else block.text, style="bold")
    if isinstance(block, Line):
        return Text.assemble((block.lead, block.lead_style), (block.text, block.style))
    if isinstance(block, Gap):
        return Text()
    if isinstance(block, Sheet):
        return _table(block)
    return cast("RenderableType", block)


def _table(sheet: Sheet) -> Table:
    shown = Table.grid(padding=(0, 2)) if sheet.is_list else table()
    for column in sheet.columns:
        shown.add_column(_cell(column.header), justify="right" if column.right else "left", **column.layout)
    for number, row in enumerate(sheet.rows):
        shown.add_row(*map(_cell, row), end_section=number in sheet.ends)
    return shown


def _cell(cell: Cell) -> RenderableType:
    if isinstance(cell, str):
        return Text(cell) if isinstance(cell, Verbatim) else escape(cell)
    if isinstance(cell, Italic):
        return Text(cell.plain, style="italic")
    return cast("RenderableType", cell)


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
