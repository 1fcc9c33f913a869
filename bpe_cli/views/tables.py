"""Show the report on a tokenizer and the comparison of several as tables.

They read without colour and in 80 columns; the best value of a row is bold, and named below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bpe_cli.views.colored import TokenView
from bpe_cli.views.numbers import ABSENT, count, fraction, percent, whole
from bpe_cli.views.visible import harmless, visible
from bpe_cli.views.writer import Folded

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from bpe_cli.reports.comparison import Comparison, Measure, Passage, Row
    from bpe_cli.reports.vocabulary_report import VocabularyReport
    from bpe_cli.usage import Fact

WIDTH = 100
"""Columns where stdout is no terminal."""

SPECIAL_LIMIT = 20
PASSAGE_LIMIT = 4
FACT_LIMIT = 60
FACT_CELLS = 300

_BAR_CELLS = 30
_NAME_CELLS = 34
_NARROW = 66

Metric = Literal["tokens", "bytes/token", "characters/token", "ratio"]
"""What the table of inputs shows."""

METRICS: tuple[Metric, ...] = ("tokens", "bytes/token", "characters/token", "ratio")


# -- a tokenizer ------------------------------------------------------------------------------------


def vocabulary_view(report: VocabularyReport, *, full: bool = False) -> RenderableType:
    """Show the report on a tokenizer; ``full`` lists all special tokens."""
    parts: list[RenderableType] = [_facts(report), Text()]
    if report.special_tokens:
        parts += [Text("Special tokens", style="bold"), *_special_tokens(report, full)]
    if report.length_bins:
        parts += [Text("Length of ordinary tokens in bytes", style="bold"), _lengths(report)]
    if report.longest:
        parts += [Text("Longest tokens", style="bold"), _longest(report)]
    if report.facts:
        parts += [Text("Settings in the file", style="bold"), *_stated(report, full)]
    return Group(*parts)


def _facts(report: VocabularyReport) -> Table:
    """List what is one value each."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")

    def add(label: str, value: str) -> None:
        table.add_row(Text(label), Text(value))

    add("name", harmless(report.name) if report.name else ABSENT)
    if report.format is not None:
        add("format", report.format)
    add("algorithm", report.algorithm)
    add("ordinary tokens", whole(report.ordinary_count))
    add("special tokens", whole(report.special_count))
    if report.merge_count is not None:
        add("merges", whole(report.merge_count))
    add("highest id", whole(report.highest_id))
    add("unused ids", _unused(report))
    for what, value in report.settings:
        add(what, harmless(value))
    for pattern in () if report.settings else report.patterns:
        speed = "" if pattern.fast else " (slow: run by the regex module)"
        add("split pattern", f"{pattern.name or 'unnamed'}{speed}")
        table.add_row("", Folded(harmless(pattern.regex)))
    if not report.settings:
        if not report.patterns:
            add("split pattern", "none: text is not split")
        add("prefix space", _yes(report.prefix_space))
        if report.ignore_merges is not None:
            add("ignore merges", _yes(report.ignore_merges))
    for what, value in report.usage:
        add(what, harmless(value))
    add("Unicode version", harmless(report.unicode_version) if report.unicode_version else "unknown")
    if report.bytes_without_token is not None:
        add("bytes without token", _bytes_missing(report.bytes_without_token))
    if report.bytes_without_token is not None or report.kinds.not_utf8:
        add("not UTF-8", f"{count(report.kinds.not_utf8, 'token')}, single bytes included")
    add("single bytes", whole(report.kinds.single_bytes))
    add("with leading space", whole(report.kinds.leading_space))
    add("white space only", whole(report.kinds.white_space))
    add("digits only", whole(report.kinds.digits))
    add("mean length", f"{fraction(report.mean_length)} bytes")
    if report.fingerprint is not None:
        add("fingerprint", harmless(report.fingerprint))
    return table


def _unused(report: VocabularyReport) -> str:
    """Name the unused ids."""
    if not report.unused_count:
        return "0"
    stretches = [f"{first}" if first == last else f"{first}–{last}" for first, last in report.unused_ranges]
    named = sum(last - first + 1 for first, last in report.unused_ranges)
    return f"{whole(report.unused_count)}: {', '.join(stretches)}{', …' if named < report.unused_count else ''}"


def _bytes_missing(missing: bytes) -> str:
    """Name the bytes without token, neighbours together."""
    if not missing:
        return "none: any text can be encoded"
    stretches: list[list[int]] = []
    for byte in missing:
        if stretches and stretches[-1][1] == byte - 1:
            stretches[-1][1] = byte
        else:
            stretches.append([byte, byte])
    names = (f"{first:02x}" if first == last else f"{first:02x}–{last:02x}" for first, last in stretches)
    return f"{whole(len(missing))}: {', '.join(names)}"


def _special_tokens(report: VocabularyReport, full: bool) -> list[RenderableType]:
    table = _table()
    table.add_column("id", justify="right", no_wrap=True)
    table.add_column("token", overflow="fold")
    table.add_column("found in text")
    shown = report.special_tokens if full else report.special_tokens[:SPECIAL_LIMIT]
    for token in shown:
        found = "when asked for" if token.special else "always"
        table.add_row(str(token.token_id), Text(visible(token.content)), found)
    more = len(report.special_tokens) - len(shown)
    return [table, Text(f"and {count(more, 'more special token')}\n", style="italic")] if more else [table]


def _stated(report: VocabularyReport, full: bool) -> list[RenderableType]:
    """List what the file states of itself, as protocol buffers are written as text."""
    shown = report.facts if full else report.facts[:FACT_LIMIT]
    lines: list[RenderableType] = [Folded(f"{harmless(name)}: {_literal(value, full)}") for name, value in shown]
    more = len(report.facts) - len(shown)
    return [Text(), *lines, *([Text(f"and {count(more, 'more setting')}", style="italic")] if more else [])]


def _literal(value: Fact, full: bool = True) -> str:
    """Write a value: texts in quotes, true and false in lower case.

    >>> [_literal(value) for value in ("a", True, 3, 0.5)]
    ['"a"', 'true', '3', '0.5']
    """
    if isinstance(value, str):
        cut = len(value) > FACT_CELLS and not full
        return f'"{harmless(value[:FACT_CELLS])}…"' if cut else f'"{harmless(value)}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _lengths(report: VocabularyReport) -> Table:
    table = _table()
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for each in report.length_bins:
        if each.highest is None:
            span = f"{each.lowest}+"
        else:
            span = f"{each.lowest}" if each.lowest == each.highest else f"{each.lowest}–{each.highest}"
        table.add_row(span, whole(each.tokens), percent(each.share), Text("█" * round(each.relative * _BAR_CELLS)))
    return table


def _longest(report: VocabularyReport) -> Table:
    table = _table()
    table.add_column("id", justify="right", no_wrap=True)
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("characters", justify="right", no_wrap=True)
    table.add_column("token", overflow="fold")
    for token in report.longest:
        shown = visible(token.content)
        short = shown if len(shown) <= 2 * _NAME_CELLS else f"{shown[: 2 * _NAME_CELLS]}…"
        table.add_row(str(token.token_id), whole(token.byte_count), whole(token.character_count), Text(short))
    return table


# -- several tokenizers -----------------------------------------------------------------------------


def comparison_view(
    comparison: Comparison, *, metric: Metric = "tokens", passages: int | None = PASSAGE_LIMIT
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
        metrics = METRICS if wide else tuple(metric for metric in METRICS if metric != "characters/token")
        table = _table()
        table.add_column("\ntokenizer", overflow="fold", min_width=8)
        if wide:
            table.add_column("\nvocabulary", justify="right", no_wrap=True)
        for metric in metrics:
            header = metric.replace("/", "/\n") if "/" in metric else f"\n{metric}"
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

    def __init__(self, comparison: Comparison, metric: Metric) -> None:
        self._comparison = comparison
        self._metric: Metric = metric

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
        yield Text(f"\n{self._metric.capitalize()} by input", style="bold")
        start = 0
        while start < len(columns):
            end, room = start, options.max_width - left
            while end < len(columns) and (end == start or columns[end] + 2 <= room):
                room -= columns[end] + 2
                end += 1
            yield self._table(names, rows, range(start, end))
            start = end

    def _table(self, names: Sequence[str], rows: Sequence[Row], tokenizers: range) -> Table:
        table = _table()
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


def _ending(name: str, cells: int) -> str:
    """Shorten a long name to its end, where the names of a folder's files differ.

    >>> _ending("a/very/long/path/to/the/folder/of/texts.txt", 34)
    '…/path/to/the/folder/of/texts.txt'
    """
    if cell_len(name) <= cells:
        return name
    kept = name
    while cell_len(kept) >= cells:
        kept = kept[1:]
    _, slash, whole_parts = kept.partition("/")
    return f"…{slash}{whole_parts}" if slash and whole_parts else f"…{kept}"


def _value(measure: Measure, metric: Metric) -> str:
    """Write one value."""
    if metric == "tokens":
        return whole(measure.token_count)
    if metric == "bytes/token":
        return fraction(measure.bytes_per_token)
    if metric == "characters/token":
        return fraction(measure.characters_per_token)
    return fraction(measure.ratio)


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


def _table() -> Table:
    return Table(box=box.SIMPLE, pad_edge=False)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
