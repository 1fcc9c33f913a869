"""Set values by tokenizers, in as many tables as the width asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from bpe_cli.views.blocks import Sheet, Verbatim
from bpe_cli.views.labels import header, header_width
from bpe_cli.views.on_console import drawn

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from bpe_cli.views.blocks import Block

_EDGES = 2
_GAP = 3  # between two columns of a table

Values = tuple[str, Sequence[str]]
"""A label, and a value for each column."""


class Grid:
    """Render rows of values, a column per tokenizer; what does not fit beside goes below, under the same labels.

    A label is broken only between its words; where not even one column fits beside the labels, each tokenizer's
    values are lines.
    """

    def __init__(
        self,
        head: str,
        names: Sequence[str],
        sections: Sequence[Sequence[Values]],
        *,
        first: tuple[str, Sequence[str]] | None = None,
        left: bool = False,
        most: int | None = None,
    ) -> None:
        """Choose what to show.

        Args:
            head: The header of the labels.
            names: The tokenizers, as they are shown.
            sections: Rows, with a line between sections.
            first: Header and values of a column that stands before the tokenizers', in every table.
            left: Whether values are texts, set from the left.
            most: Columns of the screen that one tokenizer gets at most; longer values are folded.
        """
        self._head = head
        self._names = list(names)
        self._sections = sections
        self._first = first
        self._left = left
        self._most = most

    def blocks(self) -> list[Block]:
        """Return one sheet of all columns, however wide."""
        return [self._sheet(range(len(self._names)), None)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = [row for section in self._sections for row in section]
        labels = [self._head, *(label for label, _ in rows)]
        widths = [
            max(header_width(name), *(cell_len(values[number]) for _, values in rows))
            for number, name in enumerate(self._names)
        ]
        widths = [min(width, self._most or width) for width in widths]
        room = options.max_width - _EDGES
        if self._first is not None:
            room -= max(map(cell_len, [self._first[0], *self._first[1]])) + _GAP
        label_cells = min(max(map(cell_len, labels)), room - _GAP - max(widths))
        if label_cells < max(cell_len(word) for label in labels for word in label.split() or [""]):
            yield from self._lists()
            return
        longest = max(map(cell_len, labels))
        for part in folded(widths, room - label_cells):
            taken = sum(widths[number] + _GAP for number in part)
            yield drawn(self._sheet(part, min(longest, max(label_cells, room - taken))))

    def _sheet(self, columns: range, label_cells: int | None) -> Sheet:
        shown = Sheet()
        shown.add_column(Verbatim(self._head), width=label_cells, no_wrap=label_cells is None)
        if self._first is not None:
            shown.add_numbers(Verbatim(self._first[0]))
        for number in columns:
            shown.add_column(
                Verbatim(header(self._names[number])),
                right=not self._left,
                no_wrap=not self._left,
                overflow="fold",
                max_width=self._most,
            )
        place = 0
        for section in self._sections:
            for label, values in section:
                before = [] if self._first is None else [Verbatim(self._first[1][place])]
                shown.add_row(Verbatim(label), *before, *(Verbatim(values[number]) for number in columns))
                place += 1
            shown.end_part()
        return shown

    def _lists(self) -> Iterator[RenderableType]:
        labels = [label for section in self._sections for label, _ in section]
        if self._first is not None:
            yield from listed(f"\n{self._first[0]}", zip(labels, map(Text, self._first[1]), strict=True))
        for number, name in enumerate(self._names):
            values = [Text(values[number]) for section in self._sections for _, values in section]
            yield from listed(f"\n{name}", zip(labels, values, strict=True))


def listed(heading: str, values: Iterable[tuple[str, Text]]) -> list[Text]:
    """Lay out values as lines, for a console that no table fits into."""
    lines = [Text(heading, style="bold")]
    for label, value in values:
        if value.plain.strip():
            line = Text.assemble(f"  {label.strip()}: ", value)
            line.rstrip()
            lines.append(line)
    return lines


def folded(widths: Sequence[int], room: int) -> list[range]:
    """Divide columns among tables, at least one to each.

    >>> folded([5, 5, 5], 20), folded([50], 20)
    ([range(0, 2), range(2, 3)], [range(0, 1)])
    """
    parts = []
    start = 0
    while start < len(widths):
        end, left = start, room
        while end < len(widths) and (end == start or widths[end] + _GAP <= left):
            left -= widths[end] + _GAP
            end += 1
        parts.append(range(start, end))
        start = end
    return parts
