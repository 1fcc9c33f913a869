"""``bpe encode``: text to ids."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from bpe_cli.cli import options
from bpe_cli.cli.console import note, progress, say_slow
from bpe_cli.cli.documents import Budget, Origins, refusing
from bpe_cli.errors import UsageError
from bpe_cli.views.numbers import count

if TYPE_CHECKING:
    from bpe_cli.corpus import InputHash
    from bpe_cli.sinks import SinkOptions
    from bpe_cli.tokenizer import Tokenizer

NAME = "encode"
EPILOG = "Exit status: 0 fine, 1 --max-tokens was passed, 2 bad usage, input or output."

_OUTPUT = "Output"


class To(Enum):
    """What to write."""

    ids = "ids"
    tokens = "tokens"
    jsonl = "jsonl"
    npy = "npy"
    bin = "bin"
    count = "count"


def run(
    inputs: options.Inputs = None,
    tokenizer: options.TokenizerName = None,
    to: Annotated[
        To,
        typer.Option(
            "--to",
            rich_help_panel=_OUTPUT,
            help="ids: a line of numbers per document. tokens: a line of tokens. jsonl: an object per document. npy, "
            "bin: numbers as u16 or u32, and OUT.json that describes them. count: the number of tokens per document.",
        ),
    ] = To.ids,
    output: options.Output = None,
    with_: Annotated[
        str, typer.Option("--with", metavar="tokens,spans", help="Add these to jsonl.", rich_help_panel=_OUTPUT)
    ] = "",
    eot: Annotated[
        str | None,
        typer.Option(
            "--eot",
            metavar="TEXT|ID",
            rich_help_panel=_OUTPUT,
            help="End each document with this special token (npy and bin), as readers that divide by it expect.",
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            metavar="N",
            min=0,
            rich_help_panel=_OUTPUT,
            help="Fail with status 1 if a document has more tokens.",
        ),
    ] = None,
    text: options.Text = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    field: options.Field = "text",
    special: options.Special = None,
    add_special: options.AddSpecial = None,
    add_special_tokens: Annotated[
        bool,
        typer.Option(
            "--add-special-tokens",
            rich_help_panel="Tokenizer",
            help="Put around each document what the tokenizer's post-processor puts there.",
        ),
    ] = False,
    pattern: options.PatternName = None,
    threads: options.Threads = None,
    block_size: options.BlockSize = options.BLOCK_BYTES,
    quiet: options.Quiet = False,
) -> None:
    """Encode text into token ids.

    [bold]Examples[/bold]

        bpe encode -T "hello world" -t gpt-4o

        bpe encode corpus.txt -t tokenizer.json --to bin -o corpus.bin

        bpe encode data.jsonl --jsonl --field text --to count

        bpe encode prompt.md -t gpt-4o --to count --max-tokens 8000
    """
    from bpe_cli import sinks
    from bpe_cli.corpus import read_blocks
    from bpe_cli.postprocess import affixes, surround
    from bpe_cli.sinks.count import CountSink

    source = options.source_of(inputs, text, lines, jsonl, field, block_size)
    if sinks.is_binary(to.value) and output is None and sys.stdout.isatty():
        raise UsageError(f"{to.value} is not for a terminal", hint="name a file with -o, or pipe it into a program")
    if output is not None:
        sinks.check_outputs(to.value, output)
    model = options.tokenizer_of(tokenizer, pattern, add_special)
    specials, refuse = options.specials_of(special)
    matcher = model.matcher(specials)
    say_slow(model.slow_patterns, quiet)
    found = source.inputs(stdin=sys.stdin.buffer, on_skip=lambda message: note(f"note: {message}", quiet=quiet))
    hashes: list[InputHash] | None = [] if sinks.is_binary(to.value) and output is not None else None
    origins = Origins(whole=source.documents == "whole")
    budget = Budget(max_tokens, origins)
    before, after = affixes(model.post_processor) if add_special_tokens else ((), ())
    number = options.threads_of(threads)
    with (
        progress(found.total_bytes, "encoding", quiet=quiet) as advance,
        sinks.open_sink(
            to.value, output, stdout=sys.stdout.buffer, tokenizer=model,
            options=_sink_options(model, with_, eot), inputs=hashes if hashes is not None else (),
        ) as sink,
    ):  # fmt: skip
        blocks = read_blocks(
            source, stdin=sys.stdin.buffer, inputs=found, on_bytes=advance, on_input=origins.begin, hashes=hashes,
            on_note=lambda message: note(f"note: {message}", quiet=quiet),
        )  # fmt: skip
        settled = model.settle(blocks, matcher)
        for block in refusing(settled, matcher, origins) if refuse else settled:
            if isinstance(sink, CountSink) and not (before or after):
                counts = model.count_block(block, matcher, number)
                budget.spend(counts, block)
                sink.write_counts(block, counts)
                continue
            ids, ends = model.encode_block(block, matcher, number)
            if before or after:
                ids, ends = surround(block, ids, ends, before, after)
            if max_tokens is not None:
                budget.spend([end - start for start, end in zip([0, *ends], ends, strict=False)], block)
            sink.write(block, ids, ends)
    budget.check()
    if output is not None:
        note(f"{count(sink.documents, 'document')}, {count(sink.tokens, 'token')} -> {output}", quiet=quiet)


def _sink_options(model: Tokenizer, with_: str, eot: str | None) -> SinkOptions:
    """Read --with and --eot.

    Raises:
        UsageError: A word of --with is unknown, or --eot is no token of the tokenizer.
    """
    from bpe_cli.sinks import SinkOptions

    words = {word.strip() for word in with_.split(",") if word.strip()}
    if unknown := words - {"tokens", "spans"}:
        raise UsageError(f"--with knows tokens and spans, not {sorted(unknown)[0]}")
    return SinkOptions(tokens="tokens" in words, spans="spans" in words, eot=options.eot_id(model, eot))
