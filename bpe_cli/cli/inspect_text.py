"""What ``bpe inspect`` shows of texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bpe_cli.cli import options
from bpe_cli.cli.console import note, print_json, stdout_console
from bpe_cli.errors import InputError

if TYPE_CHECKING:
    from bpe_cli.corpus import Source
    from bpe_cli.tokenizer import Specials, Tokenizer

LARGEST_TEXT = 16 << 20
"""Bytes of a document that are shown at most: every token of it becomes an object."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show of each text."""

    ids: bool = False
    nbest: int | None = None
    steps: bool = False
    full: bool = False
    json: bool = False
    color: options.Color = options.Color.auto


def show_texts(model: Tokenizer, source: Source, specials: Specials, wanted: Wanted, quiet: bool) -> None:
    """Print each document of a source as it was asked for."""
    documents = _documents(source, quiet)
    if wanted.steps:
        _tell(model, documents, specials, wanted)
    elif wanted.nbest is not None:
        _rank(model, documents, wanted.nbest, specials, wanted)
    else:
        _show_tokens(model, documents, specials, wanted)


def _show_tokens(model: Tokenizer, documents: Iterator[bytes], specials: Specials, wanted: Wanted) -> None:
    from bpe_cli.reports.text.segmentation import segment

    reports = (segment(model, document, specials) for document in documents)
    if wanted.json:
        from bpe_cli.views.text.as_json import texts_json

        print_json(texts_json(list(reports)))
        return
    from bpe_cli.views.text.colored import LIMIT, TokenView

    for number, report in enumerate(reports):
        if number:
            print()
        view = TokenView(report, ids=wanted.ids, limit=None if wanted.full else LIMIT)
        stdout_console(wanted.color).print(view)


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
