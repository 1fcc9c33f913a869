"""``bpe inspect``: a text token by token, or a tokenizer by itself; its options, and what is shown of which.

Length: until the choice among the job's calls stands in the job.
"""

import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, TypeVar

from bpe_cli.cli import options
from bpe_cli.cli.console import (
    ConsoleListener,
    check_page_names,
    print_json,
    process_streams,
    stdout_console,
    write_page,
)
from bpe_cli.cli.options import Option
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.jobs.files import FIELD, check_kept, check_outputs, find_documents
from bpe_cli.jobs.tokenizers import note_slow_patterns
from bpe_cli.results import TextReport, TokenizerReport
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.ordered_threads import usable_threads

EPILOG = "Without a text: a report on the tokenizer itself. It can then be given as INPUT; with -t, INPUT is text."


@dataclass(frozen=True, slots=True)
class Shown:
    """The options about what is shown, and where."""

    ids: Annotated[bool, Option("--ids", help="Set each token's id under it.")] = False
    spans: Annotated[bool, Option("--spans", help="Set each token's byte span under it.")] = False
    scores: Annotated[
        bool, Option("--scores", help="Set each token's log-probability (unigram) or score under it.")
    ] = False
    table: Annotated[bool, Option("--table", help="List the tokens in a table, with all of these.")] = False
    stages: Annotated[bool, Option("--stages", help="Show what each stage makes of the text.")] = False
    nbest: Annotated[
        int | None,
        Option(
            "--nbest", metavar="N", min=1, max=1024, help="Rank the N best segmentations by their scores (unigram)."
        ),
    ] = None
    steps: Annotated[
        bool, Option("--steps", help="Tell how it arrived there: merge by merge, match by match, or the lattice.")
    ] = False
    token: Annotated[
        list[str] | None,
        Option(
            "--token", metavar="ID|TEXT",
            help="Look up a token by its id or its text (text:42 where that is digits; or bytes:e8b0). "
            "Can be repeated.",
        ),
    ] = None  # fmt: skip
    corpus: Annotated[
        list[str] | None,
        Option(
            "--corpus", metavar="INPUT",
            help="Report which tokens of the tokenizer these files, folders or globs use. Can be repeated.",
        ),
    ] = None  # fmt: skip
    full: Annotated[bool, Option("--full", help="Show everything, however long.")] = False
    json: options.Json = False
    html: options.Html = None
    svg: options.Svg = None

    @property
    def of_a_text(self) -> str | None:
        """The first option that was given and says nothing of a tokenizer by itself."""
        return next(iter(self._given()), None)

    @property
    def outputs(self) -> list[tuple[str, str | None]]:
        """The options that name files to write, and the files."""
        return [("--html", self.html), ("--svg", self.svg)]

    def check(self) -> None:
        """Make sure that one view shows all that was asked for.

        Raises:
            UsageError: Another one would have to.
        """
        given = self._given()
        for view, others in _BESIDE.items():
            if view in given and (other := next((name for name in given if name != view and name not in others), None)):
                raise UsageError(f"{view} and {other} are different views of a text", hint="ask for one at a time")

    def _given(self) -> list[str]:
        values = {
            "--ids": self.ids,
            "--spans": self.spans,
            "--scores": self.scores,
            "--table": self.table,
            "--stages": self.stages,
            "--nbest": self.nbest is not None,
            "--steps": self.steps,
            "--html": self.html is not None,
            "--svg": self.svg is not None,
        }
        return [name for name, value in values.items() if value]


_BESIDE = {
    "--steps": {"--nbest", "--ids"},
    "--nbest": {"--steps", "--ids"},
    "--html": {"--svg", "--ids", "--spans", "--scores", "--table"},
    "--svg": {"--html", "--ids"},
    "--stages": {"--ids", "--spans", "--scores"},
}
"""Views that show only one thing, and the options that can stand beside them."""


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


if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.inspect import Document, TextInspection, TokenCards
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.views.blocks import Adaptive
    from bpe_cli.views.stages import StagesView
    from bpe_cli.views.tokens import TokenView

    Inspected = Iterator[tuple[Document, TextInspection]]


def show_texts(
    model: "Tokenizer", source: "Source", specials: "Specials", wanted: Shown, screen: options.Screen
) -> None:
    """Print each document of a source as it was asked for."""
    from bpe_cli.jobs.inspect import explain_texts, inspect_texts, rank_texts
    from bpe_cli.views.labels import TOKEN_LIMIT

    wanted.check()
    check_outputs(wanted.outputs, stdout_taken="--json" if wanted.json else None)
    listener = ConsoleListener(quiet=screen.quiet, printing=True)
    found = find_documents(source, wanted.outputs, listener=listener, streams=process_streams())
    if wanted.steps:
        from bpe_cli.views.as_json import all_steps_json
        from bpe_cli.views.steps import StepsView

        steps = explain_texts(
            model, source, best=wanted.nbest, full=wanted.full, specials=specials, inputs=found, listener=listener
        )
        if wanted.json:
            print_json(all_steps_json(*_columns(steps)))
        else:
            print_each(steps, lambda each: StepsView(each, full=wanted.full), screen.color)
        return
    if wanted.nbest is not None:
        from bpe_cli.views.as_json import rankings_json
        from bpe_cli.views.stages import RankingView

        ranked = rank_texts(model, source, wanted.nbest, specials=specials, inputs=found, listener=listener)
        if wanted.json:
            print_json(rankings_json(*_columns(ranked)))
        else:
            print_each(ranked, lambda ranking: RankingView(ranking, ids=wanted.ids), screen.color)
        return
    is_page = wanted.html is not None or wanted.svg is not None
    inspected = inspect_texts(
        model, source, specials=specials, stages=wanted.stages, scores=wanted.scores and not is_page,
        details=None if wanted.full or wanted.json or wanted.stages else TOKEN_LIMIT,
        inputs=found, listener=listener,
    )  # fmt: skip
    if is_page:
        _write_pages(model, inspected, wanted, screen.quiet)
    elif wanted.json:
        _print_json(inspected)
    else:
        print_each(inspected, _view_of(wanted, TOKEN_LIMIT), screen.color)


def _view_of(wanted: Shown, limit: int) -> "Callable[[TextInspection], TokenView | StagesView]":
    from bpe_cli.views.tokens import Notes, TokenView

    notes = Notes(ids=wanted.ids, spans=wanted.spans, scores=wanted.scores)
    shown, marked = None if wanted.full else limit, sys.stdout.isatty()

    def view(found: "TextInspection") -> "TokenView | StagesView":
        if found.stages is not None:
            from bpe_cli.views.stages import StagesView

            return StagesView(found.stages, notes=notes, limit=shown, warnings=found.warnings, marked=marked)
        return TokenView(
            found.segmentation, notes=notes, table=wanted.table, limit=shown, warnings=found.warnings, marked=marked
        )

    return view


def _print_json(inspected: "Iterable[tuple[Document, TextInspection]]") -> None:
    print(TextReport(tuple(inspected)).to_json(), end="")


def _write_pages(model: "Tokenizer", inspected: "Inspected", wanted: Shown, quiet: bool) -> None:
    """Write files, and JSON to stdout if that is asked for too."""
    if wanted.json or (wanted.html is not None and wanted.svg is not None):
        kept = list(inspected)
        inspected = iter(kept)
    if wanted.html is not None:
        from bpe_cli.views.page.page import texts_page

        shown = ((found.segmentation, found.warnings, document.title) for document, found in inspected)
        write_page(wanted.html, texts_page(shown, tokenizer=model.name, full=wanted.full), quiet)
        if wanted.svg is not None:
            inspected = iter(kept)
    if wanted.svg is not None:
        from bpe_cli.views.page.svg import picture

        drawn = (found.segmentation for _, found in inspected)
        write_page(wanted.svg, [picture(drawn, tokenizer=model.name, ids=wanted.ids, full=wanted.full)], quiet)
    if wanted.json:
        _print_json(kept)


Report = TypeVar("Report")


def _columns(reports: "Iterable[tuple[Document, Report]]") -> tuple[list[Report], list[tuple[str, int]]]:
    """Return the reports, and where the document of each is from."""
    kept = list(reports)
    return [report for _, report in kept], [document.origin for document, _ in kept]


def print_each(
    reports: "Iterable[tuple[Document, Report]]", view: "Callable[[Report], Adaptive]", color: options.Color
) -> None:
    """Print each report below the title of its document; of an empty one nothing more than that, if it has a title."""
    from rich.text import Text

    from bpe_cli.views.on_console import OnConsole
    from bpe_cli.views.visible import harmless

    for number, (document, report) in enumerate(reports):
        console = stdout_console(color)
        if number:
            console.print()
        if document.title is not None:
            title = Text(f"==> {harmless(document.title)} <==", style="bold")
            console.print(title if document.content else title + Text(" empty", style="not bold"), soft_wrap=True)
        if document.title is None or document.content:
            console.print(OnConsole(view(report)))


def show_tokenizer(report: "HealthReport", *, json: bool, full: bool, color: options.Color) -> None:
    """Print the health report on a tokenizer."""
    if json:
        print(TokenizerReport(report).to_json(full=full), end="")
    else:
        from bpe_cli.views.on_console import OnConsole
        from bpe_cli.views.vocabulary import health_view

        stdout_console(color).print(OnConsole(health_view(report, full=full)))


def show_tokens(found: "TokenCards", *, json: bool, full: bool, color: options.Color) -> None:
    """Print all about each token that is there, then fail if one is not.

    Raises:
        UsageError, InputError: if a token is not there.
    """
    if found.cards and json:
        from bpe_cli.views.as_json import cards_json

        print_json(cards_json(found.tokenizer, found.cards))
    elif found.cards:
        from bpe_cli.views.on_console import OnConsole
        from bpe_cli.views.vocabulary import card_view

        console = stdout_console(color)
        for card in found.cards:
            console.print(OnConsole(card_view(card, full=full)))
    found.unknown.check()
