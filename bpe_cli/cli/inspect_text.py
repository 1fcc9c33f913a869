"""What ``bpe inspect`` shows of texts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import print_json
from bpe_cli.cli.inputs import inputs_of
from bpe_cli.cli.output_checks import check_outputs
from bpe_cli.cli.shown_documents import Document, print_each, read_documents
from bpe_cli.cli.write_page import write_page
from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.reports.text.stages import StagesReport
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.views.text.stages import StagesView

    Report = tuple[Segmentation, tuple[TextWarning, ...], StagesReport | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show of each text."""

    ids: bool = False
    spans: bool = False
    scores: bool = False
    table: bool = False
    stages: bool = False
    nbest: int | None = None
    steps: bool = False
    full: bool = False
    json: bool = False
    color: options.Color = options.Color.auto
    html: str | None = None
    svg: str | None = None

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


def show_texts(model: Tokenizer, source: Source, specials: Specials, wanted: Wanted, quiet: bool) -> None:
    """Print each document of a source as it was asked for."""
    wanted.check()
    check_outputs(wanted.outputs, stdout_taken="--json" if wanted.json else None)
    found = inputs_of(source, quiet, wanted.outputs)
    documents = read_documents(source, found, quiet)
    if wanted.steps:
        _tell(model, documents, specials, wanted)
    elif wanted.nbest is not None:
        _rank(model, documents, wanted.nbest, specials, wanted)
    elif wanted.html is not None or wanted.svg is not None:
        _write_pages(model, documents, specials, wanted, quiet)
    else:
        _show_tokens(model, documents, specials, wanted)


def _show_tokens(model: Tokenizer, documents: Iterator[Document], specials: Specials, wanted: Wanted) -> None:
    if wanted.scores:
        from bpe_cli.reports.text.scores import check_scores

        check_scores(model)
    reports = _reports(model, documents, specials, wanted)
    if wanted.json:
        _print_json(reports)
        return
    from bpe_cli.views.limits import TOKEN_LIMIT
    from bpe_cli.views.text.colored import Notes, TokenView

    notes = Notes(ids=wanted.ids, spans=wanted.spans, scores=wanted.scores)
    limit, marked = None if wanted.full else TOKEN_LIMIT, sys.stdout.isatty()

    def view(report: Report) -> TokenView | StagesView:
        segmentation, warnings, stages = report
        if stages is not None:
            from bpe_cli.views.text.stages import StagesView

            return StagesView(stages, notes=notes, limit=limit, warnings=warnings, marked=marked)
        return TokenView(segmentation, notes=notes, table=wanted.table, limit=limit, warnings=warnings, marked=marked)

    print_each(reports, view, wanted.color)


def _print_json(reports: Iterable[tuple[Document, Report]]) -> None:
    from bpe_cli.views.text.as_json import segmentation_json, texts_json

    values = [(document.origin, segmentation_json(*report)) for document, report in reports]
    print_json(texts_json([value for _, value in values], [origin for origin, _ in values]))


def _write_pages(
    model: Tokenizer, documents: Iterator[Document], specials: Specials, wanted: Wanted, quiet: bool
) -> None:
    """Write files, and JSON to stdout if that is asked for too."""
    reports = _reports(model, documents, specials, wanted)
    if wanted.json or (wanted.html is not None and wanted.svg is not None):
        kept = list(reports)
        reports = iter(kept)
    if wanted.html is not None:
        from bpe_cli.views.page.page import texts_page

        shown = ((segmentation, warnings, document.title) for document, (segmentation, warnings, _) in reports)
        write_page(wanted.html, texts_page(shown, tokenizer=model.name, full=wanted.full), quiet)
        if wanted.svg is not None:
            reports = iter(kept)
    if wanted.svg is not None:
        from bpe_cli.views.page.svg import picture

        drawn = (segmentation for _, (segmentation, _, _) in reports)
        write_page(wanted.svg, [picture(drawn, tokenizer=model.name, ids=wanted.ids, full=wanted.full)], quiet)
    if wanted.json:
        _print_json(kept)


def _reports(
    model: Tokenizer, documents: Iterator[Document], specials: Specials, wanted: Wanted
) -> Iterator[tuple[Document, Report]]:
    """Report on each text that was asked for."""
    from bpe_cli.reports.text.segmentation import TextReader
    from bpe_cli.reports.text.stages import refuse_long, show_stages
    from bpe_cli.reports.text.warnings import Watch
    from bpe_cli.views.limits import TOKEN_LIMIT

    reader, watch = TextReader(model, specials), Watch(model, specials)
    details = None if wanted.full or wanted.json or wanted.stages else TOKEN_LIMIT
    for document in documents:
        text = document.content
        if wanted.stages:
            refuse_long(text)
        segmentation = reader.segment(text, details)
        stages = show_stages(model, text, segmentation, specials) if wanted.stages else None
        yield document, (segmentation, watch.warn(text, segmentation), stages)


def _rank(model: Tokenizer, documents: Iterator[Document], best: int, specials: Specials, wanted: Wanted) -> None:
    from bpe_cli.reports.text.nbest import check_rankable, rank
    from bpe_cli.views.text.nbest import RankingView, rankings_json

    check_rankable(model)  # it is refused whether there are documents or not
    rankings = ((document, rank(model, document.content, best, specials)) for document in documents)
    if wanted.json:
        kept = list(rankings)
        print_json(rankings_json([ranking for _, ranking in kept], [document.origin for document, _ in kept]))
        return
    print_each(rankings, lambda ranking: RankingView(ranking, ids=wanted.ids), wanted.color)


def _tell(model: Tokenizer, documents: Iterator[Document], specials: Specials, wanted: Wanted) -> None:
    from bpe_cli.reports.text.steps import Limits, teller_of

    limits = Limits(None, None) if wanted.full else Limits()
    if wanted.nbest is not None:
        from bpe_cli.reports.text.nbest import refuse_without_scores

        refuse_without_scores(model)
        limits = replace(limits, nbest=wanted.nbest)
    tell = teller_of(model, specials, limits)
    told = ((document, tell(document.content)) for document in documents)
    if wanted.json:
        from bpe_cli.views.text.steps_json import all_steps_json

        kept = list(told)
        print_json(all_steps_json([steps for _, steps in kept], [document.origin for document, _ in kept]))
        return
    from bpe_cli.views.text.steps import StepsView

    print_each(told, lambda steps: StepsView(steps, full=wanted.full), wanted.color)
