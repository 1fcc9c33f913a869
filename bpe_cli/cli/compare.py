"""``bpe compare``: tokenizers side by side on the same texts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from bpe_cli.cli import options, pages
from bpe_cli.cli.console import note, print_json, progress, say_slow, stdout_console
from bpe_cli.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bpe_cli.blocks import Block
    from bpe_cli.corpus import Inputs, Source

NAME = "compare"
EPILOG = "Ratios are ratios of sums. Exit status: 0 fine, 1 --fail-if is true, 2 bad usage or input."

DEFAULT_TOKENIZERS = ["gpt2", "cl100k_base", "o200k_base"]

SEGMENTED_INPUTS = 4
"""Short texts are shown token by token when there are at most so many inputs: a folder's would bury the table."""


def run(
    inputs: options.Inputs = None,
    tokenizer: Annotated[
        list[str] | None,
        typer.Option(
            "--tokenizer",
            "-t",
            metavar="TOKENIZER",
            rich_help_panel="Tokenizer",
            show_default=", ".join(DEFAULT_TOKENIZERS),
            help="A file or folder, an encoding or a model; repeat it for each.",
        ),
    ] = None,
    json: options.Json = False,
    html: pages.Html = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Fail with status 1 if this is true of a tokenizer on all inputs together, as in "
            "'bytes_per_token < 4'; also tokens, characters_per_token, ratio. Can be repeated.",
        ),
    ] = None,
    text: options.Text = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    field: options.Field = "text",
    special: options.Special = None,
    pattern: options.PatternName = None,
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    color: options.ColorWhen = options.Color.auto,
    quiet: options.Quiet = False,
) -> None:
    """Compare tokenizers: tokens, bytes and characters per token, and how each cuts short texts.

    [bold]Examples[/bold]

        bpe compare corpus.txt -t gpt2 -t o200k_base -t tokenizer.json

        bpe compare en.txt de.txt zh.txt -t mine.json -t gpt-4o --json

        bpe compare -T "naïve Straße 東京"

        bpe compare corpus/ -t tokenizer.json --fail-if 'bytes_per_token < 4'

        bpe compare en.txt code.py -t gpt2 -t o200k_base --html comparison.html
    """
    from bpe_cli.reports.comparison.checks import Condition, offenders
    from bpe_cli.reports.comparison.comparing import compare

    conditions = [Condition.parse(condition) for condition in fail_if or ()]
    pages.check_outputs([("--html", html)], stdout_taken="--json" if json else None)
    source = options.source_of(inputs, text, lines, jsonl, field, block_size)
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: compare counts special tokens as text, or with --special all")
    models = [options.tokenizer_of(name, pattern) for name in tokenizer or DEFAULT_TOKENIZERS]
    for model in models:
        say_slow(model.slow_patterns, quiet)
    resolved = source.inputs(stdin=sys.stdin.buffer, on_skip=lambda message: note(f"note: {message}", quiet=quiet))
    with progress(resolved.total_bytes, "comparing", quiet=quiet) as advance:
        report = compare(
            models,
            _each_input(source, resolved, quiet, advance),
            specials=specials,
            threads=options.threads_of(threads),
        )
    if json:
        from bpe_cli.views.comparison.as_json import comparison_json

        print_json(comparison_json(report))
    if html is not None:
        from bpe_cli.views.page.comparison import comparison_page

        pages.write_page(html, comparison_page(report), quiet)
    elif not json:
        from bpe_cli.views.comparison.tables import comparison_view

        shown = None if len(report.rows) <= SEGMENTED_INPUTS else 0
        stdout_console(color).print(comparison_view(report, passages=shown))
    if found := offenders(report, conditions):
        raise CheckFailed("; ".join(found))


def _each_input(
    source: Source, found: Inputs, quiet: bool, advance: Callable[[int], None]
) -> Iterator[tuple[str, Iterable[Block]]]:
    """Yield the name and the blocks of each input."""
    from bpe_cli.corpus import Inputs, read_blocks

    def blocks(part: Source, items: Inputs) -> Iterator[Block]:
        return read_blocks(
            part, stdin=sys.stdin.buffer, inputs=items, on_bytes=advance,
            on_note=lambda message: note(f"note: {message}", quiet=quiet),
        )  # fmt: skip

    if source.text is not None:
        yield "text", blocks(source, found)
    for item in found.items:
        yield item.name, blocks(replace(source, paths=(item.path,)), Inputs((item,)))
