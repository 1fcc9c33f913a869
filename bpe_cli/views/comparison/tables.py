"""Show a comparison of tokenizers as tables.

They read without colour and in 80 columns; the best value of a row is bold, and named below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bpe_cli.reports.comparison.metrics import METRICS, Metric
from bpe_cli.views.layout import ending as _ending
from bpe_cli.views.layout import table as new_table
from bpe_cli.views.numbers import count, fraction, whole
from bpe_cli.views.text.colored import TokenView
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row
    from bpe_cli.reports.comparison.measures import Measure

PASSAGE_LIMIT = 4

_NAME_CELLS = 34
_NARROW = 66

SHOWN = ("tokens", "bytes_per_token", "characters_per_token", "ratio")
"""The metrics of the table of tokenizers."""


def comparison_view(
    comparison: Comparison, *, metric: str = "tokens", passages: int | None = PASSAGE_LIMIT
) -> RenderableType:
    """Show a comparison.

    Args:
        comparison: What to show.
        metric: What the table of inputs shows of each tokenizer.
        passages: How many short texts are shown token by token; None for all.
    """
    parts: list[RenderableType] = [_Summary(comparison)]
    if len(comparison.rows) > 1:
        parts.append(_Matrix(comparison, metric))
    shown = comparison.passages[:passages]
    several = {passage.source for passage in comparison.passages if passage.document}
    parts.extend(_passage(comparison, passage, passage.source in several) for passage in shown)
    more = len(comparison.passages) - len(shown)
    if more and shown:
        parts.append(Text(f"and {count(more, 'more short text')}", style="italic"))
    return Group(*parts)


class _Summary:
    """Show all inputs together, a line per tokenizer; a narrow console leaves out two columns."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        comparison = self._comparison
        total = comparison.total
        names = [harmless(name) for name in comparison.tokenizers]
        wide = options.max_width >= _NARROW
        metrics = [METRICS[name] for name in SHOWN if wide or name != "characters_per_token"]
        table = new_table()
        table.add_column("\ntokenizer", overflow="fold", min_width=8)
        if wide:
            table.add_column("\nvocabulary", justify="right", no_wrap=True)
        for metric in metrics:
            header = metric.label.replace("/", "/\n") if "/" in metric.label else f"\n{metric.label}"
            table.add_column(header, justify="right", no_wrap=True)
        for number, (name, size, measure) in enumerate(zip(names, comparison.vocab_sizes, total.measures, strict=True)):
            best = "bold" if number in total.best else ""
            values = (Text(_value(measure, metric), style=best) for metric in metrics)
            table.add_row(Text(name), *([whole(size)] if wide else []), *values)
        single = len(comparison.rows) == 1
        source = harmless(comparison.rows[0].name) if single else count(len(comparison.rows), "input")
        counts = (
            count(total.document_count, "document"),
            count(total.byte_count, "byte"),
            count(total.character_count, "character"),
        )
        yield Text(f"{source}: {', '.join(counts)}")
        yield table
        if len(names) > 1:
            yield Text(f"ratio: tokens per token of {names[0]}")
        if total.best:
            yield Text(f"fewest tokens: {', '.join(names[number] for number in total.best)}")


class _Matrix:
    """Show inputs by tokenizers, in as many tables as the width asks for."""

    def __init__(self, comparison: Comparison, metric: str) -> None:
        self._comparison = comparison
        self._metric = METRICS[metric]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = (*self._comparison.rows, self._comparison.total)
        cells = min(_NAME_CELLS, max(12, options.max_width // 3))
        names = [_ending(harmless(row.name), cells) for row in rows]
        left = max(5, *map(cell_len, names)) + 2
        left += max(5, *(len(whole(row.byte_count)) for row in rows)) + 2
        columns = [
            max(min(cell_len(harmless(name)), 16), *(len(_value(row.measures[number], self._metric)) for row in rows))
            for number, name in enumerate(self._comparison.tokenizers)
        ]
        yield Text(f"\n{self._metric.label.capitalize()} by input", style="bold")
        start = 0
        while start < len(columns):
            end, room = start, options.max_width - left
            while end < len(columns) and (end == start or columns[end] + 2 <= room):
                room -= columns[end] + 2
                end += 1
            yield self._table(names, rows, range(start, end))
            start = end

    def _table(self, names: Sequence[str], rows: Sequence[Row], tokenizers: range) -> Table:
        table = new_table()
        table.add_column("input", no_wrap=True)
        table.add_column("bytes", justify="right", no_wrap=True)
        for number in tokenizers:
            header = Text(_ending(harmless(self._comparison.tokenizers[number]), 16))
            table.add_column(header, justify="right", max_width=16)
        for place, (name, row) in enumerate(zip(names, rows, strict=True)):
            last = place == len(rows) - 1
            if last:
                table.add_section()
            table.add_row(
                Text(name),
                whole(row.byte_count),
                *(
                    Text(_value(row.measures[number], self._metric), style="bold" if number in row.best else "")
                    for number in tokenizers
                ),
            )
        return table


def _value(measure: Measure, metric: Metric) -> str:
    """Write one value."""
    value = metric.of(measure)
    return whole(int(value)) if metric.kind == "count" and value is not None else fraction(value)


def _passage(comparison: Comparison, passage: Passage, numbered: bool) -> RenderableType:
    """Show one text as each tokenizer cuts it."""
    parts: list[RenderableType] = []
    for name, segmentation in zip(comparison.tokenizers, passage.segmentations, strict=True):
        heading = f"\n{harmless(name)}: {count(segmentation.token_count, 'token')}"
        parts.append(Text(heading, style="bold"))
        parts.append(TokenView(segmentation, totals=False))
    where = f"\n{harmless(passage.source)}"
    if numbered:
        where += f", document {whole(passage.document + 1)}"
    return Group(Text(where, style="bold"), *parts)
