"""``bpe inspect``: a text token by token, or a tokenizer by itself."""

import os
import shlex
import stat
import sys
from typing import Annotated

from bpe_cli.cli import options, write_page
from bpe_cli.cli.console import ConsoleListener, say_slow
from bpe_cli.cli.inputs import FIELD, inputs_of
from bpe_cli.cli.inspect_output import TextOptions, show_texts, show_tokenizer, show_tokens
from bpe_cli.cli.output_checks import check_kept
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import FormatError, UsageError

EPILOG = "Without a text: a report on the tokenizer itself. It can then be given as INPUT; with -t, INPUT is text."

_NO_CORPUS = "--corpus takes a file, a folder, a pattern, or - for stdin"


def run(
    inputs: options.Inputs = None,
    tokenizer: options.TokenizerName = None,
    ids: Annotated[bool, Option("--ids", help="Set each token's id under it.")] = False,
    spans: Annotated[bool, Option("--spans", help="Set each token's byte span under it.")] = False,
    scores: Annotated[
        bool, Option("--scores", help="Set each token's log-probability (unigram) or score under it.")
    ] = False,
    table: Annotated[bool, Option("--table", help="List the tokens in a table, with all of these.")] = False,
    stages: Annotated[bool, Option("--stages", help="Show what each stage makes of the text.")] = False,
    nbest: Annotated[
        int | None,
        Option(
            "--nbest", metavar="N", min=1, max=1024, help="Rank the N best segmentations by their scores (unigram)."
        ),
    ] = None,
    steps: Annotated[
        bool, Option("--steps", help="Tell how it arrived there: merge by merge, match by match, or the lattice.")
    ] = False,
    token: Annotated[
        list[str] | None,
        Option(
            "--token",
            metavar="ID|TEXT",
            help="Look up a token by its id or its text (text:42 where that is digits; or bytes:e8b0). "
            "Can be repeated.",
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        Option(
            "--corpus",
            metavar="INPUT",
            help="Report which tokens of the tokenizer these files, folders or globs use. Can be repeated.",
        ),
    ] = None,
    full: Annotated[bool, Option("--full", help="Show everything, however long.")] = False,
    json: options.Json = False,
    html: write_page.Html = None,
    svg: write_page.Svg = None,
    text: options.Text = None,
    lines: options.Lines = False,
    jsonl: options.Jsonl = False,
    plain: options.Plain = False,
    field: options.Field = "text",
    special: options.SpecialInText = None,
    add_special: options.AddSpecial = None,
    pattern: options.PatternName = None,
    threads: Annotated[
        int | None,
        Option(
            "--threads",
            "-j",
            metavar="N",
            min=1,
            envvar="BPE_THREADS",
            rich_help_panel="Running",
            show_default="all that may be used",
            help="Threads to use for --corpus; changes no result.",
        ),
    ] = None,
    color: options.ColorWhen = options.Color.auto,
    quiet: options.Quiet = False,
) -> None:
    """Show a text token by token, or report on a tokenizer.

    [bold]Examples[/bold]

        bpe inspect -T "hello world" -t gpt-4o

        bpe inspect notes.txt -t tokenizer.json --ids

        bpe inspect tokenizer.json

        bpe inspect tokenizer.json --corpus texts/

        bpe inspect gpt2 --token ' the' --token 262

        bpe inspect -T "hello world" -t unigram.json --nbest 5

        bpe inspect -T "hello world" -t gpt2 --steps

        bpe inspect notes.txt -t tokenizer.json --html notes.html
    """
    named = False
    if token or corpus:
        tokenizer, inputs, named = _tokenizer_alone(tokenizer, inputs, text), None, True
    elif tokenizer is None and text is None and inputs is not None and len(inputs) == 1:
        named = _is_tokenizer(inputs[0])
        if named:
            (tokenizer,), inputs = inputs, None
    elif tokenizer is None and text is None and inputs:
        _refuse_tokenizers(inputs)
    write_page.check_page_names(html=html, svg=svg)
    check_kept([("--html", html), ("--svg", svg)], [("the tokenizer", tokenizer or "")])
    try:
        model = options.tokenizer_of(tokenizer, pattern, add_special)
    except FormatError as error:
        if not named:
            raise
        way_out = "to see it as text, name a tokenizer with -t"
        raise FormatError(error.message, hint=f"{error.hint}; {way_out}" if error.hint else way_out) from error
    say_slow(model.slow_patterns, quiet)
    wanted = TextOptions(
        ids=ids, spans=spans, scores=scores, table=table, stages=stages, nbest=nbest, steps=steps,
        full=full, json=json, color=color, html=html, svg=svg,
    )  # fmt: skip
    if text is None and not inputs and (named or not _stdin_has_text()):
        reading = {
            "--lines": lines,
            "--jsonl": jsonl,
            "--plain": plain,
            "--field": field != FIELD,
            "--special": special,
        }
        idle = wanted.of_a_text or (None if corpus else next((name for name, given in reading.items() if given), None))
        if idle:
            raise UsageError(f"{idle} is about a text, and there is none", hint="give one with -T TEXT")
        from bpe_cli.jobs.inspect import inspect_tokenizer, look_up_tokens

        specials, refuse = options.specials_of(special if corpus else None)
        if refuse:
            raise UsageError("--special error is for encode: with --corpus, special tokens are text, or --special all")
        texts = options.source_of(corpus, None, lines, jsonl, plain, field, options.BLOCK_BYTES) if corpus else None
        found = inputs_of(texts, quiet, (), _NO_CORPUS) if texts else None
        listener, used = ConsoleListener(quiet=quiet), options.threads_of(threads)
        if token:
            cards = look_up_tokens(
                model, token, texts, specials=specials, threads=used, inputs=found, listener=listener
            )
            show_tokens(cards, json=json, full=full, color=color)
        else:
            report = inspect_tokenizer(model, texts, specials=specials, threads=used, inputs=found, listener=listener)
            show_tokenizer(report, json=json, full=full, color=color)
        return
    source = options.source_of(inputs, text, lines, jsonl, plain, field, options.BLOCK_BYTES)
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: inspect shows where special tokens would be")
    show_texts(model, source, specials, wanted, quiet)


def _is_tokenizer(name: str) -> bool:
    """Return whether an input is a tokenizer: a file that holds one, or the name of one where there is no such file."""
    if not os.path.lexists(name):
        from bpe_cli.tokenizer import named_encodings

        return named_encodings.find(name) is not None
    from bpe_cli.formats import is_tokenizer

    return is_tokenizer(name)


def _refuse_tokenizers(inputs: list[str]) -> None:
    """Refuse names of tokenizers where texts should be: several of them, or one beside texts.

    Raises:
        UsageError: All inputs are tokenizers, or one is no file but a tokenizer's name.
    """
    if all(map(_is_tokenizer, inputs)):
        options_of_compare = shlex.join(word for name in inputs for word in ("-t", name))
        raise UsageError(
            f"bpe inspect reports on one tokenizer at a time, and there are {len(inputs)}",
            hint=f"set them side by side with bpe compare {options_of_compare}",
        )
    named = next((name for name in inputs if not os.path.lexists(name) and _is_tokenizer(name)), None)
    if named is not None:
        raise UsageError(
            f"{named} is a tokenizer, and no file that could be read as text",
            hint=f"to see texts by it, name it with -t {shlex.quote(named)}",
        )


def _tokenizer_alone(tokenizer: str | None, inputs: list[str] | None, text: str | None) -> str | None:
    """Return the tokenizer that --token and --corpus are about: with -t, or in the place of an input.

    Raises:
        UsageError: There is a text besides.
    """
    if text is not None or (inputs and (tokenizer is not None or len(inputs) > 1)):
        raise UsageError(
            "--token and --corpus are about a tokenizer by itself, and there is a text besides",
            hint="give the text with --corpus, or look at it without them",
        )
    return inputs[0] if inputs else tokenizer


def _stdin_has_text() -> bool:
    """Return whether somebody feeds stdin: a pipe or a file, not a terminal or nothing at all."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
