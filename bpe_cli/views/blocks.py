"""The neutral blocks that a report is laid out in once: headings, lines and sheets, for a console, a page and Markdown.

``on_console``, ``page.html`` and ``as_markdown`` write them. What a narrow console has otherwise than a wide one
(``Adaptive``) draws itself there; everywhere else its ``blocks`` stand for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


class Verbatim(str):
    """A text that may be from outside: a console shows it as it is, without markup or colours of numbers."""

    __slots__ = ()


@runtime_checkable
class Drawn(Protocol):
    """A cell that a console draws; ``plain`` stands for it elsewhere."""

    @property
    def plain(self) -> str:
        """What it says in words."""


@dataclass(frozen=True, slots=True)
class Italic:
    """A cell of our own words among those from outside."""

    plain: str


@runtime_checkable
class Adaptive(Protocol):
    """What looks different by the width of the console."""

    def blocks(self) -> Iterable[Block]:
        """Return all of it, however wide, without colours."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a part; ``apart`` from what is before it."""

    text: str
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, or a label with values; ``lead`` are its first words, which stand out."""

    text: str
    lead: str = ""
    style: str = ""
    lead_style: str = "bold"


@dataclass(frozen=True, slots=True)
class Gap:
    """A free line on a console."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: what stands above it, whether it is set from the right, and how a console lays it out."""

    header: str
    right: bool
    layout: dict[str, Any]


class Sheet:
    """A table.

    Attributes:
        columns: Its columns.
        rows: The cells.
        ends: The numbers of the rows below which a part of the table ends.
        is_list: Whether it is a list of labels with values, without a head.
    """

    def __init__(self, *, is_list: bool = False) -> None:
        """Begin a sheet without columns and rows; a list has its two."""
        self.columns: list[Column] = []
        self.rows: list[tuple[Cell, ...]] = []
        self.ends: set[int] = set()
        self.is_list = is_list

    @classmethod
    def of_facts(cls) -> Sheet:
        """Begin a list of labels with values."""
        sheet = cls(is_list=True)
        sheet.add_column(no_wrap=True)
        sheet.add_column(overflow="fold")
        return sheet

    def add_column(self, header: str = "", *, right: bool = False, **layout: Any) -> None:
        """Add a column; ``layout`` is what rich's ``Table.add_column`` takes."""
        self.columns.append(Column(header, right, layout))

    def add_numbers(self, *headers: str) -> None:
        """Add columns of numbers, set from the right and never broken."""
        for header in headers:
            self.add_column(header, right=True, no_wrap=True)

    def add_row(self, *cells: Cell) -> None:
        """Add a row."""
        self.rows.append(cells)

    def end_part(self) -> None:
        """End a part of the table below the last row."""
        self.ends.add(len(self.rows) - 1)

    def plain(self) -> tuple[tuple[str, ...], tuple[bool, ...], list[tuple[str, ...]]]:
        """Return the headers, which columns are set from the right, and the cells; columns that only draw are left out.

        >>> sheet = Sheet()
        >>> sheet.add_numbers("id")
        >>> sheet.add_row(" 7")
        >>> sheet.plain()
        (('id',), (True,), [('7',)])
        """
        cells = [[_plain(cell) for cell in row] for row in self.rows]
        kept = [
            number
            for number, column in enumerate(self.columns)
            if column.header or self.is_list or not cells or any(row[number] for row in cells)
        ]
        return (
            tuple(self.columns[number].header.replace("\n", "").strip() for number in kept),
            tuple(self.columns[number].right for number in kept),
            [tuple(row[number] for number in kept) for row in cells],
        )


Cell: TypeAlias = str | Italic | Drawn
Block: TypeAlias = Heading | Line | Gap | Sheet | Adaptive


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

    def blocks(self) -> list[Block]:
        """Return a sheet with the texts in its last column."""
        return [self._sheet(with_notes=True)]

    def _sheet(self, *, with_notes: bool) -> Sheet:
        sheet = Sheet()
        for number, column in enumerate(self._columns):
            right = all(cells[number][:1].isdecimal() for cells, _, _ in self._rows)
            sheet.add_column(column, right=right, overflow="fold")
        if with_notes:
            sheet.add_column(self._note, overflow="fold")
        for cells, note, _ in self._rows:
            sheet.add_row(*map(Verbatim, cells), *([Verbatim(note)] if with_notes else []))
        return sheet

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width >= NARROW:
            yield Blocks(self._sheet(with_notes=True))
            return
        yield Blocks(self._sheet(with_notes=False))
        if any(note for _, note, _ in self._rows):
            below = (Line(f"{name}: {note}") for _, note, name in self._rows if note)
            yield Blocks(*below, Gap())


class Blocks:
    """A report, or a part of one, as blocks in order."""

    def __init__(self, *parts: Block | Blocks) -> None:
        """Put blocks, and those of other parts, one after the other."""
        self._blocks = [block for part in parts for block in (part if isinstance(part, Blocks) else (part,))]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from bpe_cli.views.on_console import drawn

        yield from map(drawn, self._blocks)

    def neutral(self) -> Iterator[Heading | Line | Sheet]:
        """Yield what stands for the blocks on no console."""
        yield from _neutral(self._blocks)


def _neutral(blocks: Iterable[Block]) -> Iterator[Heading | Line | Sheet]:
    for block in blocks:
        if isinstance(block, (Heading, Line, Sheet)):
            yield block
        elif isinstance(block, Adaptive):
            yield from _neutral(block.blocks())


def _plain(cell: Cell) -> str:
    return (cell if isinstance(cell, str) else cell.plain).strip()
