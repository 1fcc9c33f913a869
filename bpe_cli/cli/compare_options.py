"""What ``bpe compare`` is asked to show and to check: the options and their meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from bpe_cli.cli import options
from bpe_cli.cli.output_checks import check_kept, check_outputs
from bpe_cli.cli.parameters import Option
from bpe_cli.cli.write_page import check_page_names
from bpe_cli.errors import UsageError
from bpe_cli.sinks.naming import TEXT, check_name, read_name
from bpe_cli.support.failures import every

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.changes import Limit
    from bpe_cli.reports.comparison.checks import Condition
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

_CHECKS = "Checks (status 1)"
_OUTPUT = "Output"

Metrics = Annotated[
    list[str] | None,
    Option(
        "--metric", metavar="NAME", rich_help_panel=_OUTPUT,
        help="What to show, and what --max-regression judges; all for all but speed. Can be repeated.",
    ),
]  # fmt: skip
Speed = Annotated[
    bool,
    Option("--speed", rich_help_panel=_OUTPUT, help="Show MB/s too, which takes time and differs from run to run."),
]
Baseline = Annotated[
    str | None,
    Option(
        "--baseline", metavar="TOKENIZER", rich_help_panel="Tokenizer", show_default="the first -t",
        help="What the others are compared with; listed first.",
    ),
]  # fmt: skip
Json = Annotated[bool, Option("--json", help="Print one JSON object with a schema field.", rich_help_panel=_OUTPUT)]
Markdown = Annotated[bool, Option("--markdown", help="Print Markdown, for a pull request.", rich_help_panel=_OUTPUT)]
Csv = Annotated[
    bool,
    Option(
        "--csv", rich_help_panel=_OUTPUT,
        help="Print CSV: all metrics, a row per input and tokenizer; the last input is total.",
    ),
]  # fmt: skip
FailIf = Annotated[
    list[str] | None,
    Option(
        "--fail-if", metavar="CONDITION", rich_help_panel=_CHECKS,
        help="Fail if this is true of a tokenizer: 'bytes_per_token < 4' on all inputs together, 'any: "
        "bytes_per_token < 4' on one of them, 'de.txt: ...' on that one. Can be repeated.",
    ),
]  # fmt: skip
Against = Annotated[
    str | None,
    Option(
        "--against", metavar="REPORT", rich_help_panel=_CHECKS,
        help="Show what has changed since a report that --json made of the same texts.",
    ),
]  # fmt: skip
Output = Annotated[
    str | None,
    Option(
        "--output", "-o", metavar="OUT", show_default="stdout", rich_help_panel=_OUTPUT,
        help="Write to a file; with --html, - prints the tables too.",
    ),
]  # fmt: skip
MaxRegression = Annotated[
    list[str] | None,
    Option(
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
    ) -> Wanted:
        """Read the options.

        Raises:
            UsageError: They exclude each other, or one says nothing that can be asked.
            InputError: The stored report is none.
            OutputError: The output cannot be written.
        """
        from bpe_cli.reports.comparison.changes import Limit
        from bpe_cli.reports.comparison.checks import Condition
        from bpe_cli.reports.comparison.metric_names import ALL, USUAL, metrics_named
        from bpe_cli.reports.comparison.metrics import METRICS

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
    from bpe_cli.reports.comparison.stored import StoredComparison
    from bpe_cli.support.messages import show_path

    name = show_path(path)
    return name, StoredComparison.parse(options.contents_of(path, _LARGEST_REPORT), name)
