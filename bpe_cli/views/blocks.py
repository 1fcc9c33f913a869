"""The neutral blocks that a report is laid out in once: headings, lines and sheets, for a console, a page and Markdown.

``on_console``, ``page.markup`` and ``markdown`` write them. What looks different by the width or the colours of a
console (``Adaptive``) is asked for its blocks with a ``Screen``; elsewhere with one that has no end and no colours. A
style is what rich's ``Style.parse`` reads; only a console has any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable


@dataclass(frozen=True, slots=True)
class Screen:
    """The screen for which blocks are made.

    Attributes:
        width: The columns that there are.
        colors: What rich calls the colours of a console (``standard``, ``256``, ``truecolor``), or nothing.
    """

    width: int = sys.maxsize
    colors: str = ""


@runtime_checkable
class Adaptive(Protocol):
    """The interface of content that depends on the screen."""

    def blocks(self, screen: Screen) -> Iterable[Block]:
        """Return the blocks for a screen."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a part; ``apart`` puts an empty line before it."""

    text: str
    apart: bool = False


class Line:
    """A sentence, a label with values, or a cell of a sheet: texts one after the other, each with its style.

    Attributes:
        parts: The texts.
        style: That of all of it.
        whole: Whether a console never breaks it.
        trimmed: Whether a console leaves whitespace at its end out.
    """

    __slots__ = ("parts", "style", "trimmed", "whole")

    def __init__(self, *parts: Part, style: str = "", whole: bool = False, trimmed: bool = False) -> None:
        """Put texts together."""
        self.parts = parts
        self.style = style
        self.whole = whole
        self.trimmed = trimmed

    def __str__(self) -> str:
        return "".join(str(part[0] if isinstance(part, tuple) else part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Hanging:
    """A label before a line, whose further lines stand below its first, ``indent`` columns from the left."""

    line: Line
    label: str = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line on a console."""


@dataclass(frozen=True, slots=True)
class SetText:
    """A text that is set in lines already, in which every space counts: stretches with their styles, and line ends."""

    stretches: Iterable[tuple[str, str]]


class Name(str):
    """A name from outside, in a sheet: code in Markdown, whatever it looks like."""

    __slots__ = ()


class Words(str):
    """Words of our own above a column, with punctuation that is not markup."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Value:
    """A cell in words of our own: a value and its marks.

    Attributes:
        text: The value.
        emphasis: Whether it is the ``best`` of its row, or ``bad``; else nothing.
        tail: What stands behind it on a console and in Markdown.
        small: What stands behind it in small type on a page.
        title: What a page says of it when one points at it.
    """

    text: str
    emphasis: Literal["", "best", "bad"] = ""
    tail: str = ""
    small: tuple[str, ...] = ()
    title: str = ""

    def __str__(self) -> str:
        return self.text + self.tail


@dataclass(frozen=True, slots=True)
class Folded:
    """A line of text, such as an expression, in which every space counts: a block, or a cell."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell that is a bar: so much of the longest one, 0 to 1."""

    relative: float

    def __str__(self) -> str:
        return ""  # the number stands beside it


SEVERAL = "+"
"""The mark of a strip where several marks lie on one another."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A cell that is a line with marks on it, each at a part of its length, 0 to 1.

    Attributes:
        marks: Places and the characters there; two or more at a place are ``SEVERAL``.
        spans: Where lines begin and end, below the marks.
        rule: The place of a bar, below them all.
    """

    marks: tuple[tuple[float, str], ...]
    spans: tuple[tuple[float, float], ...] = ()
    rule: float | None = None

    def __str__(self) -> str:
        return ""  # the numbers stand beside it

    def drawn(self, cells: int) -> str:
        """Draw it in so many columns.

        >>> Strip(((0.0, "A"), (0.5, "B")), ((0.25, 0.75),), 1.0).drawn(9)
        'A ──B── │'
        """
        line = [" "] * max(1, cells)
        last = len(line) - 1
        if self.rule is not None:
            line[round(self.rule * last)] = "│"
        for low, high in self.spans:
            for place in range(round(low * last), round(high * last) + 1):
                line[place] = "─"
        marked: dict[int, str] = {}
        for at, character in self.marks:
            place = round(at * last)
            marked[place] = SEVERAL if place in marked else character
        for place, character in marked.items():
            line[place] = character
        return "".join(line)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: what stands above it, whether it is set from the right, and how a console lays it out."""

    header: str = ""
    right: bool = False
    layout: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The header on one line."""
        kind, title = type(self.header), self.header.replace("\n", "")
        return kind(title if kind is Name else title.strip())


def text_column(header: str = "", *, right: bool = False, **layout: Any) -> Column:
    """Return a column of texts; ``layout`` is what rich's ``Table.add_column`` takes."""
    return Column(header, right, {"overflow": "fold", **layout})


def numbers(*headers: str) -> list[Column]:
    """Return columns of numbers, set from the right and never broken."""
    return [Column(each, True, {"no_wrap": True}) for each in headers]


class Sheet:
    """A table.

    Attributes:
        columns: Its columns.
        rows: The cells.
        ends: The numbers of the rows below which a part of the table ends.
        has_foot: Whether its last row, a part by itself, sums it up.
        is_list: Whether it is a list of labels with values, without a head.
    """

    def __init__(self, *columns: Column | str, rows: Iterable[Sequence[Cell]] = (), is_list: bool = False) -> None:
        """Begin a sheet; a column that is only a name is one of texts."""
        self.columns = [text_column(each) if isinstance(each, str) else each for each in columns]
        self.rows: list[Sequence[Cell]] = list(rows)
        self.ends: set[int] = set()
        self.has_foot = False
        self.is_list = is_list

    @classmethod
    def of_facts(cls) -> Sheet:
        """Begin a list of labels with values."""
        return cls(Column("", False, {"no_wrap": True}), "", is_list=True)

    def add_row(self, *cells: Cell) -> None:
        """Add a row."""
        self.rows.append(cells)

    def end_part(self) -> None:
        """End a part of the table below the last row."""
        self.ends.add(len(self.rows) - 1)

    def plain(self) -> tuple[tuple[str, ...], tuple[bool, ...], list[tuple[str | Value, ...]]]:
        """Return the headers, which columns are set from the right, and the cells; columns that only draw are left out.

        >>> Sheet(*numbers("id"), rows=[(" 7",)]).plain()
        (('id',), (True,), [('7',)])
        """
        cells = [[_flat(cell) for cell in row] for row in self.rows]
        kept = [
            number
            for number, column in enumerate(self.columns)
            if column.header or self.is_list or not cells or any(row[number] for row in cells)
        ]
        return (
            tuple(self.columns[number].title for number in kept),
            tuple(self.columns[number].right for number in kept),
            [tuple(row[number] for number in kept) for row in cells],
        )


Part: TypeAlias = str | tuple[str, str] | Line
Cell: TypeAlias = str | Line | Value | Folded | Bar | Strip
Block: TypeAlias = Heading | Line | Hanging | Gap | SetText | Folded | Sheet | Adaptive


def _flat(cell: Cell) -> str | Value:
    """Return a cell without whitespace at its ends; a name, and a value, as it is."""
    if isinstance(cell, (Name, Value)):
        return cell
    return type(cell)(cell.strip()) if isinstance(cell, str) else str(cell).strip()


class Blocks:
    """A report, or a part of one, as blocks in order."""

    def __init__(self, *parts: Block | Blocks) -> None:
        """Put blocks, and those of other parts, one after the other."""
        self._blocks = [block for part in parts for block in (part if isinstance(part, Blocks) else (part,))]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def neutral(self) -> Iterator[Heading | Line | Sheet]:
        """Yield the headings, lines and sheets that stand for the blocks outside of a console."""
        yield from _neutral(self._blocks)


def _neutral(blocks: Iterable[Block]) -> Iterator[Heading | Line | Sheet]:
    for block in blocks:
        if isinstance(block, (Heading, Line, Sheet)):
            yield block
        elif isinstance(block, Folded):
            yield Line(block.text)
        elif isinstance(block, Hanging):
            yield Line(f"{block.label} {block.line}")
        elif isinstance(block, Adaptive):
            yield from _neutral(block.blocks(Screen()))


def value_line(value: Value) -> Line:
    """Return a value as a console shows it."""
    return Line((value.text, "bold" if value.emphasis else ""), value.tail)
