"""The options of ``bpe compare``: name, help, check and place in the help."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from bpe_cli.cli.parameters import Option

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
ProbeNames = Annotated[
    list[Probe] | None,
    Option(
        "--probe", metavar="WHAT", rich_help_panel=_PANEL,
        help="Ask what languages, code, data, numbers or all of them cost; needs no INPUT. Can be repeated.",
    ),
]  # fmt: skip
Parallel = Annotated[
    list[str] | None,
    Option(
        "--parallel", metavar="FILE|LANG=FILE", rich_help_panel=_PANEL,
        help="Parallel texts for the languages: JSON lines with a key per language, or columns between tabs; or a "
        "file for each language, line by line the same (repeatable).",
    ),
]  # fmt: skip
Pivot = Annotated[
    str | None,
    Option(
        "--pivot", metavar="LANG", rich_help_panel=_PANEL, show_default="en, else the first",
        help="The language that others are compared with.",
    ),
]  # fmt: skip
Pairs = Annotated[
    str | None,
    Option(
        "--pairs", metavar="FOLDER", rich_help_panel=_PANEL,
        help="Objects for the data probe: each NAME.json with a NAME.yaml beside it. "
        "That both say the same is not checked.",
    ),
]  # fmt: skip
OverlapFlag = Annotated[
    bool,
    Option(
        "--overlap", rich_help_panel=_PANEL,
        help="Compare vocabularies with the first one's; needs no INPUT.",
    ),
]  # fmt: skip
Diff = Annotated[
    bool,
    Option(
        "--diff", rich_help_panel=_PANEL,
        help="Show where tokenizers cut the inputs differently than the first, the most costly first.",
    ),
]  # fmt: skip
DiffLimit = Annotated[
    int | None,
    Option(
        "--diff-limit", metavar="N", min=1, rich_help_panel=_PANEL, show_default="10",
        help="How many differences --diff lists.",
    ),
]  # fmt: skip
