"""Show ids that were written: what they are, how long, what ends them, and some documents as coloured tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bpe_cli.views.blocks import Bar, Blocks, Gap, Heading, Line, Sheet, numbers, text_column
from bpe_cli.views.labels import count, fraction, percent, whole
from bpe_cli.views.tokens import NO_NOTES, Notes, TokenView
from bpe_cli.views.visible import harmless, visible

if TYPE_CHECKING:
    from bpe_cli.reports.data import DataReport, Ends, Lengths, ShownRow
    from bpe_cli.views.blocks import Block


@dataclass(frozen=True)
class DataView:
    """A report on ids: its facts, a histogram of lengths, and the documents that were asked for.

    Attributes:
        report: What to show.
        eot: What the token that ends documents is called; None if there is none.
        notes: What to set under each token.
        marked: Whether to keep in its place what reads from the right, for a terminal.
    """

    report: DataReport
    eot: str | None = None
    notes: Notes = NO_NOTES
    marked: bool = False

    def blocks(self) -> Blocks:
        """Lay the report out."""
        return Blocks(*self._blocks())

    def _blocks(self) -> Iterator[Block]:
        report = self.report
        stored = report.format if report.dtype is None else f"{report.format}, {report.dtype}"
        total = f"{count(report.rows, report.unit)}, {count(report.tokens, 'token')}"
        tokenizer = harmless(report.tokenizer) if report.tokenizer else "a tokenizer"
        yield Line((f"{harmless(report.name)}: {total}", "bold"), f" ({stored}, {tokenizer})")
        yield Line(_ends(report, self.eot))
        if report.first_unknown is not None:
            where, token_id = report.first_unknown
            place = f" in {report.unit} {whole(where)}" if report.is_marked else ""
            yield Line(
                ("warning: ", "bold yellow"),
                f"{count(report.unknown, 'id')} without a token in this tokenizer, the first {token_id}{place}: "
                "the ids are another tokenizer's",
            )
        if report.lengths is not None:
            yield from _lengths(report.lengths, report)
        for row in report.shown:
            yield Gap()
            yield Heading(heading_of(row, report))
            yield TokenView(row.segmentation, notes=self.notes, limit=None, totals=False, marked=self.marked)
            if row.length > row.segmentation.token_count:
                yield Line(f"and {count(row.length - row.segmentation.token_count, 'more token')}", style="italic")


def heading_of(row: ShownRow, report: DataReport) -> str:
    """Return what stands above a row."""
    what = f"{report.unit} {whole(row.number)}" if report.is_marked else f"all {report.unit}s"
    return f"{what}: {count(row.length, 'token')}"


def _ends(report: DataReport, name: str | None) -> str:
    ends, unit = report.ends, report.unit
    if not report.is_marked:
        return f"the ends of the {unit}s are not marked: no token was written there"
    if ends.eot is None:
        return f"nothing says where a {unit} ends: no token is known to end one"
    shown = visible(name.encode("utf-8", "surrogateescape")) if name else "the token"
    eot = f"{shown} ({ends.eot})"
    if unit == "sequence":
        places = ends.inside + ends.ended
        return f"{eot} ends {count(places, 'document')} in them" if places else f"no document ends with {eot}"
    if not ends.ended:
        said = f"no document ends with {eot}"
    elif ends.first_open is None:
        said = f"every document ends with {eot}"
    else:
        said = f"{count(report.rows - ends.ended, 'document')} without {eot} at the end, the first {ends.first_open:,}"
    return f"{said}; it stands inside of documents {count(ends.inside, 'time')}" if ends.inside else said


def _lengths(lengths: Lengths, report: DataReport) -> Iterator[Block]:
    yield Gap()
    mean = fraction(report.tokens / report.rows, 1)
    yield Line(
        f"tokens per {report.unit}: {whole(lengths.shortest)} to {whole(lengths.longest)}, "
        f"median {whole(lengths.median)}, mean {mean}"
    )
    most = max(number for _, _, number in lengths.histogram)
    table = Sheet(*numbers("tokens", f"{report.unit}s", "share"), text_column())
    for first, last, number in lengths.histogram:
        span = whole(first) if first == last else f"{whole(first)}–{whole(last)}"
        table.add_row(span, whole(number), percent(number / report.rows), Bar(number / most))
    yield table


def data_json(report: DataReport) -> dict[str, Any]:
    """Return a report as JSON values: schema ``bpe.inspect.data/1``."""
    from bpe_cli.support.json_text import name_value, text_value
    from bpe_cli.views.as_json import json_value

    lengths = report.lengths
    return {
        "schema": "bpe.inspect.data/1",
        "name": name_value(report.name),
        "format": report.format,
        "dtype": report.dtype,
        "tokenizer": json_value(report.tokenizer),
        "unit": report.unit,
        "rows": report.rows,
        "tokens": report.tokens,
        "lengths": None
        if lengths is None
        else {
            "shortest": lengths.shortest,
            "median": lengths.median,
            "longest": lengths.longest,
            "histogram": [list(each) for each in lengths.histogram],
        },
        "eot": _ends_value(report.ends),
        "unknown": report.unknown,
        "first_unknown": None if report.first_unknown is None else list(report.first_unknown),
        "shown": [
            {
                "row": row.number,
                "length": row.length,
                "ids": list(row.segmentation.placed.ids),
                "tokens": [text_value(token.content) for token in row.segmentation.tokens],
            }
            for row in report.shown
        ],
    }


def _ends_value(ends: Ends) -> dict[str, int | None]:
    return {"id": ends.eot, "ended": ends.ended, "first_open": ends.first_open, "inside": ends.inside}
