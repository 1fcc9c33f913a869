"""Take what is shown on a console apart into headings, lines and tables: for a page and for Markdown, at full width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rich.console import Group
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType


@runtime_checkable
class Adaptive(Protocol):
    """What looks different by the width of the console."""

    def whole(self) -> Table | Group:
        """Return all of it, however wide, without colours."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a part."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, or a label with values."""

    text: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table.

    Attributes:
        headers: One per column; all are empty if the table has no head.
        right: Whether a column is set from the right.
        rows: The cells.
        ends: The numbers of the rows below which a part of the table ends.
    """

    headers: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    ends: frozenset[int]


def taken_apart(shown: RenderableType | None) -> Iterator[Heading | Line | Sheet]:
    """Yield the parts in order.

    Raises:
        TypeError: There is something else among them: a defect of the view.

    >>> list(taken_apart(Group(Text("Numbers", style="bold"), Text("two"))))
    [Heading(text='Numbers'), Line(text='two')]
    """
    if shown is None:
        return
    if isinstance(shown, Group):
        for each in shown.renderables:
            yield from taken_apart(each)
    elif isinstance(shown, Text):
        text = shown.plain.strip()
        yield Heading(text) if shown.style == "bold" else Line(text)
    elif isinstance(shown, Table):
        yield _sheet(shown)
    elif isinstance(shown, Adaptive):
        yield from taken_apart(shown.whole())
    else:
        raise TypeError(f"a {type(shown).__name__} is no heading, line or table")


def _sheet(table: Table) -> Sheet:
    columns = table.columns
    cells = [[_plain(cell) for cell in column.cells] for column in columns]
    return Sheet(
        tuple(_plain(column.header).replace("\n", "") if table.show_header else "" for column in columns),
        tuple(column.justify == "right" for column in columns),
        tuple(zip(*cells, strict=True)),
        frozenset(number for number, row in enumerate(table.rows[:-1]) if row.end_section),
    )


def _plain(cell: RenderableType) -> str:
    return (cell.plain if isinstance(cell, Text) else str(cell)).strip()
