"""Write a comparison as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.comparison import USUAL, metrics_named
from bpe_cli.views.comparison import changes_table
from bpe_cli.views.comparison.additions import additions_view
from bpe_cli.views.comparison.values import (
    metric_cells,
    remarks,
    sums,
)
from bpe_cli.views.markdown import code, escaped, folded, strong, table, written
from bpe_cli.views.names import short_names
from bpe_cli.views.numbers import count, whole

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison, Metric, Row

MOST_LINES = 100
"""Lines of a table; GitHub takes a comment of 65,536 characters."""

OPEN_CHANGES = 10
"""Changes that are shown without unfolding them."""


def comparison_markdown(
    report: Comparison,
    *,
    metrics: Sequence[Metric] | None = None,
    changes: Changes | None = None,
    checks: Sequence[Check] = (),
) -> str:
    """Return the checks, the table of tokenizers, what has changed, and the inputs folded in.

    Args:
        report: The comparison.
        metrics: What is shown of each tokenizer, and the first of each input; None for ``choosing.USUAL``.
        changes: What has changed since another comparison.
        checks: What was checked.
    """
    metrics = metrics or metrics_named(USUAL)
    names = [code(name) for name in short_names(report.tokenizers)]
    source = code(report.rows[0].name) if len(report.rows) == 1 else count(len(report.rows), "input")
    found = additions_view(report)
    additions = "" if found is None else written(found)
    if additions and not report.rows:
        return f"### Tokenizers compared\n\n{additions}\n"
    parts = [f"### Tokenizers compared\n\n{source}: {sums(report)}"]
    if checks:
        parts.append("\n".join(_check(check) for check in checks))
    parts.append(_summary(report, metrics, [code(name) for name in report.tokenizers]))
    if lines := _remarks(report, metrics, names):
        parts.append(lines)
    if changes is not None:
        parts.append(_changes(changes))
    if len(report.rows) > 1:
        parts.append(_by_input(report, metrics[0], names))
    if additions:
        parts.append(folded("Probes, vocabularies, differences", additions))
    return "\n\n".join(parts) + "\n"


def _summary(report: Comparison, metrics: Sequence[Metric], names: Sequence[str]) -> str:
    rows = [[name, whole(each.vocab_size)] for name, each in zip(names, report.total.measures, strict=True)]
    for metric in metrics:
        for row, value in zip(rows, _cells(report.total, metric, intervals=True), strict=True):
            row.append(value)
    headers = ["tokenizer", "vocabulary", *(metric.label for metric in metrics)]
    return table(headers, [False] + [True] * (len(headers) - 1), rows)


def _cells(row: Row, metric: Metric, *, intervals: bool) -> list[str]:
    """Write the values of one metric, the best in bold."""
    shown = []
    for cell in metric_cells(row, metric):
        parts = [strong(cell.value, cell.is_best) + cell.doubt, cell.interval if intervals else "", cell.mark]
        shown.append(" ".join((parts[0], *(escaped(part) for part in parts[1:] if part))))
    return shown


def _remarks(report: Comparison, metrics: Sequence[Metric], names: Sequence[str]) -> str:
    """Describe what the values mean; in the lines only names are code, and all else is escaped."""
    marker = "\0"  # no harmless name has one, so that names are told from words
    lines = remarks(report, metrics, [f"{marker}{number}{marker}" for number in range(len(names))])
    written = [re.sub(f"{marker}(\\d+){marker}", lambda match: names[int(match[1])], escaped(line)) for line in lines]
    return "<br>\n".join(written)


def _check(check: Check) -> str:
    """Write what a check came to as an item of a list, with what it found below."""
    asked = f"{code(f'{check.option} {check.value!r}')}"
    if not check.failures:
        return f"- {asked}: passed"
    lines = [f"- {asked}: **failed**"]
    for each in check.failures[:MOST_LINES]:
        where = "" if each.source is None else f" on {code(each.source)}"
        lines.append(f"  - {code(each.tokenizer)}{where}: {escaped(each.statement)}")
    if len(check.failures) > MOST_LINES:
        lines.append(f"  - and {len(check.failures) - MOST_LINES:,} more")
    return "\n".join(lines)


def _changes(changes: Changes) -> str:
    found = changes_table.listed(changes)
    notes = "<br>\n".join(changes_table.notes(changes, code))
    heading = f"#### {changes_table.heading(changes, code)}"
    if not found:
        return "\n\n".join(each for each in (heading, "none", notes) if each)
    rows = [
        [
            *changes_table.cells(change, escaped(change.metric.name), code),
            strong(changes_table.verdict_text(change), changes_table.is_bad(change)),
        ]
        for change in found[:MOST_LINES]
    ]
    right = [False, False, False, True, True, True, False]
    shown = table(changes_table.COLUMNS, right, rows)
    if len(found) > MOST_LINES:
        shown += f"\n\nand {count(len(found) - MOST_LINES, 'more change')}"
    if len(found) > OPEN_CHANGES:
        shown = folded(f"{count(len(found), 'change')}, the worst first", shown)
    return "\n\n".join(each for each in (heading, shown, notes) if each)


def _by_input(report: Comparison, metric: Metric, names: Sequence[str]) -> str:
    rows = [
        [code(row.name), whole(row.byte_count), *_cells(row, metric, intervals=False)]
        for row in report.rows[:MOST_LINES]
    ]
    rows.append(["total", whole(report.total.byte_count), *_cells(report.total, metric, intervals=False)])
    shown = table(["input", "bytes", *names], [False] + [True] * (1 + len(names)), rows)
    if len(report.rows) > MOST_LINES:
        shown += f"\n\nand {count(len(report.rows) - MOST_LINES, 'more input')}"
    return folded(f"{metric.label} by input", shown)
