"""Show a text token by token: in colours, or with bars between tokens where there are none.

The console decides which: bars when it is no terminal or colour is off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.text import Text

from bpe_cli.views.numbers import TOKEN_LIMIT, count
from bpe_cli.views.palette import PLAIN, Palette, palette_of, token_style
from bpe_cli.views.text.cells import BORDER, cells
from bpe_cli.views.text.interlinear import Column, interlinear
from bpe_cli.views.text.table import score_digits, score_text, span, token_table, totals_lines
from bpe_cli.views.text.warnings import warning_lines
from bpe_cli.views.visible import BAR
from bpe_cli.views.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from bpe_cli.reports.text.segmentation import Excerpt, PlacedToken, Segmentation
    from bpe_cli.reports.text.warnings import TextWarning


@dataclass(frozen=True, slots=True)
class Notes:
    """What stands under each token: its id, its byte span, its score."""

    ids: bool = False
    spans: bool = False
    scores: bool = False

    def of(self, token: PlacedToken, digits: int | None) -> tuple[str, ...]:
        """Return the notes of a token in rows; scores with ``digits`` decimals."""
        rows = (
            (self.ids, str(token.token_id)),
            (self.spans, span(token.start, token.end)),
            (self.scores, score_text(token.score, digits or 0)),
        )
        return tuple(note for wanted, note in rows if wanted)

    def __bool__(self) -> bool:
        return self.ids or self.spans or self.scores


NO_NOTES = Notes()


class TokenView:
    """Render a segmentation: the text, with notes under its tokens or as a table, its ids, and the totals."""

    def __init__(
        self,
        segmentation: Segmentation,
        *,
        notes: Notes = NO_NOTES,
        table: bool = False,
        limit: int | None = TOKEN_LIMIT,
        totals: bool = True,
        warnings: Sequence[TextWarning] = (),
        marked: bool = False,
    ) -> None:
        """Choose what to show.

        Args:
            segmentation: What to show.
            notes: What to set under each token.
            table: Whether to list the tokens in a table, under the text.
            limit: Show only so many tokens; None for all.
            totals: Whether to end with the ids, the totals and the warnings.
            warnings: What to warn of.
            marked: Whether to keep in its place what reads from the right, for a terminal; see ``direction``.
        """
        self._segmentation = segmentation
        self._notes = notes
        self._table = table
        self._excerpt = segmentation.excerpt(limit)
        self._totals = totals
        self._warnings = warnings
        self._marked = marked

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        palette = palette_of(console)
        width = options.max_width
        if self._notes:
            yield from interlinear(
                columns(self._excerpt, palette, self._notes), width, bars=not palette, marked=self._marked
            )
        else:
            yield from _text(self._excerpt, palette, width, self._marked)
        if self._excerpt.more:
            yield Text(f"and {count(self._excerpt.more, 'more token')}", style="italic")
        if not self._totals:
            return
        if self._table:
            yield from token_table(self._excerpt.tokens, palette, width, marked=self._marked)
        else:
            yield Segment.line()
            if self._excerpt.tokens and not self._notes.ids:
                yield from _id_line(self._excerpt.tokens, palette, width)
                yield Segment.line()
        yield totals_lines(self._segmentation)
        yield from warning_lines(self._warnings, palette)


def columns(excerpt: Excerpt, palette: Palette, notes: Notes) -> Iterator[Column]:
    """Yield a column for each token of an excerpt."""
    digits = score_digits(excerpt.tokens)
    shown = zip(excerpt.tokens, cells(excerpt.groups, palette), strict=True)
    for number, (token, cell) in enumerate(shown):
        style = token_style(palette, number, token.special)
        yield Column(cell.units, notes.of(token, digits), style, cell.tied)


def _text(excerpt: Excerpt, palette: Palette, width: int, marked: bool) -> list[Segment]:
    """Set the text."""
    # One column stays free for the bar behind a line feed that fills a line.
    writer = Writer(width if palette else width - 1, marked=marked)
    for number, cell in enumerate(cells(excerpt.groups, palette)):
        if number:
            writer.border()
            if not palette:
                writer.boundary()
            elif cell.tied:
                writer.put(BAR, PLAIN)
        for unit, style in cell.units:
            if unit == BORDER:
                writer.border()
            else:
                writer.put(unit, style)
    return writer.finish()


def _id_line(tokens: tuple[PlacedToken, ...], palette: Palette, width: int) -> list[Segment]:
    """Set the ids, each in the colour of its token."""
    writer = Writer(width)
    for number, token in enumerate(tokens):
        writer.put_word(str(token.token_id), token_style(palette, number, token.special))
    return writer.finish()
