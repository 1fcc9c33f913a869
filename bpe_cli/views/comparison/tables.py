"""Show a comparison of tokenizers as tables.

They read without colour and in 80 columns, and nothing is left out in fewer: what does not fit side by side goes
below. The best value of a metric is bold, and named under the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bpe_cli.reports.comparison.comparison import USUAL, Metric, differences_of, metrics_named
from bpe_cli.views.comparison.changes_table import changes_view
from bpe_cli.views.comparison.grid import folded, listed
from bpe_cli.views.comparison.values import (
    MetricCell,
    best_lines,
    digits_of,
    meaning_of_marks,
    metric_cells,
    remarks,
    sums,
)
from bpe_cli.views.labels import HEADER_CELLS, count, ending, full_names, header, header_width, short_names, whole
from bpe_cli.views.on_console import table as new_table
from bpe_cli.views.tokens import TokenView
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row

PASSAGE_LIMIT = 4

_NAME_CELLS = 34
_EDGES = 2
_GAP = 3  # between two columns of a table


def comparison_view(
    comparison: Comparison,
    *,
    metrics: Sequence[Metric] | None = None,
    by_input: Sequence[Metric] | None = None,
    changes: Changes | None = None,
    passages: int | None = PASSAGE_LIMIT,
) -> RenderableType:
    """Show a comparison.

    Args:
        comparison: What to show.
        metrics: What the table of tokenizers shows; None for ``choosing.USUAL``.
        by_input: What the tables of inputs show of each tokenizer; None for the first of ``metrics``.
        changes: What has changed since another comparison.
        passages: How many short texts are shown token by token; None for all.
    """
    chosen = metrics or metrics_named(USUAL)
    parts: list[RenderableType] = [_Summary(comparison, chosen)]
    if len(comparison.rows) > 1:
        parts.extend(_Matrix(comparison, metric) for metric in by_input or chosen[:1])
    if changes is not None:
        parts.append(changes_view(changes))
    shown = comparison.passages[:passages]
    several = {passage.source for passage in comparison.passages if passage.document}
    names = short_names(comparison.tokenizers)
    parts.extend(_passage(names, passage, passage.source in several) for passage in shown)
    more = len(comparison.passages) - len(shown)
    if more and shown:
        parts.append(Text(f"and {count(more, 'more short text')}", style="italic"))
    return Group(*parts)


class _Summary:
    """Show all inputs together: a line per tokenizer, or a line per metric where those are too many columns."""

    def __init__(self, comparison: Comparison, metrics: Sequence[Metric]) -> None:
        self._comparison = comparison
        self._metrics = metrics

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        comparison, total = self._comparison, self._comparison.total
        names = short_names(comparison.tokenizers)
        full = [harmless(name) for name in comparison.tokenizers]
        yield Text(_source_line(comparison))
        columns = [_metric_column(total, metric) for metric in self._metrics]
        vocabulary = _Column("vocabulary", [Text(whole(measure.vocab_size)) for measure in total.measures])
        wide = sum(column.width + _GAP for column in columns)
        room = options.max_width - _EDGES - wide
        names_fit = min(max(map(cell_len, names)), HEADER_CELLS)
        if max(map(cell_len, full)) + vocabulary.width + _GAP <= room:
            yield _by_tokenizer(full, [vocabulary, *columns])
        elif names_fit <= room:
            fits = names_fit + vocabulary.width + _GAP <= room
            yield _by_tokenizer(names, [vocabulary, *columns] if fits else columns)
            yield from map(Text, full_names(comparison.tokenizers, names))
        else:
            yield from _by_metric(names, _lines(total, self._metrics, vocabulary), options.max_width)
            yield from map(Text, full_names(comparison.tokenizers, names))
        for line in (*remarks(comparison, self._metrics, names), *best_lines(total, self._metrics, names)):
            yield Text(line)


class _Column:
    """The values of one metric, one per tokenizer, under a header of one or two lines."""

    def __init__(self, label: str, cells: Sequence[Text]) -> None:
        self.label = label
        self.header = _two_lines(label)
        self.cells = cells
        self.width = max(cell.cell_len for cell in [*map(Text, self.header.split("\n")), *cells])


def _metric_column(row: Row, metric: Metric) -> _Column:
    """Write a metric's values; ratios with interval and mark, in line with each other."""
    cells = metric_cells(row, metric)
    doubts = _aligned([each.doubt for each in cells])
    intervals = _aligned([each.interval for each in cells], right=True)
    marks = _aligned([each.mark for each in cells])
    return _Column(
        metric.label,
        [
            _text_of(cell, doubt, f"{interval and ' ' + interval}{mark and ' ' + mark}")
            for cell, doubt, interval, mark in zip(cells, doubts, intervals, marks, strict=True)
        ],
    )


def _aligned(parts: Sequence[str], *, right: bool = False) -> list[str]:
    """Write all as wide as the widest."""
    width = max(map(len, parts))
    return [part.rjust(width) if right else part.ljust(width) for part in parts]


def _text_of(cell: MetricCell, doubt: str, tail: str) -> Text:
    return Text.assemble((cell.value + doubt, "bold" if cell.is_best else ""), tail)


def _lines(row: Row, metrics: Sequence[Metric], vocabulary: _Column) -> list[_Column]:
    """Return what a narrow table has as lines: there the ends of an interval have lines of their own."""
    lines = [vocabulary]
    for metric in metrics:
        cells = metric_cells(row, metric)
        doubts, marks = _aligned([each.doubt for each in cells]), _aligned([each.mark for each in cells])
        shown = [_text_of(cell, doubt, mark) for cell, doubt, mark in zip(cells, doubts, marks, strict=True)]
        lines.append(_Column(metric.label, shown))
        if any(cell.difference for cell in cells):
            for label, end in (("  low", "low"), ("  high", "high")):
                ends = ["" if each.difference is None else f"{getattr(each.difference, end):.{each.digits}f}"
                        for each in cells]  # fmt: skip
                lines.append(_Column(label, [Text(text + " " * len(marks[0])) for text in ends]))
    return lines


def _by_tokenizer(names: Sequence[str], columns: Sequence[_Column]) -> Table:
    table = new_table()
    headers = ["\ntokenizer", *(column.header for column in columns)]
    if all(each.startswith("\n") for each in headers):  # none needs its upper line
        headers = [each[1:] for each in headers]
    table.add_column(headers[0], overflow="fold", min_width=8)
    for each in headers[1:]:
        table.add_column(Text(each), justify="right", no_wrap=True)
    for number, name in enumerate(names):
        table.add_row(Text(name), *(column.cells[number] for column in columns))
    return table


def _by_metric(names: Sequence[str], lines: Sequence[_Column], width: int) -> Sequence[RenderableType]:
    """Lay out metrics as rows and tokenizers as columns, in as many tables as the width asks for."""
    left = max(cell_len(line.label) for line in lines) + _EDGES
    columns = [
        max(header_width(name), *(line.cells[number].cell_len for line in lines)) for number, name in enumerate(names)
    ]
    if left + max(columns) + _GAP > width:
        return [
            text
            for number, name in enumerate(names)
            for text in listed(f"\n{name}", ((line.label, line.cells[number]) for line in lines))
        ]
    tables: list[RenderableType] = []
    for part in folded(columns, width - left):
        table = new_table()
        table.add_column("", no_wrap=True)
        for number in part:
            table.add_column(Text(header(names[number])), justify="right", no_wrap=True)
        for line in lines:
            table.add_row(Text(line.label), *(line.cells[number] for number in part))
        tables.append(table)
    return tables


class _Matrix:
    """Show one metric, inputs by tokenizers, in as many tables as the width asks for."""

    def __init__(self, comparison: Comparison, metric: Metric) -> None:
        self._comparison = comparison
        self._metric = metric

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = (*self._comparison.rows, self._comparison.total)
        tokenizers = short_names(self._comparison.tokenizers)
        cells = min(_NAME_CELLS, max(12, options.max_width // 3))
        names = [ending(harmless(row.name), cells) for row in rows]
        values = self._values(rows)
        left = max(5, *map(cell_len, names)) + _EDGES
        left += max(5, *(len(whole(row.byte_count)) for row in rows)) + _GAP
        columns = [
            max(header_width(name), *(line[number].cell_len for line in values))
            for number, name in enumerate(tokenizers)
        ]
        label = self._metric.label
        yield Text(f"\n{label[:1].upper()}{label[1:]} by input", style="bold")
        if left + max(columns) + _GAP > options.max_width:
            for name, row, line in zip(names, rows, values, strict=True):
                heading = f"{name}, {count(row.byte_count, 'byte')}"
                yield from listed(heading, zip(tokenizers, line, strict=True))
            yield from self._marks()
            return
        for part in folded(columns, options.max_width - left):
            table = new_table()
            table.add_column("input", no_wrap=True)
            table.add_column("bytes", justify="right", no_wrap=True)
            for number in part:
                table.add_column(Text(header(tokenizers[number])), justify="right", no_wrap=True)
            for place, (name, row, line) in enumerate(zip(names, rows, values, strict=True)):
                if place == len(rows) - 1:
                    table.add_section()
                table.add_row(Text(name), whole(row.byte_count), *(line[number] for number in part))
            yield table
        yield from self._marks()

    def _marks(self) -> list[Text]:
        """Describe what the marks mean: the inputs are more comparisons than all together."""
        rows = self._comparison.rows
        is_marked = self._metric.name == "ratio" and any(each for row in rows for each in differences_of(row))
        return [Text(meaning_of_marks(rows))] if is_marked else []

    def _values(self, rows: Sequence[Row]) -> list[list[Text]]:
        """Write the values of each row, all with room for a mark if any has one."""
        digits = digits_of(rows)
        lines = [metric_cells(row, self._metric, digits) for row in rows]
        width = max(len(cell.doubt + cell.mark) for cells in lines for cell in cells)
        return [[_text_of(cell, "", (cell.doubt + cell.mark).ljust(width)) for cell in cells] for cells in lines]


def _source_line(comparison: Comparison) -> str:
    rows = comparison.rows
    source = harmless(rows[0].name) if len(rows) == 1 else count(len(rows), "input")
    return f"{source}: {sums(comparison)}"


def _two_lines(label: str) -> str:
    """Break a header after its slash, or at the space nearest to its middle; the last line is the full one.

    >>> _two_lines("bytes/token"), _two_lines("MB/s"), _two_lines("words in several")
    ('bytes/\\ntoken', '\\nMB/s', 'words in\\nseveral')
    """
    if "/" in label and len(label) > 8:
        return label.replace("/", "/\n", 1)
    spaces = [place for place, character in enumerate(label) if character == " "]
    if not spaces or len(label) <= 10:
        return f"\n{label}"
    middle = min(spaces, key=lambda place: abs(2 * place - len(label)))
    return f"{label[:middle]}\n{label[middle + 1 :]}"


def _passage(names: Sequence[str], passage: Passage, numbered: bool) -> RenderableType:
    """Show one text as each tokenizer cuts it."""
    parts: list[RenderableType] = []
    for name, segmentation in zip(names, passage.segmentations, strict=True):
        heading = f"\n{name}: {count(segmentation.token_count, 'token')}"
        parts.append(Text(heading, style="bold"))
        parts.append(TokenView(segmentation, totals=False))
    where = f"\n{harmless(passage.source)}"
    if numbered:
        where += f", document {whole(passage.document + 1)}"
    return Group(Text(where, style="bold"), *parts)
