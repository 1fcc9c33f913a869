"""``bpe inspect``: a text token by token, or a tokenizer by itself."""

import os
import shlex
import stat
import sys
from typing import Annotated

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, check_page_names, process_streams
from bpe_cli.cli.inspect_options import Shown
from bpe_cli.cli.inspect_output import show_texts, show_tokenizer, show_tokens
from bpe_cli.cli.parameters import Option
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.jobs.files import FIELD, check_kept, find_documents
from bpe_cli.jobs.tokenizers import note_slow_patterns
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.ordered_threads import usable_threads

EPILOG = "Without a text: a report on the tokenizer itself. It can then be given as INPUT; with -t, INPUT is text."

_NO_CORPUS = "--corpus takes a file, a folder, a pattern, or - for stdin"


def run(
    *,
    tokenizer: options.TokenizerName = None,
    shown: Shown,
    documents: options.Documents,
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
    screen: options.Screen,
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
    token, corpus, inputs, text = shown.token, shown.corpus, documents.inputs, documents.text
    listener, streams, named = ConsoleListener(quiet=screen.quiet), process_streams(), False
    if token or corpus:
        tokenizer, inputs, named = _tokenizer_alone(tokenizer, inputs, text), None, True
    elif tokenizer is None and text is None and inputs is not None and len(inputs) == 1:
        named = _is_tokenizer(inputs[0])
        if named:
            (tokenizer,), inputs = inputs, None
    elif tokenizer is None and text is None and inputs:
        _refuse_tokenizers(inputs)
    check_page_names(html=shown.html, svg=shown.svg)
    check_kept(shown.outputs, [("the tokenizer", tokenizer or "")], streams)
    try:
        model = options.choice_of(tokenizer, pattern, add_special).load()
    except FormatError as error:
        if not named:
            raise
        way_out = "to see it as text, name a tokenizer with -t"
        raise FormatError(error.message, hint=f"{error.hint}; {way_out}" if error.hint else way_out) from error
    note_slow_patterns(model, listener)
    if text is None and not inputs and (named or not _stdin_has_text()):
        reading = {
            "--lines": documents.lines,
            "--jsonl": documents.jsonl,
            "--plain": documents.plain,
            "--field": documents.field != FIELD,
            "--special": special,
        }
        idle = shown.of_a_text or (None if corpus else next((name for name, given in reading.items() if given), None))
        if idle:
            raise UsageError(f"{idle} is about a text, and there is none", hint="give one with -T TEXT")
        from bpe_cli.jobs.inspect import inspect_tokenizer, look_up_tokens

        specials, refuse = options.specials_of(special if corpus else None)
        if refuse:
            raise UsageError("--special error is for encode: with --corpus, special tokens are text, or --special all")
        texts = replace(documents, inputs=corpus).source() if corpus else None
        found = find_documents(texts, listener=listener, streams=streams, otherwise=_NO_CORPUS) if texts else None
        used = usable_threads(threads)
        if token:
            cards = look_up_tokens(
                model, token, texts, specials=specials, threads=used, inputs=found, listener=listener
            )
            show_tokens(cards, json=shown.json, full=shown.full, color=screen.color)
        else:
            report = inspect_tokenizer(model, texts, specials=specials, threads=used, inputs=found, listener=listener)
            show_tokenizer(report, json=shown.json, full=shown.full, color=screen.color)
        return
    source = replace(documents, inputs=inputs).source()
    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: inspect shows where special tokens would be")
    show_texts(model, source, specials, shown, screen)


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
        UsageError: All inputs are tokenizers, or one is not a file but a tokenizer's name.
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
        UsageError: if there is a text besides.
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
