"""``bpe compare``: tokenizers side by side on the same texts."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import compare_options, options, write_page
from bpe_cli.cli.compare_output import CompareOutput, finish
from bpe_cli.cli.console import ConsoleListener, say_slow, say_unspelt
from bpe_cli.cli.inputs import inputs_of
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.failures import every

if TYPE_CHECKING:
    from bpe_cli.jobs.compare import Probe
    from bpe_cli.tokenizer import Tokenizer

EPILOG = "Ratios are ratios of sums. Exit status: 0 fine, 1 a check fails, 2 bad usage or input."

DEFAULT_TOKENIZERS = ["gpt2", "cl100k_base", "o200k_base"]


def run(
    inputs: options.Inputs = None,
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
    ] = None,
    baseline: compare_options.Baseline = None,
    metric: compare_options.Metrics = None,
    speed: compare_options.Speed = False,
    probe: compare_options.ProbeNames = None,
    parallel: compare_options.Parallel = None,
    pivot: compare_options.Pivot = None,
    pairs: compare_options.Pairs = None,
    overlap: compare_options.OverlapFlag = False,
    diff: compare_options.Diff = False,
    diff_limit: compare_options.DiffLimit = None,
    json: compare_options.Json = False,
    markdown: compare_options.Markdown = False,
    csv: compare_options.Csv = False,
    html: write_page.Html = None,
    output: compare_options.Output = None,
    fail_if: compare_options.FailIf = None,
    against: compare_options.Against = None,
    max_regression: compare_options.MaxRegression = None,
    text: options.Text = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    plain: options.Plain = False,
    field: options.Field = "text",
    special: options.SpecialInText = None,
    pattern: options.PatternName = None,
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    color: options.ColorWhen = options.Color.auto,
    quiet: options.Quiet = False,
) -> None:
    """Compare tokenizers: tokens, bytes and characters per token, and how each cuts short texts.

    [bold]Examples[/bold]

        bpe compare corpus.txt -t gpt2 -t o200k_base -t tokenizer.json

        bpe compare en.txt de.txt zh.txt -t mine.json -t gpt-4o --json -o report.json

        bpe compare -T "naïve Straße 東京" --html comparison.html

        bpe compare --probe languages --probe code -t gpt2 -t mine.json

        bpe compare corpus.txt -t gpt2 -t mine.json --overlap --diff

        bpe compare corpus/ -t tokenizer.json --fail-if 'bytes_per_token < 4'

        bpe compare corpus/ -t tokenizer.json --against report.json --max-regression 1% --markdown
    """
    from bpe_cli.corpus.source import TEXT_NAME
    from bpe_cli.jobs.compare import CompareOptions, compare
    from bpe_cli.reports.comparison.disagreements import SHOWN

    wanted = CompareOutput.of(
        json=json, markdown=markdown, csv=csv, html=html, output=output, metric=metric or (), speed=speed,
        fail_if=fail_if or (), against=against, max_regression=max_regression or (),
    )  # fmt: skip
    probes = _probes_of(probe, parallel, pairs, pivot)
    if diff_limit is not None and not diff:
        raise UsageError("--diff-limit is for --diff")
    besides = {
        "--parallel": parallel,
        "--pairs": pairs is not None,
        "--probe": probes,
        "--overlap": overlap,
        "--diff": diff,
    }
    asked = next((option for option, value in besides.items() if value), None)
    if csv and asked:
        raise UsageError(f"--csv holds what is measured of inputs, and {asked} is not", hint="--json holds both")
    if against == "-" and text is None and (not inputs or "-" in inputs):
        raise UsageError("--against - and the input would both read stdin")
    idle = not inputs and text is None and bool(probes or overlap) and not diff
    if idle and wanted.checked:
        raise UsageError(f"{wanted.checked} asks about inputs, and there is none", hint="name files, or - for stdin")
    source = None if idle else options.source_of(inputs, text, lines, jsonl, plain, field, block_size)
    wanted.check_kept((*(("a tokenizer", name) for name in tokenizer or ()), *_read_besides(parallel or (), pairs)))
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: compare counts special tokens as text, or with --special all")
    models = _models(tokenizer or DEFAULT_TOKENIZERS, baseline, pattern)
    if (overlap or diff) and len(models) < 2:
        option = "--diff" if diff else "--overlap"
        raise UsageError(f"{option} compares tokenizers with the first, and there is one", hint="add -t TOKENIZER")
    for model in models:
        say_slow(model.slow_patterns, quiet)
        say_unspelt(model, specials, quiet)
    found = None if source is None else inputs_of(source, quiet, wanted.outputs)
    if found is not None:
        wanted.check_inputs([TEXT_NAME] if text is not None else [item.plain_name for item in found.items])
    asked_for = CompareOptions(
        specials, options.threads_of(threads), wanted.timed, probes, tuple(parallel or ()), pivot, pairs, overlap,
        (diff_limit or SHOWN) if diff else None, plain,
    )  # fmt: skip
    finish(
        wanted, compare(models, source, asked_for, inputs=found, listener=ConsoleListener(quiet=quiet)), color, quiet
    )


def _probes_of(
    named: "list[compare_options.Probe] | None", parallel: list[str] | None, pairs: str | None, pivot: str | None
) -> "frozenset[Probe]":
    """Return the probes that are asked for; texts for a probe ask for it.

    Raises:
        UsageError: If there is a pivot, and no probe that it is for.
    """
    from bpe_cli.jobs.compare import PROBES

    words = (
        {each.value for each in named or ()}
        | ({"languages"} if parallel else set())
        | ({"data"} if pairs is not None else set())
    )
    probes = frozenset(each for each in PROBES if each in words or "all" in words)
    if pivot is not None and "languages" not in probes:
        raise UsageError("--pivot is for --probe languages and --parallel")
    return probes


def _read_besides(parallel: Sequence[str], pairs: str | None) -> list[tuple[str, str]]:
    """Return what messages call the files that are read besides the inputs, and their paths."""
    texts = [("the parallel texts", path) for each in parallel for path in {each, each.partition("=")[2]}]
    objects = os.listdir(pairs) if pairs is not None and os.path.isdir(pairs) else []
    return [*texts, *(("an object of --pairs", os.path.join(pairs or "", each)) for each in objects)]


def _models(names: list[str], baseline: str | None, pattern: str | None) -> "list[Tokenizer]":
    """Load the tokenizers, the baseline first, be it one of them (by whatever name) or one more."""
    models = every(lambda name: options.tokenizer_of(name, pattern), names)
    if baseline is None:
        return models
    first = models[names.index(baseline)] if baseline in names else options.tokenizer_of(baseline, pattern)
    place = next((number for number, model in enumerate(models) if model == first), None)
    return [first, *(model for number, model in enumerate(models) if number != place)]
