"""``bpe inspect``: a text token by token, or a tokenizer by itself."""

from __future__ import annotations

import os
import stat
import sys
from typing import Annotated

import typer

from bpe_cli.cli import options
from bpe_cli.cli.console import say_slow
from bpe_cli.cli.inspect_text import Wanted, show_texts
from bpe_cli.cli.inspect_tokenizer import report_tokenizer
from bpe_cli.errors import FormatError, UsageError

NAME = "inspect"
EPILOG = "Without a text: a report on the tokenizer itself. It can then be given as INPUT; with -t, INPUT is text."


def run(
    inputs: options.Inputs = None,
    tokenizer: options.TokenizerName = None,
    ids: Annotated[bool, typer.Option("--ids", help="List the tokens in a table: id, bytes, byte span.")] = False,
    nbest: Annotated[
        int | None,
        typer.Option(
            "--nbest", metavar="N", min=1, max=1024, help="Rank the N best segmentations by their scores (unigram)."
        ),
    ] = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Tell how it arrived there: merge by merge, match by match, or the lattice.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Show everything, however long.")] = False,
    json: options.Json = False,
    text: options.Text = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    field: options.Field = "text",
    special: options.Special = None,
    add_special: options.AddSpecial = None,
    pattern: options.PatternName = None,
    color: options.ColorWhen = options.Color.auto,
    quiet: options.Quiet = False,
) -> None:
    """Show a text token by token, or report on a tokenizer.

    [bold]Examples[/bold]

        bpe inspect -T "hello world" -t gpt-4o

        bpe inspect notes.txt -t tokenizer.json --ids

        bpe inspect tokenizer.json

        bpe inspect -T "hello world" -t unigram.json --nbest 5

        bpe inspect -T "hello world" -t gpt2 --steps
    """
    named = False
    if tokenizer is None and text is None and inputs is not None and len(inputs) == 1:
        from bpe_cli.formats import is_tokenizer

        named = is_tokenizer(inputs[0])
        if named:
            (tokenizer,), inputs = inputs, None
    try:
        model = options.tokenizer_of(tokenizer, pattern, add_special)
    except FormatError as error:
        if not named:
            raise
        way_out = "to see it as text, name a tokenizer with -t"
        raise FormatError(error.message, hint=f"{error.hint}; {way_out}" if error.hint else way_out) from error
    say_slow(model.slow_patterns, quiet)
    if text is None and not inputs and (named or not _stdin_has_text()):
        if nbest is not None:
            raise UsageError(
                "--nbest ranks the segmentations of a text, and there is none", hint="give one with -T TEXT"
            )
        if steps:
            raise UsageError("--steps tells how a text became tokens, and there is none", hint="give one with -T TEXT")
        report_tokenizer(model, json=json, full=full, color=color)
        return
    source = options.source_of(inputs, text, lines, jsonl, field, options.BLOCK_BYTES)
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: inspect shows where special tokens would be")
    wanted = Wanted(ids=ids, nbest=nbest, steps=steps, full=full, json=json, color=color)
    show_texts(model, source, specials, wanted, quiet)


def _stdin_has_text() -> bool:
    """Tell whether somebody feeds stdin: a pipe or a file, not a terminal or nothing at all."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
