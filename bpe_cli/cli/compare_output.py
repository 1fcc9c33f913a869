"""What of a comparison is shown and checked, in which form and where: read, carried out, and failed on."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bpe_cli.cli import options
from bpe_cli.cli.console import PLAIN_WIDTH, Unpadded, note, stdout_console
from bpe_cli.cli.output_checks import STDOUT, check_kept, check_outputs
from bpe_cli.cli.write_page import check_page_names, write_page
from bpe_cli.errors import CheckFailed, UsageError
from bpe_cli.results import ComparisonReport
from bpe_cli.sinks.naming import TEXT, check_name, read_name
from bpe_cli.support.failures import every
from bpe_cli.support.messages import listed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bpe_cli.reports.comparison.changes import Changes, Limit
    from bpe_cli.reports.comparison.checks import Check, Condition
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.metrics import Metric
    from bpe_cli.reports.comparison.stored import StoredComparison

Form = Literal["tables", "json", "markdown", "csv"]

_ENDINGS: dict[Form, tuple[str, ...]] = {
    "json": (".json",),
    "csv": (".csv",),
    "markdown": (".md",),
    "tables": TEXT,
}
"""How files of each form are called; a name that says one asks for it."""

_CALLED: dict[Form, str] = {"json": "JSON", "csv": "CSV", "markdown": "Markdown", "tables": "tables as text"}

_LARGEST_REPORT = 1 << 28

SEGMENTED_INPUTS = 4
"""Short texts are shown token by token when there are at most so many inputs: a folder's would bury the table."""

NAMED_FAILURES = 5
"""How many failures a message names."""


@dataclass(frozen=True, slots=True)
class CompareOutput:
    """What is asked for, read and checked before the work begins.

    Attributes:
        form: How the report is written.
        output: The file it goes to; None or ``-`` for stdout, where ``-`` asks for it beside a page.
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
    ) -> CompareOutput:
        """Read the options.

        Raises:
            UsageError: They exclude each other, or one says nothing that can be asked.
            InputError: The stored report is none.
            OutputError: The output cannot be written.
        """
        from bpe_cli.reports.comparison.changes import Limit
        from bpe_cli.reports.comparison.checks import Condition
        from bpe_cli.reports.comparison.metrics import ALL, METRICS, USUAL, metrics_named

        forms: dict[Form, bool] = {"json": json, "markdown": markdown, "csv": csv}
        chosen = [form for form, wanted in forms.items() if wanted]
        if len(chosen) > 1:
            raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
        if not chosen:
            chosen = [form for form, endings in _ENDINGS.items() if read_name(output).ending in endings]
        form = chosen[0] if chosen else "tables"
        check_name("-o", output, _CALLED[form], (*_ENDINGS[form], *TEXT))
        check_page_names(html=html)
        named = [name for name in metric if name != ALL]
        timed = [each.name for each in METRICS.values() if each.kind == "speed"] if speed else []
        limits = tuple(every(Limit.parse, max_regression))
        wanted = cls(
            form,
            output,
            html,
            metrics_named([*(metric or USUAL), *timed]),
            metrics_named(named),
            tuple(every(Condition.parse, fail_if)),
            limits,
            None if against is None else _stored(against),
            tuple(each for each in metrics_named(metric or ["tokens"]) if each.better or each.name in named),
        )
        wanted.check_kept([] if against is None else [("the report of --against", against)])
        taken = f"--{chosen[0]}" if chosen and output is None else None
        check_outputs([("-o", output), ("--html", html)], stdout_taken=taken)
        return wanted

    @property
    def outputs(self) -> list[tuple[str, str | None]]:
        """The options that name files to write, and the files."""
        return [("-o", self.output), ("--html", self.html)]

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

    def check_kept(self, read: Iterable[tuple[str, str]]) -> None:
        """Make sure that no output replaces what is read.

        Args:
            read: What a message calls it, and its path.

        Raises:
            UsageError: One would.
        """
        check_kept(self.outputs, read)

    def check_inputs(self, names: Sequence[str]) -> None:
        """Make sure that there are the inputs that are named.

        Raises:
            UsageError: One is not.
        """
        from bpe_cli.reports.comparison.checks import check_scope

        scopes = [(each.scope, each.text) for each in self.conditions]
        scopes += [(each.scope, each.text) for each in self.limits]
        every(lambda scoped: check_scope(*scoped, names), scopes)


def _stored(path: str) -> tuple[str, StoredComparison]:
    """Read a stored report; give its name for messages, and what is in it."""
    from bpe_cli.corpus.opening import read_whole
    from bpe_cli.reports.comparison.stored import StoredComparison
    from bpe_cli.support.messages import show_path

    name = show_path(path)
    return name, StoredComparison.parse(read_whole(path, stdin=sys.stdin.buffer, most=_LARGEST_REPORT), name)


def finish(wanted: CompareOutput, report: Comparison, color: options.Color, quiet: bool) -> None:
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


def _changes(wanted: CompareOutput, report: Comparison) -> Changes | None:
    from bpe_cli.reports.comparison.changes import changes_from_baseline, changes_since
    from bpe_cli.reports.comparison.stored import StoredComparison

    if wanted.against is not None:
        name, stored = wanted.against
        return changes_since(StoredComparison.of(report), stored, wanted.judged, name)
    return changes_from_baseline(report, wanted.judged) if wanted.limits else None


def _metrics(wanted: CompareOutput, report: Comparison) -> tuple[Metric, ...]:
    """Return what is shown: no ratio of the only tokenizer to itself, unless metrics were asked for."""
    from bpe_cli.reports.comparison.metrics import USUAL

    usual = tuple(metric.name for metric in wanted.metrics if metric.kind != "speed") == USUAL
    alone = len(report.tokenizers) == 1 and usual and not wanted.by_input
    return tuple(metric for metric in wanted.metrics if not alone or metric.name != "ratio")


def _tables(wanted: CompareOutput, report: Comparison, changes: Changes | None) -> RenderableType:
    from rich.console import Group

    from bpe_cli.views.comparison.additions import additions_view
    from bpe_cli.views.comparison.tables import comparison_view

    additions = additions_view(report)
    parts: list[RenderableType] = [] if additions is None else [additions]
    if report.rows or additions is None:
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
    wanted: CompareOutput, report: Comparison, changes: Changes | None, checks: Sequence[Check], color: options.Color
) -> str:
    """Write the report as it goes to a file or a program; in colour only if that was asked for."""
    found = ComparisonReport(report, changes, tuple(checks))
    if wanted.form == "json":
        return found.to_json()
    if wanted.form == "csv":
        from bpe_cli.views.comparison.as_csv import comparison_csv

        return comparison_csv(report)
    if wanted.form == "markdown":
        return found.to_markdown(_metrics(wanted, report))
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


def _write(wanted: CompareOutput, text: str) -> None:
    from bpe_cli.sinks.atomic import open_stdout, write_file

    if wanted.output not in (None, STDOUT):
        write_file(wanted.output, text.encode())
        return
    with open_stdout(sys.stdout.buffer) as out:
        out.write(text.encode())
