"""What ``bpe inspect`` shows of texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import note, print_json, stdout_console
from bpe_cli.cli.outputs import check_kept, check_outputs, read_inputs
from bpe_cli.cli.pages import write_page
from bpe_cli.cli.reading import inputs_of
from bpe_cli.errors import InputError, UsageError

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.reports.text.stages import StagesReport
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.tokenizer import Specials, Tokenizer
    from bpe_cli.views.text.stages import StagesView

LARGEST_TEXT = 16 << 20
"""Bytes of a document that are shown at most: every token of it becomes an object."""


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
    found = inputs_of(source, quiet)
    check_kept(wanted.outputs, read_inputs(found))
    documents = _documents(source, found, quiet)
    if wanted.steps:
        _tell(model, documents, specials, wanted)
    elif wanted.nbest is not None:
        _rank(model, documents, wanted.nbest, specials, wanted)
    elif wanted.html is not None or wanted.svg is not None:
        _write_pages(model, documents, specials, wanted, quiet)
    else:
        _show_tokens(model, documents, specials, wanted)


def _show_tokens(model: Tokenizer, documents: Iterator[bytes], specials: Specials, wanted: Wanted) -> None:
    if wanted.scores:
        from bpe_cli.reports.text.scores import check_scores

        check_scores(model)
    reports = _reports(model, documents, specials, wanted)
    if wanted.json:
        from bpe_cli.views.text.as_json import segmentation_json, texts_json

        print_json(texts_json([segmentation_json(*report) for report in reports]))
        return
    from bpe_cli.views.text.colored import LIMIT, Notes, TokenView

    notes = Notes(ids=wanted.ids, spans=wanted.spans, scores=wanted.scores)
    limit, marked = None if wanted.full else LIMIT, sys.stdout.isatty()
    for number, (report, warnings, stages) in enumerate(reports):
        if number:
            print()
        view: TokenView | StagesView
        if stages is not None:
            from bpe_cli.views.text.stages import StagesView

            view = StagesView(stages, notes=notes, limit=limit, warnings=warnings, marked=marked)
        else:
            view = TokenView(report, notes=notes, table=wanted.table, limit=limit, warnings=warnings, marked=marked)
        stdout_console(wanted.color).print(view)


def _write_pages(model: Tokenizer, documents: Iterator[bytes], specials: Specials, wanted: Wanted, quiet: bool) -> None:
    """Write files, and JSON to stdout if that is asked for too."""
    reports = _reports(model, documents, specials, wanted)
    if wanted.json or (wanted.html is not None and wanted.svg is not None):
        kept = list(reports)
        reports = iter(kept)
    if wanted.html is not None:
        from bpe_cli.views.page.page import texts_page

        shown = ((report, warnings) for report, warnings, _ in reports)
        write_page(wanted.html, texts_page(shown, tokenizer=model.name, full=wanted.full), quiet)
        if wanted.svg is not None:
            reports = iter(kept)
    if wanted.svg is not None:
        from bpe_cli.views.page.svg import picture

        drawn = (report for report, _, _ in reports)
        write_page(wanted.svg, [picture(drawn, tokenizer=model.name, ids=wanted.ids, full=wanted.full)], quiet)
    if wanted.json:
        from bpe_cli.views.text.as_json import segmentation_json, texts_json

        print_json(texts_json([segmentation_json(*report) for report in kept]))


def _reports(
    model: Tokenizer, documents: Iterator[bytes], specials: Specials, wanted: Wanted
) -> Iterator[tuple[Segmentation, tuple[TextWarning, ...], StagesReport | None]]:
    """Say everything about each text that was asked for."""
    from bpe_cli.reports.text.segmentation import TextReader
    from bpe_cli.reports.text.warnings import Watch

    reader, watch = TextReader(model, specials), Watch(model, specials)
    for text in documents:
        report, stages = reader.segment(text), None
        if wanted.stages:
            from bpe_cli.reports.text.stages import show_stages

            stages = show_stages(model, text, report, specials)
        yield report, watch.warn(text, report), stages


def _rank(model: Tokenizer, documents: Iterator[bytes], best: int, specials: Specials, wanted: Wanted) -> None:
    from bpe_cli.reports.text.nbest import rank, runner_of
    from bpe_cli.views.text.nbest import RankingView, rankings_json

    runner_of(model)  # it is refused whether there are documents or not
    rankings = (rank(model, document, best, specials) for document in documents)
    if wanted.json:
        print_json(rankings_json(list(rankings)))
        return
    for number, ranking in enumerate(rankings):
        if number:
            print()
        stdout_console(wanted.color).print(RankingView(ranking, ids=wanted.ids))


def _tell(model: Tokenizer, documents: Iterator[bytes], specials: Specials, wanted: Wanted) -> None:
    from bpe_cli.reports.text.steps import Limits, teller_of

    limits = Limits(None, None) if wanted.full else Limits()
    if wanted.nbest is not None:
        from bpe_cli.reports.text.nbest import refuse_without_scores

        refuse_without_scores(model)
        limits = replace(limits, nbest=wanted.nbest)
    tell = teller_of(model, specials, limits)
    told = (tell(document) for document in documents)
    if wanted.json:
        from bpe_cli.views.text.steps_json import all_steps_json

        print_json(all_steps_json(list(told)))
        return
    from bpe_cli.views.text.steps import StepsView

    for number, steps in enumerate(told):
        if number:
            print()
        stdout_console(wanted.color).print(StepsView(steps, full=wanted.full))


def _documents(source: Source, found: Inputs, quiet: bool) -> Iterator[bytes]:
    """Yield each document whole.

    Raises:
        InputError: One is too long to be shown.
    """
    from bpe_cli.corpus import read_blocks

    held = bytearray()

    def tell(message: str) -> None:
        note(f"note: {message}", quiet=quiet)

    blocks = read_blocks(source, stdin=sys.stdin.buffer, inputs=found, on_note=tell)
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
