"""What ``bpe compare`` is asked to show and to check: the options, their meaning, and what is done with the report."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bpe_cli.cli import options
from bpe_cli.cli.console import PLAIN_WIDTH, json_text, note, stdout_console
from bpe_cli.cli.pages import check_outputs, write_page
from bpe_cli.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bpe_cli.reports.comparison.changes import Changes, Limit
    from bpe_cli.reports.comparison.checks import Check, Condition
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.metrics import Metric
    from bpe_cli.reports.comparison.stored import StoredComparison

Form = Literal["tables", "json", "markdown", "csv"]

SEGMENTED_INPUTS = 4
"""Short texts are shown token by token when there are at most so many inputs: a folder's would bury the table."""

NAMED_FAILURES = 5
"""How many failures a message names."""

_LARGEST_REPORT = 1 << 28

_CHECKS = "Checks (status 1)"
_OUTPUT = "Output"

Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", metavar="NAME", rich_help_panel=_OUTPUT,
        help="What to show, and what --max-regression judges; all for all but speed. Can be repeated.",
    ),
]  # fmt: skip
Speed = Annotated[
    bool,
    typer.Option(
        "--speed", rich_help_panel=_OUTPUT, help="Show MB/s too, which takes time and differs from run to run."
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline", metavar="TOKENIZER", rich_help_panel="Tokenizer", show_default="the first -t",
        help="What the others are compared with; listed first.",
    ),
]  # fmt: skip
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object with a schema field.", rich_help_panel=_OUTPUT)
]
Markdown = Annotated[
    bool, typer.Option("--markdown", help="Print Markdown, for a pull request.", rich_help_panel=_OUTPUT)
]
Csv = Annotated[
    bool, typer.Option("--csv", help="Print CSV: a row per input and tokenizer, all metrics.", rich_help_panel=_OUTPUT)
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if", metavar="CONDITION", rich_help_panel=_CHECKS,
        help="Fail if this is true of a tokenizer: 'bytes_per_token < 4' on all inputs together, 'any: "
        "bytes_per_token < 4' on one of them, 'de.txt: ...' on that one. Can be repeated.",
    ),
]  # fmt: skip
Against = Annotated[
    str | None,
    typer.Option(
        "--against", metavar="REPORT", rich_help_panel=_CHECKS,
        help="Show what has changed since a report that --json made of the same texts.",
    ),
]  # fmt: skip
MaxRegression = Annotated[
    list[str] | None,
    typer.Option(
        "--max-regression", metavar="PERCENT", rich_help_panel=_CHECKS,
        help="Fail if a metric (--metric; tokens) has become worse by more than 1%, say, on an input or on all "
        "together: than in the report of --against, or else than with the baseline. 'total: 1%' looks at all "
        "together only. Can be repeated.",
    ),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for, read and checked before the work begins.

    Attributes:
        form: How the report is written.
        output: The file it goes to; None for stdout.
        html: The file of a page, ``-`` for stdout; None for no page.
        metrics: What is shown of each tokenizer.
        by_input: What is shown of each input; empty for the first of ``metrics``.
        conditions: What must not be true.
        limits: By how much nothing may have become worse.
        against: The name of a stored report, and what is in it.
        judged: What is compared with that report, or with the baseline.
    """

    form: Form
    output: str | None
    html: str | None
    metrics: tuple[Metric, ...]
    by_input: tuple[Metric, ...]
    conditions: tuple[Condition, ...]
    limits: tuple[Limit, ...]
    against: tuple[str, StoredComparison] | None
    judged: tuple[Metric, ...]

    @classmethod
    def of(
        cls,
        *,
        json: bool,
        markdown: bool,
        csv: bool,
        html: str | None,
        output: str | None,
        metric: Sequence[str],
        speed: bool,
        fail_if: Sequence[str],
        against: str | None,
        max_regression: Sequence[str],
    ) -> Wanted:
        """Read the options.

        Raises:
            UsageError: They exclude each other, or one says nothing that can be asked.
            InputError: The stored report is none.
            OutputError: The output cannot be written.
        """
        from bpe_cli.reports.comparison.changes import Limit
        from bpe_cli.reports.comparison.checks import Condition
        from bpe_cli.reports.comparison.choosing import ALL, USUAL, metrics_named
        from bpe_cli.reports.comparison.metrics import METRICS

        forms: dict[Form, bool] = {"json": json, "markdown": markdown, "csv": csv}
        chosen = [form for form, wanted in forms.items() if wanted]
        if len(chosen) > 1:
            raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
        named = [name for name in metric if name != ALL]
        timed = [each.name for each in METRICS.values() if each.kind == "speed"] if speed else []
        limits = tuple(map(Limit.parse, max_regression))
        wanted = cls(
            chosen[0] if chosen else "tables",
            output,
            html,
            metrics_named([*(metric or USUAL), *timed]),
            metrics_named(named),
            tuple(map(Condition.parse, fail_if)),
            limits,
            None if against is None else _stored(against),
            tuple(each for each in metrics_named(metric or ["tokens"]) if each.better or each.name in named),
        )
        if output is not None and against is not None and os.path.exists(output) and os.path.samefile(output, against):
            raise UsageError(
                "-o would replace the report of --against, also when a check fails",
                hint="write to another file, and move it there when all is well",
            )
        taken = f"--{chosen[0]}" if chosen and output is None else None
        check_outputs([("-o", output), ("--html", html)], stdout_taken=taken)
        return wanted

    @property
    def checked(self) -> str:
        """An option that asks something of inputs; empty if there is none."""
        asked = {"--fail-if": self.conditions, "--against": self.against, "--max-regression": self.limits}
        return next((option for option, value in asked.items() if value), "")

    @property
    def timed(self) -> bool:
        """Whether something asks for speed."""
        asked = (*self.metrics, *(condition.metric for condition in self.conditions))
        return any(metric.kind == "speed" for metric in asked)

    def check_inputs(self, names: Sequence[str]) -> None:
        """Make sure that there are the inputs that are named.

        Raises:
            UsageError: One is not.
        """
        from bpe_cli.reports.comparison.checks import check_scope

        scopes = [(each.scope, each.text) for each in self.conditions]
        scopes += [(each.scope, each.text) for each in self.limits]
        for scope, text in scopes:
            check_scope(scope, text, names)

    def finish(self, report: Comparison, color: options.Color, quiet: bool) -> None:
        """Show a report, and fail if a check does.

        Raises:
            CheckFailed: It does.
            UsageError, InputError: There is nothing to compare with.
            OutputError: The output cannot be written.
        """
        from bpe_cli.views.comparison.changes_table import not_compared

        changes = self._changes(report)
        checks = [condition.check(report) for condition in self.conditions]
        checks += [limit.check(changes) for limit in self.limits if changes is not None]
        if self.html is not None:
            from bpe_cli.views.page.comparison import comparison_page

            write_page(self.html, comparison_page(report), quiet)
        if self.form == "tables" and self.output is None:
            if self.html is None:
                stdout_console(color).print(self._tables(report, changes))
        else:
            self._write(self._text(report, changes, checks, color))
            for line in not_compared(changes) if changes else ():
                note(f"note: {line}", quiet=quiet)
        failures = [str(failure) for check in checks for failure in check.failures]
        if failures:
            more = len(failures) - NAMED_FAILURES
            raise CheckFailed("; ".join(failures[:NAMED_FAILURES]) + (f"; and {more:,} more" if more > 0 else ""))

    def _changes(self, report: Comparison) -> Changes | None:
        from bpe_cli.reports.comparison.changes import changes_from_baseline, changes_since
        from bpe_cli.reports.comparison.stored import StoredComparison

        if self.against is not None:
            name, stored = self.against
            return changes_since(StoredComparison.of(report), stored, self.judged, name)
        return changes_from_baseline(report, self.judged) if self.limits else None

    def _shown(self, report: Comparison) -> tuple[Metric, ...]:
        """Give what is shown: no ratio of the only tokenizer to itself, unless metrics were asked for."""
        from bpe_cli.reports.comparison.choosing import USUAL

        usual = tuple(metric.name for metric in self.metrics if metric.kind != "speed") == USUAL
        alone = len(report.tokenizers) == 1 and usual and not self.by_input
        return tuple(metric for metric in self.metrics if not alone or metric.name != "ratio")

    def _tables(self, report: Comparison, changes: Changes | None) -> RenderableType:
        from rich.console import Group

        from bpe_cli.views.comparison.extras import extras_view
        from bpe_cli.views.comparison.tables import comparison_view

        extras = extras_view(report)
        parts: list[RenderableType] = [] if extras is None else [extras]
        if report.rows or extras is None:
            passages = None if len(report.rows) <= SEGMENTED_INPUTS else 0
            measures = comparison_view(
                report,
                metrics=self._shown(report),
                by_input=self.by_input or None,
                changes=changes,
                passages=passages,
            )
            parts.insert(0, measures)
        return Group(*parts)

    def _text(self, report: Comparison, changes: Changes | None, checks: Sequence[Check], color: options.Color) -> str:
        """Write the report as it goes to a file or a program; in colour only if that was asked for."""
        if self.form == "json":
            from bpe_cli.views.comparison.as_json import comparison_json

            return json_text(comparison_json(report, changes=changes, checks=checks))
        if self.form == "csv":
            from bpe_cli.views.comparison.as_csv import comparison_csv

            return comparison_csv(report)
        if self.form == "markdown":
            from bpe_cli.views.comparison.as_markdown import comparison_markdown

            return comparison_markdown(report, metrics=self._shown(report), changes=changes, checks=checks)
        from rich.console import Console

        file = io.StringIO()
        wanted = color is options.Color.always
        console = Console(
            file=file, width=PLAIN_WIDTH, color_system="256" if wanted else None, force_terminal=wanted,
            no_color=not wanted, highlight=False,
        )  # fmt: skip
        console.print(self._tables(report, changes))
        return file.getvalue()

    def _write(self, text: str) -> None:
        from bpe_cli.sinks.atomic import open_stdout, write_file

        if self.output is not None:
            write_file(self.output, text.encode())
            return
        with open_stdout(sys.stdout.buffer) as out:
            out.write(text.encode())


def _stored(path: str) -> tuple[str, StoredComparison]:
    """Read a stored report; give its name for messages, and what is in it."""
    from bpe_cli.corpus.opening import show_path
    from bpe_cli.reports.comparison.stored import StoredComparison

    name = show_path(path)
    return name, StoredComparison.parse(options.contents_of(path, _LARGEST_REPORT), name)
