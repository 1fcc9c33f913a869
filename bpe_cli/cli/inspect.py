"""``bpe inspect``: a text token by token, or a tokenizer by itself."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bpe_cli.cli import options
from bpe_cli.cli.console import note, say_slow, stdout_console
from bpe_cli.errors import FormatError, InputError, UsageError

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.tokenizer import Specials, Tokenizer

NAME = "inspect"
EPILOG = "Without a text: a report on the tokenizer itself. It can then be given as INPUT; with -t, INPUT is text."

LARGEST_TEXT = 16 << 20
"""Bytes of a document that are shown at most: every token of it becomes an object."""


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
        _report_tokenizer(model, json, full, color)
        return
    source = options.source_of(inputs, text, lines, jsonl, field, options.BLOCK_BYTES)
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: inspect shows where special tokens would be")
    if nbest is not None:
        _rank(model, _documents(source, quiet), nbest, specials, ids, json, color)
        return
    from bpe_cli.reports.text.segmentation import segment

    reports = (segment(model, document, specials) for document in _documents(source, quiet))
    if json:
        from bpe_cli.cli.console import print_json
        from bpe_cli.views.text.as_json import texts_json

        print_json(texts_json(list(reports)))
        return
    from bpe_cli.views.text.colored import LIMIT, TokenView

    for number, report in enumerate(reports):
        if number:
            print()
        stdout_console(color).print(TokenView(report, ids=ids, limit=None if full else LIMIT))


def _rank(
    model: Tokenizer,
    documents: Iterator[bytes],
    wanted: int,
    specials: Specials,
    ids: bool,
    json: bool,
    color: options.Color,
) -> None:
    from bpe_cli.reports.text.nbest import rank, runner_of
    from bpe_cli.views.text.nbest import RankingView, rankings_json

    runner_of(model)  # it is refused whether there are documents or not
    rankings = (rank(model, document, wanted, specials) for document in documents)
    if json:
        from bpe_cli.cli.console import print_json

        print_json(rankings_json(list(rankings)))
        return
    for number, ranking in enumerate(rankings):
        if number:
            print()
        stdout_console(color).print(RankingView(ranking, ids=ids))


def _report_tokenizer(model: Tokenizer, json: bool, full: bool, color: options.Color) -> None:
    from bpe_cli.cli.console import print_json
    from bpe_cli.fingerprint import fingerprint
    from bpe_cli.reports.tokenizer.vocabulary_report import describe

    report = describe(model, fingerprint=fingerprint(model))
    if json:
        from bpe_cli.views.tokenizer.as_json import vocabulary_json

        print_json(vocabulary_json(report))
    else:
        from bpe_cli.views.tokenizer.tables import vocabulary_view

        stdout_console(color).print(vocabulary_view(report, full=full))


def _documents(source: Source, quiet: bool) -> Iterator[bytes]:
    """Yield each document whole.

    Raises:
        InputError: One is too long to be shown.
    """
    from bpe_cli.corpus import read_blocks

    held = bytearray()

    def tell(message: str) -> None:
        note(f"note: {message}", quiet=quiet)

    blocks = read_blocks(source, stdin=sys.stdin.buffer, on_skip=tell, on_note=tell)
    for block in blocks:
        last = len(block.ends) - 1
        for number, part in enumerate(block.documents()):
            held += part
            if len(held) > LARGEST_TEXT:
                raise InputError(
                    f"the text is longer than the {LARGEST_TEXT >> 20} MiB that can be shown",
                    hint="show a part of it (head -c 100000), or use bpe encode or bpe compare",
                )
            if not (block.unfinished and number == last):
                yield bytes(held)
                held.clear()


def _stdin_has_text() -> bool:
    """Tell whether somebody feeds stdin: a pipe or a file, not a terminal or nothing at all."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
