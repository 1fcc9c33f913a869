"""What of a text or a tokenizer is shown, in which form and where: read, and carried out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, print_json, process_streams, stdout_console, write_page
from bpe_cli.jobs.inputs import find_documents
from bpe_cli.jobs.outputs import check_outputs
from bpe_cli.results import TextReport, TokenizerReport

if TYPE_CHECKING:
    from bpe_cli.cli.inspect_options import Shown
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.inspect import Document, TextInspection, TokenCards
    from bpe_cli.reports.tokenizer.health import HealthReport
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.views.blocks import Adaptive
    from bpe_cli.views.stages import StagesView
    from bpe_cli.views.tokens import TokenView

    Inspected = Iterator[tuple[Document, TextInspection]]


def show_texts(model: Tokenizer, source: Source, specials: Specials, wanted: Shown, screen: options.Screen) -> None:
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


def _view_of(wanted: Shown, limit: int) -> Callable[[TextInspection], TokenView | StagesView]:
    from bpe_cli.views.tokens import Notes, TokenView

    notes = Notes(ids=wanted.ids, spans=wanted.spans, scores=wanted.scores)
    shown, marked = None if wanted.full else limit, sys.stdout.isatty()

    def view(found: TextInspection) -> TokenView | StagesView:
        if found.stages is not None:
            from bpe_cli.views.stages import StagesView

            return StagesView(found.stages, notes=notes, limit=shown, warnings=found.warnings, marked=marked)
        return TokenView(
            found.segmentation, notes=notes, table=wanted.table, limit=shown, warnings=found.warnings, marked=marked
        )

    return view


def _print_json(inspected: Iterable[tuple[Document, TextInspection]]) -> None:
    print(TextReport(tuple(inspected)).to_json(), end="")


def _write_pages(model: Tokenizer, inspected: Inspected, wanted: Shown, quiet: bool) -> None:
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


def _columns(reports: Iterable[tuple[Document, Report]]) -> tuple[list[Report], list[tuple[str, int]]]:
    """Return the reports, and where the document of each is from."""
    kept = list(reports)
    return [report for _, report in kept], [document.origin for document, _ in kept]


def print_each(
    reports: Iterable[tuple[Document, Report]], view: Callable[[Report], Adaptive], color: options.Color
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


def show_tokenizer(report: HealthReport, *, json: bool, full: bool, color: options.Color) -> None:
    """Print the health report on a tokenizer."""
    if json:
        print(TokenizerReport(report).to_json(full=full), end="")
    else:
        from bpe_cli.views.on_console import OnConsole
        from bpe_cli.views.vocabulary import health_view

        stdout_console(color).print(OnConsole(health_view(report, full=full)))


def show_tokens(found: TokenCards, *, json: bool, full: bool, color: options.Color) -> None:
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
