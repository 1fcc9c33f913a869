"""The options of ``bpe compare``, in groups."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import options
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.jobs import compare as job
    from bpe_cli.jobs.tokenizers import TokenizerChoice

DEFAULT_TOKENIZERS = ["gpt2", "cl100k_base", "o200k_base"]

_CHECKS = "Checks (status 1)"
_OUTPUT = "Output"
_PANEL = "Probes and differences"


class Probe(StrEnum):
    """What tokenizers can be asked without a text of one's own."""

    languages = "languages"
    code = "code"
    data = "data"
    numbers = "numbers"
    all = "all"


@dataclass(frozen=True, slots=True)
class Compared:
    """The options about what is compared, and by which metrics."""

    tokenizer: Annotated[
        list[str] | None,
        Option(
            "--tokenizer",
            "-t",
            metavar="TOKENIZER",
            rich_help_panel="Tokenizer",
            show_default=", ".join(DEFAULT_TOKENIZERS),
            help="A file or folder, an encoding or a model; repeat it for each.",
        ),
    ] = None
    baseline: Annotated[
        str | None,
        Option(
            "--baseline", metavar="TOKENIZER", rich_help_panel="Tokenizer", show_default="the first -t",
            help="What the others are compared with; listed first.",
        ),
    ] = None  # fmt: skip
    metric: Annotated[
        list[str] | None,
        Option(
            "--metric", metavar="NAME", rich_help_panel=_OUTPUT,
            help="What to show, and what --max-regression judges; all for all but speed. Can be repeated.",
        ),
    ] = None  # fmt: skip
    speed: Annotated[
        bool,
        Option("--speed", rich_help_panel=_OUTPUT, help="Show MB/s too, which takes time and differs from run to run."),
    ] = False

    def choices(self, pattern: str | None) -> "tuple[TokenizerChoice, ...]":
        """Return the tokenizers, without loading them."""
        return tuple(options.choice_of(name, pattern) for name in self.tokenizer or DEFAULT_TOKENIZERS)


@dataclass(frozen=True, slots=True)
class Probes:
    """The options about what is compared besides texts."""

    probe: Annotated[
        list[Probe] | None,
        Option(
            "--probe", metavar="WHAT", rich_help_panel=_PANEL,
            help="Ask what languages, code, data, numbers or all of them cost; needs no INPUT. Can be repeated.",
        ),
    ] = None  # fmt: skip
    parallel: Annotated[
        list[str] | None,
        Option(
            "--parallel", metavar="FILE|LANG=FILE", rich_help_panel=_PANEL,
            help="Parallel texts for the languages: JSON lines with a key per language, or columns between tabs; or a "
            "file for each language, line by line the same (repeatable).",
        ),
    ] = None  # fmt: skip
    pivot: Annotated[
        str | None,
        Option(
            "--pivot", metavar="LANG", rich_help_panel=_PANEL, show_default="en, else the first",
            help="The language that others are compared with.",
        ),
    ] = None  # fmt: skip
    pairs: Annotated[
        str | None,
        Option(
            "--pairs", metavar="FOLDER", rich_help_panel=_PANEL,
            help="Objects for the data probe: each NAME.json with a NAME.yaml beside it. "
            "That both say the same is not checked.",
        ),
    ] = None  # fmt: skip
    overlap: Annotated[
        bool,
        Option(
            "--overlap", rich_help_panel=_PANEL,
            help="Compare vocabularies with the first one's; needs no INPUT.",
        ),
    ] = False  # fmt: skip
    diff: Annotated[
        bool,
        Option(
            "--diff", rich_help_panel=_PANEL,
            help="Show where tokenizers cut the inputs differently than the first, the most costly first.",
        ),
    ] = False  # fmt: skip
    diff_limit: Annotated[
        int | None,
        Option(
            "--diff-limit", metavar="N", min=1, rich_help_panel=_PANEL, show_default="10",
            help="How many differences --diff lists.",
        ),
    ] = None  # fmt: skip

    def names(self) -> "frozenset[job.Probe]":
        """Return the probes that are asked for; texts for a probe ask for it.

        Raises:
            UsageError: if there is a pivot, and no probe that it is for.
        """
        from bpe_cli.jobs.compare import PROBES

        words = (
            {each.value for each in self.probe or ()}
            | ({"languages"} if self.parallel else set())
            | ({"data"} if self.pairs is not None else set())
        )
        probes = frozenset(each for each in PROBES if each in words or "all" in words)
        if self.pivot is not None and "languages" not in probes:
            raise UsageError("--pivot is for --probe languages and --parallel")
        return probes

    @property
    def asked(self) -> str | None:
        """An option that asks for something besides texts; None if there is none."""
        values = {
            "--parallel": self.parallel,
            "--pairs": self.pairs is not None,
            "--probe": self.probe,
            "--overlap": self.overlap,
            "--diff": self.diff,
        }
        return next((option for option, value in values.items() if value), None)


@dataclass(frozen=True, slots=True)
class Written:
    """The options about what is written."""

    json: Annotated[
        bool, Option("--json", help="Print one JSON object with a schema field.", rich_help_panel=_OUTPUT)
    ] = False
    markdown: Annotated[
        bool, Option("--markdown", help="Print Markdown, for a pull request.", rich_help_panel=_OUTPUT)
    ] = False
    csv: Annotated[
        bool,
        Option(
            "--csv", rich_help_panel=_OUTPUT,
            help="Print CSV: all metrics, a row per input and tokenizer; the last input is total.",
        ),
    ] = False  # fmt: skip
    html: options.Html = None
    output: Annotated[
        str | None,
        Option(
            "--output", "-o", metavar="OUT", show_default="stdout", rich_help_panel=_OUTPUT,
            help="Write to a file; with --html, - prints the tables too.",
        ),
    ] = None  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checks:
    """The options about what is checked."""

    fail_if: Annotated[
        list[str] | None,
        Option(
            "--fail-if", metavar="CONDITION", rich_help_panel=_CHECKS,
            help="Fail if this is true of a tokenizer: 'bytes_per_token < 4' on all inputs together, 'any: "
            "bytes_per_token < 4' on one of them, 'de.txt: ...' on that one. Can be repeated.",
        ),
    ] = None  # fmt: skip
    against: Annotated[
        str | None,
        Option(
            "--against", metavar="REPORT", rich_help_panel=_CHECKS,
            help="Show what has changed since a report that --json made of the same texts.",
        ),
    ] = None  # fmt: skip
    max_regression: Annotated[
        list[str] | None,
        Option(
            "--max-regression", metavar="PERCENT", rich_help_panel=_CHECKS,
            help="Fail if a metric (--metric; tokens) has become worse by more than 1%, say, on an input or on all "
            "together: than in the report of --against, or else than with the baseline. 'total: 1%' looks at all "
            "together only. Can be repeated.",
        ),
    ] = None  # fmt: skip
