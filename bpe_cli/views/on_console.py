"""Draw neutral blocks on a console."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from bpe_cli.views.blocks import Gap, Heading, Italic, Line, Sheet, Verbatim
from bpe_cli.views.layout import table

if TYPE_CHECKING:
    from rich.console import RenderableType

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
