"""Show what ``bpe inspect`` found: on the console, as JSON, as a page, as pictures."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from bpe_cli.cli import options
from bpe_cli.cli.console import print_blocks, print_json, stdout_console, write_page
from bpe_cli.cli.inspect.view_options import Shown
from bpe_cli.cli.pictures import Drawn, PictureFile, write_pictures
from bpe_cli.results import StepsReport, TextReport, TokenizerReport
from bpe_cli.views import ALL

if TYPE_CHECKING:
    from bpe_cli.jobs.inspect import (
        Document,
        ExplainedTexts,
        InspectedTexts,
        Inspection,
        RankedTexts,
        TextInspection,
        TokenCards,
    )
    from bpe_cli.views.blocks import Adaptive
    from bpe_cli.views.stages import StagesView
    from bpe_cli.views.tokens import TokenView

Report = TypeVar("Report")


def show(done: "Inspection", display: Shown, pictures: tuple[PictureFile, ...], screen: options.Screen) -> None:
    """Print the result in the requested form."""
    from bpe_cli.jobs.inspect import ExplainedTexts, InspectedTexts, RankedTexts, TokenCards

    if isinstance(done, TokenCards):
        _show_tokens(done, display, screen.color)
    elif isinstance(done, ExplainedTexts):
        _show_steps(done, display, screen)
    elif isinstance(done, RankedTexts):
        _show_rankings(done, display, screen.color)
    elif not isinstance(done, InspectedTexts):
        _show_tokenizer(TokenizerReport(done), display, pictures, screen)
    elif display.cuts and display.json:
        from bpe_cli.views.as_json import all_pieces_json

        cut = [(document.origin, inspection.stages) for document, inspection in done.documents]
        print_json(all_pieces_json([stages for _, stages in cut if stages], [origin for origin, _ in cut]))
    elif display.is_page:
        _write_pages(done, display, pictures, screen.quiet)
    elif display.json:
        _print_json(done.documents)
    else:
        _print_each(done.documents, _view_of(display), screen.color)


def _show_tokenizer(
    report: TokenizerReport, display: Shown, pictures: tuple[PictureFile, ...], screen: options.Screen
) -> None:
    """Write files of a tokenizer's report, JSON, or a screen of it or some sections, and small pictures."""
    if display.html is not None:
        write_page(display.html, [report.to_html(full=display.full)], screen.quiet)
    write_pictures(pictures, report, screen.quiet)
    if display.json:
        print(report.to_json(full=display.full), end="")
    elif not display.is_page:
        from bpe_cli.views.health import screen_view, sections_view
        from bpe_cli.views.on_console import OnConsole

        names = display.sections or ([ALL] if display.full else [])
        health = report.value
        parts = [sections_view(health, names, full=display.full) if names else screen_view(health)]
        if display.plot:
            from bpe_cli.views.pictures.of_tokenizer import tokenizer_charts
            from bpe_cli.views.pictures.terminal import plots

            parts.append(plots(tokenizer_charts(health)))
        print_blocks(OnConsole(*parts), stdout_console(screen.color))


def _show_steps(done: "ExplainedTexts", display: Shown, screen: options.Screen) -> None:
    """Show the steps of texts; with --html as a page, and as JSON if that is asked for too."""
    from bpe_cli.views.steps import StepsView

    if display.html is None and not display.json:
        _print_each(done.documents, lambda each: StepsView(each, full=display.full), screen.color)
        return
    report = StepsReport(tuple(done.documents), done.tokenizer.name)
    if display.html is not None:
        write_page(display.html, [report.to_html()], screen.quiet)
    if display.json:
        print(report.to_json(), end="")


def _show_rankings(done: "RankedTexts", display: Shown, color: options.Color) -> None:
    """Print the best segmentations of texts; as JSON one object of them all."""
    if display.json:
        from bpe_cli.views.as_json import rankings_json

        ranked = tuple(done.documents)
        print_json(rankings_json([report for _, report in ranked], [document.origin for document, _ in ranked]))
    else:
        from bpe_cli.views.stages import RankingView

        _print_each(done.documents, lambda each: RankingView(each, ids=display.ids), color)


def _view_of(display: Shown) -> "Callable[[TextInspection], TokenView | StagesView]":
    from bpe_cli.views.labels import TOKEN_LIMIT
    from bpe_cli.views.tokens import Notes, TokenView

    notes = Notes(ids=display.ids, spans=display.spans, scores=display.scores)
    shown, marked = None if display.full else TOKEN_LIMIT, sys.stdout.isatty()

    def view(inspection: "TextInspection") -> "TokenView | StagesView":
        if inspection.stages is not None:
            from bpe_cli.views.stages import StagesView

            return StagesView(
                inspection.stages, notes=notes, limit=shown, warnings=inspection.warnings, marked=marked,
                pieces_only=display.cuts,
            )  # fmt: skip
        return TokenView(
            inspection.segmentation,
            notes=notes,
            table=display.table,
            limit=shown,
            warnings=inspection.warnings,
            marked=marked,
        )

    return view


def _print_json(inspected: "Iterable[tuple[Document, TextInspection]]") -> None:
    print(TextReport(tuple(inspected)).to_json(), end="")


def _write_pages(done: "InspectedTexts", display: Shown, pictures: tuple[PictureFile, ...], quiet: bool) -> None:
    """Write files, and JSON to stdout if that is asked for too."""
    name, inspected = done.tokenizer.name, done.documents
    if display.json or (display.html is not None and pictures):
        kept = list(inspected)
        inspected = iter(kept)
    if display.html is not None:
        from bpe_cli.views.page.page import texts_page

        shown = ((inspection.segmentation, inspection.warnings, document.title) for document, inspection in inspected)
        write_page(display.html, texts_page(shown, tokenizer=name, full=display.full), quiet)
        if pictures:
            inspected = iter(kept)
    if pictures:
        from bpe_cli.views.page.svg import picture

        drawn = (inspection.segmentation for _, inspection in inspected)
        write_pictures(pictures, Drawn(picture(drawn, tokenizer=name, ids=display.ids, full=display.full)), quiet)
    if display.json:
        _print_json(kept)


def _print_each(
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
            print_blocks(OnConsole(view(report)), console)


def _show_tokens(token_cards: "TokenCards", display: Shown, color: options.Color) -> None:
    """Print all about each token that is there, then fail if one is not."""
    if token_cards.cards and display.json:
        from bpe_cli.views.as_json import cards_json

        print_json(cards_json(token_cards.tokenizer, token_cards.cards))
    elif token_cards.cards:
        from bpe_cli.views.on_console import OnConsole
        from bpe_cli.views.vocabulary import card_view

        console = stdout_console(color)
        for card in token_cards.cards:
            print_blocks(OnConsole(card_view(card, full=display.full)), console)
    token_cards.unknown.check()
