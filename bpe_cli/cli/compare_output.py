"""Show what ``bpe compare`` found as it was asked for, write its files, and fail if a check does."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from bpe_cli.cli import options
from bpe_cli.cli.console import PLAIN_WIDTH, Unpadded, json_text, note, stdout_console
from bpe_cli.cli.output_checks import STDOUT
from bpe_cli.cli.write_page import write_page
from bpe_cli.errors import CheckFailed
from bpe_cli.support.messages import listed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bpe_cli.cli.compare_options import Wanted
    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Check
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.metrics import Metric

SEGMENTED_INPUTS = 4
"""Short texts are shown token by token when there are at most so many inputs: a folder's would bury the table."""

NAMED_FAILURES = 5
"""How many failures a message names."""


def finish(wanted: Wanted, report: Comparison, color: options.Color, quiet: bool) -> None:
    """Show a report, and fail if a check does.

    Raises:
        CheckFailed: It does.
        UsageError, InputError: There is nothing to compare with.
        OutputError: The output cannot be written.
    """
    from bpe_cli.views.comparison.changes_table import not_compared

    changes = _changes(wanted, report)
    checks = [condition.check(report) for condition in wanted.conditions]
    checks += [limit.check(changes) for limit in wanted.limits if changes is not None]
    if wanted.html is not None:
        from bpe_cli.views.page.comparison import comparison_page

        metrics = wanted.metrics if wanted.by_input else None
        write_page(wanted.html, comparison_page(report, metrics=metrics, changes=changes, checks=checks), quiet)
    shown = wanted.form == "tables" and (wanted.output == STDOUT or (wanted.output is None and wanted.html is None))
    if shown:
        stdout_console(color).print(_tables(wanted, report, changes))
    elif wanted.form != "tables" or wanted.output is not None:
        _write(wanted, _text(wanted, report, changes, checks, color))
    if not shown:
        for line in not_compared(changes) if changes else ():
            note(f"note: {line}", quiet=quiet)
    failures = [str(failure) for check in checks for failure in check.failures]
    if failures:
        raise CheckFailed(listed(failures, NAMED_FAILURES))


def _changes(wanted: Wanted, report: Comparison) -> Changes | None:
    from bpe_cli.reports.comparison.changes import changes_from_baseline, changes_since
    from bpe_cli.reports.comparison.stored import StoredComparison

    if wanted.against is not None:
        name, stored = wanted.against
        return changes_since(StoredComparison.of(report), stored, wanted.judged, name)
    return changes_from_baseline(report, wanted.judged) if wanted.limits else None


def _metrics(wanted: Wanted, report: Comparison) -> tuple[Metric, ...]:
    """Return what is shown: no ratio of the only tokenizer to itself, unless metrics were asked for."""
    from bpe_cli.reports.comparison.metric_names import USUAL

    usual = tuple(metric.name for metric in wanted.metrics if metric.kind != "speed") == USUAL
    alone = len(report.tokenizers) == 1 and usual and not wanted.by_input
    return tuple(metric for metric in wanted.metrics if not alone or metric.name != "ratio")


def _tables(wanted: Wanted, report: Comparison, changes: Changes | None) -> RenderableType:
    from rich.console import Group

    from bpe_cli.views.comparison.extras import extras_view
    from bpe_cli.views.comparison.tables import comparison_view

    extras = extras_view(report)
    parts: list[RenderableType] = [] if extras is None else [extras]
    if report.rows or extras is None:
        passages = None if len(report.rows) <= SEGMENTED_INPUTS else 0
        measures = comparison_view(
            report,
            metrics=_metrics(wanted, report),
            by_input=wanted.by_input or None,
            changes=changes,
            passages=passages,
        )
        parts.insert(0, measures)
    return Group(*parts)


def _text(
    wanted: Wanted, report: Comparison, changes: Changes | None, checks: Sequence[Check], color: options.Color
) -> str:
    """Write the report as it goes to a file or a program; in colour only if that was asked for."""
    if wanted.form == "json":
        from bpe_cli.views.comparison.as_json import comparison_json

        return json_text(comparison_json(report, changes=changes, checks=checks))
    if wanted.form == "csv":
        from bpe_cli.views.comparison.as_csv import comparison_csv

        return comparison_csv(report)
    if wanted.form == "markdown":
        from bpe_cli.views.comparison.as_markdown import comparison_markdown

        return comparison_markdown(report, metrics=_metrics(wanted, report), changes=changes, checks=checks)
    from rich.console import Console

    file = io.StringIO()
    lines: Any = Unpadded(file)
    system: Literal["256"] | None = "256" if color is options.Color.always else None
    console = Console(
        file=lines, width=PLAIN_WIDTH, color_system=system, force_terminal=bool(system), no_color=not system,
        highlight=False,
    )  # fmt: skip
    console.print(_tables(wanted, report, changes))
    return file.getvalue()


def _write(wanted: Wanted, text: str) -> None:
    from bpe_cli.sinks.atomic import open_stdout, write_file

    if wanted.output not in (None, STDOUT):
        write_file(wanted.output, text.encode())
        return
    with open_stdout(sys.stdout.buffer) as out:
        out.write(text.encode())
