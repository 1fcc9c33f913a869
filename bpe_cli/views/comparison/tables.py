"""Lay out a comparison of tokenizers once: its tables are sheets, which a console, a page and Markdown write.

They read without colour and in 80 columns, and nothing is left out in fewer: what does not fit side by side goes
below. The best value of a metric is bold, and named under the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from bpe_cli.reports.comparison.comparison import USUAL, Metric, differences_of, metrics_named
from bpe_cli.views.blocks import Block, Blocks, Column, Heading, Line, Name, Sheet, Value, Words, numbers, text_column
from bpe_cli.views.comparison.values import (
    MetricCell,
    best_lines,
    certainty_text,
    changes_view,
    digits_of,
    left_out,
    meaning_of_marks,
    metric_cells,
    remarks,
    sums,
)
from bpe_cli.views.labels import (
    HEADER_CELLS,
    count,
    ending,
    fraction,
    full_names,
    header,
    header_width,
    short_names,
    whole,
)
from bpe_cli.views.sheets import EDGES, GAP, folded, listed
from bpe_cli.views.tokens import TokenView
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row
    from bpe_cli.views.blocks import Screen

PASSAGE_LIMIT = 4

MOST_ROWS = 20
"""How many inputs a table on the console shows without ``--full``."""

EXPLAINED = 5
"""Metrics that are shown besides the usual ones are explained below the table, if there are at most so many."""

_NAME_CELLS = 34


def comparison_view(
    comparison: Comparison,
    *,
    metrics: Sequence[Metric] | None = None,
    by_input: Sequence[Metric] | None = None,
    changes: Changes | None = None,
    passages: int | None = PASSAGE_LIMIT,
    full: bool = False,
) -> Blocks:
    """Show a comparison, and what has changed since another one.

    Args:
        comparison: What to show.
        metrics: What the table of tokenizers shows; None for ``USUAL``.
        by_input: What the tables of inputs show of each tokenizer; None for the first of ``metrics``.
        changes: What has changed.
        passages: How many short texts are shown token by token; None for all.
        full: Whether to show all inputs and all changes, however many.
    """
    chosen = metrics or metrics_named(USUAL)
    parts: list[Block | Blocks] = [_Summary(comparison, chosen)]
    if len(comparison.rows) > 1:
        parts.extend(_Matrix(comparison, metric, None if full else MOST_ROWS) for metric in by_input or chosen[:1])
    if changes is not None:
        parts.append(changes_view(changes, full=full))
    shown = comparison.passages[:passages]
    several = {passage.source for passage in comparison.passages if passage.document}
    names = short_names(comparison.tokenizers)
    parts.extend(_passage(names, passage, passage.source in several) for passage in shown)
    more = len(comparison.passages) - len(shown)
    if more and shown:
        parts.append(Line(f"and {count(more, 'more short text')}", style="italic"))
    return Blocks(*parts)


@dataclass(frozen=True)
class _Summary:
    """All inputs together: a line per tokenizer, or a line per metric where those are too many columns."""

    comparison: Comparison
    metrics: Sequence[Metric]

    def blocks(self, screen: Screen) -> Iterator[Block]:
        comparison, total = self.comparison, self.comparison.total
        names = short_names(comparison.tokenizers)
        full = [harmless(name) for name in comparison.tokenizers]
        yield Line(_source_line(comparison))
        columns = [_metric_values(total, metric) for metric in self.metrics]
        vocabulary = vocabulary_values(total)
        room = screen.width - EDGES - sum(column.width + GAP for column in columns)
        names_fit = min(max(map(cell_len, names)), HEADER_CELLS)
        if max(map(cell_len, full)) + vocabulary.width + GAP <= room:
            yield _by_tokenizer(full, [vocabulary, *columns])
        else:
            if names_fit <= room:
                fits = names_fit + vocabulary.width + GAP <= room
                yield _by_tokenizer(names, [vocabulary, *columns] if fits else columns)
            else:
                yield from _by_metric_in_parts(names, _lines(total, self.metrics, vocabulary), screen.width)
            yield from map(Line, full_names(comparison.tokenizers, names))
        yield from map(Line, self._meanings())
        yield from map(Line, remarks(comparison, self.metrics, names))
        yield from map(Line, best_lines(total, self.metrics, names))

    def _meanings(self) -> list[str]:
        """Return what metrics mean whose names do not say it."""
        rare = [each for each in self.metrics if each.name not in USUAL and each.kind != "speed"]
        return [f"{each.label}: {each.meaning}" for each in rare] if len(rare) <= EXPLAINED else []


def summary_sheet(comparison: Comparison, metrics: Sequence[Metric]) -> Sheet:
    """Lay out all inputs together: a line per tokenizer, however wide."""
    total = comparison.total
    columns = [vocabulary_values(total), *(_metric_values(total, metric) for metric in metrics)]
    return _by_tokenizer(comparison.tokenizers, columns)


class MetricValues:
    """The values of one metric, one per tokenizer.

    Attributes:
        label: What they are called.
        header: The same in two lines.
        cells: The values.
        title: What the metric means.
        width: The columns of the screen that they take under the header.
    """

    def __init__(self, label: str, cells: Sequence[Value], title: str = "") -> None:
        self.label = label
        self.header = _two_lines(label)
        self.cells = cells
        self.title = title
        self.width = max(map(cell_len, [*self.header.split("\n"), *map(str, cells)]))


def vocabulary_values(row: Row) -> MetricValues:
    """Return the sizes of the vocabularies."""
    return MetricValues("vocabulary", [Value(whole(measure.vocab_size)) for measure in row.measures])


def _metric_values(row: Row, metric: Metric) -> MetricValues:
    """Return a metric's values; ratios with interval and mark, in line with each other."""
    cells = metric_cells(row, metric)
    doubts = _aligned([each.doubt for each in cells])
    intervals = _aligned([each.interval for each in cells], right=True)
    marks = _aligned([each.mark for each in cells])
    return MetricValues(
        metric.label,
        [
            _value(cell, doubt, f"{interval and ' ' + interval}{mark and ' ' + mark}")
            for cell, doubt, interval, mark in zip(cells, doubts, intervals, marks, strict=True)
        ],
    )


def _aligned(parts: Sequence[str], *, right: bool = False) -> list[str]:
    """Write all as wide as the widest."""
    width = max(map(len, parts))
    return [part.rjust(width) if right else part.ljust(width) for part in parts]


def _value(cell: MetricCell, doubt: str, tail: str = "", small: tuple[str, ...] = ()) -> Value:
    return Value(cell.value + doubt, "best" if cell.is_best else "", tail, small)


def _lines(row: Row, metrics: Sequence[Metric], vocabulary: MetricValues) -> list[MetricValues]:
    """Return what a narrow table has as lines: there the ends of an interval have lines of their own."""
    lines = [vocabulary]
    for metric in metrics:
        cells = metric_cells(row, metric)
        doubts, marks = _aligned([each.doubt for each in cells]), _aligned([each.mark for each in cells])
        lines.append(MetricValues(metric.label, list(map(_value, cells, doubts, marks))))
        if any(cell.difference for cell in cells):
            for label, end in (("  low", "low"), ("  high", "high")):
                ends = ["" if each.difference is None else f"{getattr(each.difference, end):.{each.digits}f}"
                        for each in cells]  # fmt: skip
                lines.append(MetricValues(label, [Value(text + " " * len(marks[0])) for text in ends]))
    return lines


def _by_tokenizer(names: Sequence[str], columns: Sequence[MetricValues]) -> Sheet:
    headers = ["\ntokenizer", *(column.header for column in columns)]
    if all(each.startswith("\n") for each in headers):  # none needs its upper line
        headers = [each[1:] for each in headers]
    first, *others = map(Words, headers)
    sheet = Sheet(text_column(first, min_width=8), *numbers(*others))
    for number, name in enumerate(names):
        sheet.add_row(Name(name), *(column.cells[number] for column in columns))
    return sheet


def by_metric(names: Sequence[str], lines: Sequence[MetricValues], part: Iterable[int], first: Column) -> Sheet:
    """Lay out metrics as rows, and some of the tokenizers as columns, below a first column of labels."""
    part = list(part)
    rows = [(Value(line.label, title=line.title), *(line.cells[number] for number in part)) for line in lines]
    return Sheet(first, *numbers(*(Name(header(names[number])) for number in part)), rows=rows)


def _by_metric_in_parts(names: Sequence[str], lines: Sequence[MetricValues], width: int) -> Iterator[Block]:
    """Lay out metrics as rows in as many tables as the width asks for, or each tokenizer as lines."""
    left = max(cell_len(line.label) for line in lines) + EDGES
    columns = [
        max(header_width(name), *(cell_len(str(line.cells[number])) for line in lines))
        for number, name in enumerate(names)
    ]
    if left + max(columns) + GAP > width:
        for number, name in enumerate(names):
            yield from listed(f"\n{name}", ((line.label, line.cells[number]) for line in lines))
        return
    for part in folded(columns, width - left):
        yield by_metric(names, lines, part, Column(layout={"no_wrap": True}))


@dataclass(frozen=True)
class _Matrix:
    """One metric, up to so many inputs and the total by tokenizers, in as many tables as the width asks for."""

    comparison: Comparison
    metric: Metric
    most: int | None

    def blocks(self, screen: Screen) -> Iterator[Block]:
        inputs = self.comparison.rows
        rows = (*inputs[: self.most], self.comparison.total)
        tokenizers = short_names(self.comparison.tokenizers)
        cells = min(_NAME_CELLS, max(12, screen.width // 3))
        names = [ending(harmless(row.name), cells) for row in rows]
        values = self._values(rows)
        left = max(5, *map(cell_len, names)) + EDGES
        left += max(5, *(len(whole(row.byte_count)) for row in rows)) + GAP
        columns = [
            max(header_width(name), *(cell_len(str(line[number])) for line in values))
            for number, name in enumerate(tokenizers)
        ]
        label = self.metric.label
        yield Heading(f"{label[:1].upper()}{label[1:]} by input", apart=True)
        if left + max(columns) + GAP > screen.width:
            for name, row, line in zip(names, rows, values, strict=True):
                heading = f"{name}, {count(row.byte_count, 'byte')}"
                yield from listed(heading, zip(tokenizers, line, strict=True))
        else:
            sizes = [row.byte_count for row in rows]
            for part in folded(columns, screen.width - left):
                shown = [[line[number] for number in part] for line in values]
                yield _by_input([tokenizers[number] for number in part], names, sizes, shown)
        yield from left_out(len(inputs) + 1 - len(rows), "input")
        # The inputs are more comparisons than all together: what the marks mean differs.
        if self.metric.name == "ratio" and any(each for row in inputs for each in differences_of(row)):
            yield Line(meaning_of_marks(inputs))

    def _values(self, rows: Sequence[Row]) -> list[list[Value]]:
        """Return the values of each row, all with room for a mark if any has one.

        Ratios have the decimals that all inputs need, so that they are the same whether or not all are shown.
        """
        digits = digits_of((*self.comparison.rows, self.comparison.total))
        lines = [metric_cells(row, self.metric, digits) for row in rows]
        width = max(len(cell.doubt + cell.mark) for cells in lines for cell in cells)
        return [[_value(cell, "", (cell.doubt + cell.mark).ljust(width)) for cell in cells] for cells in lines]


def input_sheet(
    comparison: Comparison, metric: Metric, most: int | None = None, *, form: Literal["markdown", "page"]
) -> Sheet:
    """Lay out one metric of up to so many inputs, inputs by tokenizers, however wide.

    Markdown has the marks of ratios; a page has ratios and their certainty behind each value.
    """
    rows = (*comparison.rows[:most], comparison.total)
    values = []
    for row in rows:
        cells = metric_cells(row, metric)
        if form == "markdown":
            values.append([_value(cell, cell.doubt, cell.mark) for cell in cells])
            continue
        small = [
            (f"× {fraction(measure.ratio, cell.digits)}", *certainty_text(difference, cell.digits))
            for cell, measure, difference in zip(cells, row.measures, differences_of(row), strict=True)
        ]
        small[0] = small[0][1:]  # the ratio of the first one to itself
        values.append([_value(cell, cell.doubt, small=each) for cell, each in zip(cells, small, strict=True)])
    names: list[str] = [Name(row.name) for row in rows]
    if form == "markdown":
        names[-1] = "total"
    sizes = [row.byte_count for row in rows]
    return _by_input(short_names(comparison.tokenizers), names, sizes, values, right=form == "page")


def _by_input(
    tokenizers: Sequence[str], names: Sequence[str], sizes: Sequence[int], values: Sequence[Sequence[Value]],
    *, right: bool = False,
) -> Sheet:  # fmt: skip
    sheet = Sheet(
        Column("input", right, {"no_wrap": True}),
        *numbers("bytes", *(Name(header(name)) for name in tokenizers)),
        rows=[(name, whole(size), *line) for name, size, line in zip(names, sizes, values, strict=True)],
    )
    sheet.ends.add(len(sheet.rows) - 2)
    sheet.has_foot = True
    return sheet


def page_metrics(comparison: Comparison, row: Row, metrics: Sequence[Metric], *, vocabulary: bool = False) -> Sheet:
    """Lay out all metrics that have values for a page: a line for each, with its certainty."""
    lines = [vocabulary_values(row)] if vocabulary else []
    for metric in metrics:
        if metric_has_values(row, metric) and (metric.name != "ratio" or len(row.measures) > 1):
            cells = [
                _value(cell, cell.doubt, small=certainty_text(cell.difference, cell.digits))
                for cell in metric_cells(row, metric)
            ]
            lines.append(MetricValues(metric.label, cells, metric.meaning))
    names = short_names(comparison.tokenizers)
    return by_metric(names, lines, range(len(names)), Column(right=True))


def metric_has_values(row: Row, metric: Metric) -> bool:
    """Return whether a metric has a value for any tokenizer."""
    return any(metric.of(measure) is not None for measure in row.measures)


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


def _passage(names: Sequence[str], passage: Passage, numbered: bool) -> Blocks:
    """Show one text as each tokenizer cuts it."""
    where = (
        f"{harmless(passage.source)}, document {whole(passage.document + 1)}" if numbered else harmless(passage.source)
    )
    parts: list[Block] = [Heading(where, apart=True)]
    for name, segmentation in zip(names, passage.segmentations, strict=True):
        heading = f"{name}: {count(segmentation.token_count, 'token')}"
        parts += [Heading(heading, apart=True), TokenView(segmentation, totals=False)]
    return Blocks(*parts)
