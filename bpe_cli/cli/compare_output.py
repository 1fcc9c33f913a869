"""The output and check options of ``bpe compare``: what is shown, in which form and where."""

import io
import sys
from functools import partial

from bpe_cli.cli import options
from bpe_cli.cli.console import (
    PLAIN_WIDTH,
    Unpadded,
    check_page_name,
    note,
    print_blocks,
    stdout_console,
    write_page,
)
from bpe_cli.cli.options import Option
from bpe_cli.cli.pictures import PictureFile, outputs_of, picture_files, write_pictures
from bpe_cli.errors import CheckFailed, UsageError
from bpe_cli.jobs.files import STDOUT, check_outputs, write_output
from bpe_cli.results import ComparisonReport
from bpe_cli.sinks.naming import TEXT, check_name, read_name
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated, Literal
from bpe_cli.support.messages import every, listed
from bpe_cli.views.pictures import COMPARISON_PICTURES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from bpe_cli.jobs.compare import CheckedComparison
    from bpe_cli.reports.comparison.changes import Changes
    from bpe_cli.reports.comparison.checks import Condition, Limit
    from bpe_cli.reports.comparison.comparison import Comparison, Metric
    from bpe_cli.views.on_console import OnConsole

# What declares an option, by the panel of the help that it stands in.
_check_option = partial(Option, rich_help_panel="Checks (status 1)")

Form = Literal["tables", "json", "markdown", "latex", "csv"]

_ENDINGS: dict[Form, tuple[str, ...]] = {
    "json": (".json",),
    "csv": (".csv",),
    "markdown": (".md",),
    "latex": (".tex",),
    "tables": TEXT,
}
"""How files of each form are called; a name that says one asks for it."""

_OWN_OPTIONS = {".html": "--html", ".htm": "--html", ".svg": "--svg", ".png": "--png"}
"""The options that write what a name says and ``-o`` does not."""

_CALLED: dict[Form, str] = {
    "json": "JSON", "csv": "CSV", "markdown": "Markdown", "latex": "LaTeX", "tables": "tables as text",
}  # fmt: skip

SEGMENTED_INPUTS = 4
"""Short texts are shown token by token when there are at most so many inputs: a folder's would bury the table."""

NAMED_FAILURES = 5
"""How many failures a message names."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The options about the metrics."""

    metric: Annotated[
        list[str] | None,
        options.output_option(
            "--metric", metavar="NAME",
            help="A metric to show, and to check with --max-regression; all means all but speed. Can be repeated.",
        ),
    ] = None  # fmt: skip
    speed: Annotated[
        bool, options.output_option("--speed", help="Show MB/s too, which takes time and differs from run to run.")
    ] = False

    def judged(self) -> "tuple[Metric, ...]":
        """Return what is compared with a stored report, or with the baseline.

        Raises:
            UsageError: if there is no such metric.
        """
        from bpe_cli.reports.comparison.comparison import ALL, metrics_named

        names = self.metric or ["tokens"]
        asked = metrics_named(name for name in names if name != ALL)
        return tuple(each for each in metrics_named(names) if each.better or each in asked)


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    json: Annotated[bool, options.output_option("--json", help="Print one JSON object with a schema field.")] = False
    markdown: Annotated[bool, options.output_option("--markdown", help="Print Markdown, for a pull request.")] = False
    latex: Annotated[
        bool,
        options.output_option("--latex", help="Print the table of tokenizers as LaTeX (booktabs), for a paper."),
    ] = False
    csv: Annotated[
        bool,
        options.output_option(
            "--csv", help="Print CSV: all metrics, a row per input and tokenizer; the last input is total."
        ),
    ] = False
    html: options.Html = None
    svg: options.Svg = None
    png: options.Png = None
    plot: options.Plot = False
    full: Annotated[bool, options.output_option("--full", help="Show every row of the tables, however many.")] = False
    output: Annotated[
        str | None,
        options.output_option(
            "--output", "-o", metavar="OUT", show_default="stdout",
            help="Write to a file; with --html, --svg or --png, - prints the tables too.",
        ),
    ] = None  # fmt: skip

    @property
    def asked(self) -> str | None:
        """An option that asks for a report; None if there is none."""
        values = {
            "--json": self.json, "--markdown": self.markdown, "--latex": self.latex, "--csv": self.csv,
            "--html": self.html, "--svg": self.svg, "--png": self.png, "--plot": self.plot, "--full": self.full,
            "--output": self.output,
        }  # fmt: skip
        return next((option for option, value in values.items() if value), None)


@dataclass(frozen=True, slots=True)
class Checks:
    """The options about what is checked."""

    fail_if: Annotated[
        list[str] | None,
        _check_option(
            "--fail-if", metavar="CONDITION",
            help="Fail if this is true of a tokenizer: 'bytes_per_token < 4' on all inputs together, 'any: "
            "bytes_per_token < 4' on one of them, 'de.txt: ...' on that one. Can be repeated.",
        ),
    ] = None  # fmt: skip
    against: Annotated[
        str | None,
        _check_option(
            "--against", metavar="REPORT|LIBRARY",
            help="Show what has changed since a report that --json made of the same texts; with --ids, the library "
            "to compare with.",
        ),
    ] = None  # fmt: skip
    max_regression: Annotated[
        list[str] | None,
        _check_option(
            "--max-regression", metavar="PERCENT",
            help="Fail if a metric (of --metric, else tokens) is worse by more than this, for example 1%, than in the "
            "report of --against or, if there is none, than with the baseline: on any input, or on all together. "
            "'total: 1%' checks all together only. Can be repeated.",
        ),
    ] = None  # fmt: skip

    def conditions(self) -> "tuple[Condition, ...]":
        """Return what must not be true.

        Raises:
            UsageError: if a condition says nothing that can be asked.
        """
        from bpe_cli.reports.comparison.checks import Condition

        return tuple(every(Condition.parse, self.fail_if or ()))

    def limits(self) -> "tuple[Limit, ...]":
        """Return by how much nothing may have become worse.

        Raises:
            UsageError: if one is not a number of per cent.
        """
        from bpe_cli.reports.comparison.checks import Limit

        return tuple(every(Limit.parse, self.max_regression or ()))

    @property
    def asked(self) -> str | None:
        """An option that asks something of inputs; None if there is none."""
        values = {"--fail-if": self.fail_if, "--against": self.against, "--max-regression": self.max_regression}
        return next((option for option, value in values.items() if value), None)


@dataclass(frozen=True, slots=True)
class CompareOutput:
    """The requested output, read and checked before the work begins.

    Attributes:
        form: How the report is written.
        output: The file it goes to; None or ``-`` for stdout, where ``-`` asks for it beside a page.
        html: The file of a page, ``-`` for stdout; None for no page.
        pictures: The files of pictures.
        plot: Whether pictures are drawn below the tables.
        full: Whether tables show all their rows.
        metrics: What is shown of each tokenizer.
        by_input: What is shown of each input; empty for the first of ``metrics``.
    """

    form: Form
    output: str | None
    html: str | None
    pictures: tuple[PictureFile, ...]
    plot: bool
    full: bool
    metrics: "tuple[Metric, ...]"
    by_input: "tuple[Metric, ...]"

    @classmethod
    def of(
        cls, measured: Measured, written: Written, drawable: "Sequence[str]" = COMPARISON_PICTURES
    ) -> "CompareOutput":
        """Read the options; ``drawable`` are the pictures that there will be.

        Raises:
            UsageError: if options cannot be used together, or one asks for something that does not exist.
            OutputError: if the output cannot be written.
        """
        from bpe_cli.reports.comparison.comparison import ALL, METRICS, USUAL, metrics_named

        output, html, metric = written.output, written.html, measured.metric or ()
        forms: dict[Form, bool] = {
            "json": written.json, "markdown": written.markdown, "latex": written.latex, "csv": written.csv,
        }  # fmt: skip
        chosen = [form for form, is_given in forms.items() if is_given]
        if len(chosen) > 1:
            raise UsageError(f"--{chosen[0]} and --{chosen[1]} cannot be used together")
        if not chosen:
            chosen = [form for form, endings in _ENDINGS.items() if read_name(output).ending in endings]
        form = chosen[0] if chosen else "tables"
        own = _OWN_OPTIONS.get(read_name(output).ending)
        way_out = f"{own} {output} writes one" if own else None
        check_name("-o", output, _CALLED[form], (*_ENDINGS[form], *TEXT), way_out=way_out)
        check_page_name(html)
        if written.plot and form != "tables":
            raise UsageError(f"--plot draws below the tables, and {_CALLED[form]} has none", hint="ask for one of them")
        if not drawable and (asked := next((each for each in ("svg", "png", "plot") if getattr(written, each)), None)):
            raise UsageError(f"--{asked} draws inputs and --probe languages, and there is neither")
        pictures = picture_files(written.svg, written.png, drawable, COMPARISON_PICTURES)
        named = [name for name in metric if name != ALL]
        timed = [each.name for each in METRICS.values() if each.kind == "speed"] if measured.speed else []
        result = cls(
            form, output, html, pictures, written.plot, written.full,
            metrics_named([*(metric or USUAL), *timed]), metrics_named(named),
        )  # fmt: skip
        taken = f"--{chosen[0]}" if chosen and output is None else None
        check_outputs(result.outputs, stdout_taken=taken)
        return result

    @property
    def drawn(self) -> "Metric | None":
        """The metric of the pictures of inputs; None for the usual one."""
        return self.by_input[0] if self.by_input else None

    @property
    def outputs(self) -> tuple[tuple[str, str | None], ...]:
        """The options that name files to write, and the files."""
        return (("-o", self.output), ("--html", self.html), *outputs_of(self.pictures))


def show(output: CompareOutput, done: "CheckedComparison", screen: options.Screen) -> None:
    """Show a comparison, and fail if a check does.

    Raises:
        CheckFailed: if a requested check failed.
        OutputError: if the output cannot be written.
    """
    from bpe_cli.views.comparison.values import not_compared

    report, changes, checks = done.comparison, done.changes, done.checks
    if output.html is not None:
        from bpe_cli.views.page.comparison import comparison_page

        metrics = output.metrics if output.by_input else None
        page = comparison_page(report, metrics=metrics, changes=changes, checks=checks)
        write_page(output.html, page, screen.quiet)
    write_pictures(output.pictures, _Drawn(ComparisonReport(report), output.drawn), screen.quiet)
    written = output.html is not None or bool(output.pictures)
    shown = output.form == "tables" and (output.output == STDOUT or (output.output is None and not written))
    if shown:
        print_blocks(_tables(output, report, changes), stdout_console(screen.color))
    elif output.form != "tables" or output.output is not None:
        write_output(output.output, [_text(output, done, screen.color)], sys.stdout.buffer)
    if not shown:
        for line in not_compared(changes) if changes else ():
            note(f"note: {line}", quiet=screen.quiet)
    failures = [str(failure) for check in checks for failure in check.failures]
    if failures:
        raise CheckFailed(listed(failures, NAMED_FAILURES))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A comparison whose pictures show the metric that was asked for."""

    report: ComparisonReport
    metric: "Metric | None"

    def to_svg(self, name: str | None = None) -> str:
        return self.report.to_svg(name, metric=self.metric)

    def to_png(self, name: str | None = None) -> bytes:
        return self.report.to_png(name, metric=self.metric)


def _metrics(output: CompareOutput, report: "Comparison") -> "tuple[Metric, ...]":
    """Return the metrics to show: no ratio of a single tokenizer to itself, unless metrics were asked for."""
    from bpe_cli.reports.comparison.comparison import USUAL

    usual = tuple(metric.name for metric in output.metrics if metric.kind != "speed") == USUAL
    alone = len(report.tokenizers) == 1 and usual and not output.by_input
    return tuple(metric for metric in output.metrics if not alone or metric.name != "ratio")


def _tables(output: CompareOutput, report: "Comparison", changes: "Changes | None") -> "OnConsole":
    from bpe_cli.views.comparison.additions import additions_view
    from bpe_cli.views.comparison.tables import comparison_view
    from bpe_cli.views.on_console import OnConsole

    additions = additions_view(report, full=output.full)
    parts = [] if additions is None else [additions]
    if report.rows or additions is None:
        passages = None if len(report.rows) <= SEGMENTED_INPUTS else 0
        measures = comparison_view(
            report,
            metrics=_metrics(output, report),
            by_input=output.by_input or None,
            changes=changes,
            passages=passages,
            full=output.full,
        )
        parts.insert(0, measures)
    if output.plot:
        from bpe_cli.views.pictures.of_comparison import comparison_charts
        from bpe_cli.views.pictures.terminal import plots

        parts.append(plots(comparison_charts(report, output.drawn)))
    return OnConsole(*parts)


def _text(output: CompareOutput, done: "CheckedComparison", color: options.Color) -> str:
    """Write the report as it goes to a file or a program; in colour only if that was asked for."""
    report = ComparisonReport(done.comparison, done.changes, done.checks)
    if output.form == "json":
        return report.to_json()
    if output.form == "csv":
        from bpe_cli.views.comparison.files import comparison_csv

        return comparison_csv(done.comparison)
    if output.form == "markdown":
        return report.to_markdown(_metrics(output, done.comparison), full=output.full)
    if output.form == "latex":
        return report.to_latex(_metrics(output, done.comparison))
    from rich.console import Console

    file = io.StringIO()
    lines: Any = Unpadded(file)
    system: Literal["256"] | None = "256" if color == "always" else None
    console = Console(
        file=lines, width=PLAIN_WIDTH, color_system=system, force_terminal=bool(system), no_color=not system,
        highlight=False,
    )  # fmt: skip
    print_blocks(_tables(output, done.comparison, done.changes), console)
    return file.getvalue()
