"""``bpe compare``: tokenizers side by side on the same texts."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from bpe_cli.cli import compare_extras, compare_options, options, write_page
from bpe_cli.cli.compare_output import finish
from bpe_cli.cli.console import note, progress, say_slow, say_unspelt
from bpe_cli.cli.inputs import inputs_of
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import UsageError
from bpe_cli.support.failures import every

if TYPE_CHECKING:
    from collections.abc import Callable

    from bpe_cli.corpus import Input, Inputs, Source
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer

EPILOG = "Ratios are ratios of sums. Exit status: 0 fine, 1 a check fails, 2 bad usage or input."

DEFAULT_TOKENIZERS = ["gpt2", "cl100k_base", "o200k_base"]

_TEXT = "text"
"""What the text of -T is called."""


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
    probe: compare_extras.ProbeNames = None,
    parallel: compare_extras.Parallel = None,
    pivot: compare_extras.Pivot = None,
    pairs: compare_extras.Pairs = None,
    overlap: compare_extras.OverlapFlag = False,
    diff: compare_extras.Diff = False,
    diff_limit: compare_extras.DiffLimit = None,
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
    from bpe_cli.reports.comparison.compare import compare
    from bpe_cli.reports.comparison.provenance import Digests, Settings, identified

    wanted = compare_options.Wanted.of(
        json=json, markdown=markdown, csv=csv, html=html, output=output, metric=metric or (), speed=speed,
        fail_if=fail_if or (), against=against, max_regression=max_regression or (),
    )  # fmt: skip
    extras = compare_extras.Extras.of(probe, parallel, pivot, pairs, overlap, diff, diff_limit, plain)
    if csv and extras.asked:
        raise UsageError(f"--csv holds what is measured of inputs, and {extras.asked} is not", hint="--json holds both")
    if against == "-" and text is None and (not inputs or "-" in inputs):
        raise UsageError("--against - and the input would both read stdin")
    idle = extras.is_enough(inputs, text)
    if idle and wanted.checked:
        raise UsageError(f"{wanted.checked} asks about inputs, and there is none", hint="name files, or - for stdin")
    source = None if idle else options.source_of(inputs, text, lines, jsonl, plain, field, block_size)
    wanted.check_kept((*(("a tokenizer", name) for name in tokenizer or ()), *extras.read_files))
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: compare counts special tokens as text, or with --special all")
    models = _models(tokenizer or DEFAULT_TOKENIZERS, baseline, pattern)
    for model in models:
        say_slow(model.slow_patterns, quiet)
        say_unspelt(model, specials, quiet)
    digests = Digests()
    if source is None:
        report = compare(models, (), specials=specials)
    else:
        resolved = inputs_of(source, quiet, wanted.outputs)
        wanted.check_inputs([_TEXT] if text is not None else [_name_of(item) for item in resolved.items])
        with progress(resolved.total_bytes, "comparing", quiet=quiet, printing=False) as advance:
            entries = digests.watch(_each_input(source, resolved, quiet, advance))
            report = compare(
                models,
                extras.watched(entries, len(resolved.items)),
                specials=specials,
                threads=options.threads_of(threads),
                speed=wanted.timed,
            )
    report = extras.added(report, models, specials, options.threads_of(threads))
    documents = source.documents if source else "whole"
    settings = Settings(documents, field if jsonl else None, specials if specials == "all" else tuple(specials))
    finish(wanted, identified(report, models, digests, settings), color, quiet)


def _models(names: list[str], baseline: str | None, pattern: str | None) -> "list[Tokenizer]":
    """Load the tokenizers, the baseline first, be it one of them (by whatever name) or one more."""
    models = every(lambda name: options.tokenizer_of(name, pattern), names)
    if baseline is None:
        return models
    first = models[names.index(baseline)] if baseline in names else options.tokenizer_of(baseline, pattern)
    place = next((number for number, model in enumerate(models) if model == first), None)
    return [first, *(model for number, model in enumerate(models) if number != place)]


def _name_of(item: "Input") -> str:
    """Name an input by its path as it is: the views write it harmlessly, and JSON keeps its bytes."""
    return item.name if item.path == "-" else item.path


def _each_input(
    source: "Source", found: "Inputs", quiet: bool, advance: "Callable[[int], None]"
) -> "Iterator[tuple[str, Iterable[Block]]]":
    """Yield the name and the blocks of each input."""
    from bpe_cli.corpus import Inputs, read_blocks

    def blocks(part: "Source", items: "Inputs") -> "Iterator[Block]":
        return read_blocks(
            part, stdin=sys.stdin.buffer, inputs=items, on_bytes=advance,
            on_note=lambda message: note(f"note: {message}", quiet=quiet),
        )  # fmt: skip

    if source.text is not None:
        yield _TEXT, blocks(source, found)
    for item in found.items:
        yield _name_of(item), blocks(replace(source, paths=(item.path,)), Inputs((item,)))
