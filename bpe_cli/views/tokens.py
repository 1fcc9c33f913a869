"""Show a text token by token, in colours, or with bars between tokens where there are none; and list its tokens.

The console decides which: bars when it is no terminal or colour is off. Colour never says anything alone: special
tokens have brackets, and a character that lies in several tokens stands once, followed by what each of them has: bytes
``谁⟨e8 b0|81⟩``, or whole characters ``ทั⟨ท|◌ั⟩``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bpe_cli.views.blocks import Blocks, Gap, Hanging, Heading, Line, Screen, SetText, Sheet, numbers, text_column
from bpe_cli.views.labels import ABSENT, TOKEN_LIMIT, count, fraction, whole
from bpe_cli.views.lines import (
    BORDER,
    CHARACTER,
    PLAIN,
    Interlined,
    Palette,
    Stretch,
    Writer,
    interlinear,
    palette_of,
    token_style,
)
from bpe_cli.views.visible import BAR, bordered, harmless, shares, units, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bpe_cli.reports.text.segmentation import Excerpt, Group, Part, PlacedToken, Segmentation
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.views.blocks import Block


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes under each token: its id, its byte span, its score."""

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
        return tuple(note for is_due, note in rows if is_due)

    def __bool__(self) -> bool:
        return self.ids or self.spans or self.scores


NO_NOTES = Notes()


@dataclass(frozen=True)
class TokenView:
    """A segmentation: the text, with notes under its tokens or as a table, its ids, and the totals.

    Attributes:
        segmentation: What to show.
        notes: What to set under each token.
        table: Whether to list the tokens in a table, under the text.
        limit: Show only so many tokens; None for all.
        totals: Whether to end with the ids, the totals and the warnings.
        warnings: What to warn of.
        marked: Whether to keep in its place what reads from the right, for a terminal; see ``visible``.
    """

    segmentation: Segmentation
    notes: Notes = NO_NOTES
    table: bool = False
    limit: int | None = TOKEN_LIMIT
    totals: bool = True
    warnings: Sequence[TextWarning] = ()
    marked: bool = False

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield the blocks for a screen."""
        palette, excerpt = palette_of(screen), self.segmentation.excerpt(self.limit)
        if self.notes:
            made = columns(excerpt, palette, self.notes)
            yield SetText(interlinear(made, screen.width, bars=not palette, marked=self.marked))
        else:
            yield SetText(_text(excerpt, palette, screen.width, self.marked))
        if excerpt.more:
            yield Line(f"and {count(excerpt.more, 'more token')}", style="italic")
        if not self.totals:
            return
        if self.table:
            yield from _token_table(excerpt.tokens, palette, screen.width, self.marked)
        else:
            yield Gap()
            if excerpt.tokens and not self.notes.ids:
                yield SetText(_ids(excerpt.tokens, palette, screen.width))
                yield Gap()
        yield totals_line(self.segmentation)
        yield from warning_lines(self.warnings, palette)


def columns(excerpt: Excerpt, palette: Palette, notes: Notes) -> Iterator[Interlined]:
    """Yield a column for each token of an excerpt."""
    digits = score_digits(excerpt.tokens)
    shown = zip(excerpt.tokens, cells(excerpt.groups, palette), strict=True)
    for number, (token, cell) in enumerate(shown):
        style = token_style(palette, number, token.special)
        yield Interlined(cell.units, notes.of(token, digits), style, cell.tied)


def _text(excerpt: Excerpt, palette: Palette, width: int, marked: bool) -> list[Stretch]:
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


def _ids(tokens: tuple[PlacedToken, ...], palette: Palette, width: int) -> list[Stretch]:
    """Set the ids, each in the colour of its token."""
    writer = Writer(width)
    for number, token in enumerate(tokens):
        writer.put_word(str(token.token_id), token_style(palette, number, token.special))
    return writer.finish()


_LONGEST_CLUSTER = 64  # characters shown of one grapheme cluster; no real one is longer


@dataclass(slots=True)
class Cell:
    """The parts of a token that are shown.

    Attributes:
        units: What to write, and how.
        tied: Whether it goes on with a character of the token before, so that a bar stands also in colour.
    """

    units: list[tuple[str, str]] = field(default_factory=list)
    tied: bool = False


def cells(groups: Iterable[Group], palette: Palette) -> Iterator[Cell]:
    """Yield the shown parts of each token; with a ``palette`` bars do not mean boundaries."""
    for group in groups:
        made = [Cell(tied=number > 0) for number in range(group.end - group.first)]
        for part in group.parts:
            if part.split:
                _put_split(made, part, group.first, palette)
                continue
            style = token_style(palette, part.first, part.special)
            cell = made[part.first - group.first]
            if part.special:
                cell.units.append(("⟦", style))
            cell.units.extend((unit, style) for unit in units(part.text, bars=not palette))
            if part.special:
                cell.units.append(("⟧", style))
        yield from made


def _put_split(made: list[Cell], part: Part, first: int, palette: Palette) -> None:
    """Write a character that lies in several tokens: itself once, then what each token has of it."""
    cell = made[part.first - first]
    cell.units.extend((unit, CHARACTER) for unit in units(part.text[:_LONGEST_CLUSTER], bars=not palette))
    if len(part.text) > _LONGEST_CLUSTER:
        cell.units.append(("…", PLAIN))
    cell.units += [(BORDER, PLAIN), ("⟨", PLAIN)]
    for number, share in enumerate(shares(part.contents), start=part.first):
        style = token_style(palette, number)
        cell = made[number - first]
        cell.units.extend((unit, style) for unit in share)
    cell.units.append(("|…⟩" if part.clipped else "⟩", PLAIN))


def _token_table(tokens: tuple[PlacedToken, ...], palette: Palette, width: int, marked: bool) -> Iterator[Block]:
    """List tokens: number, id, token, bytes, spans in the text, and piece and score where there are any.

    What does not fit into ``width`` columns is left out, and named.
    """
    cells = _columns(tokens, marked)
    left_out = _too_many(cells, width)
    kept = [name for name in cells if name not in left_out]
    listed = Sheet(*(text_column(name) if name in _FOLDED else numbers(name)[0] for name in kept))
    styles = [token_style(palette, number, token.special) for number, token in enumerate(tokens)]
    for style, *row in zip(styles, *(cells[name] for name in kept), strict=True):
        named = zip(kept, row, strict=True)
        listed.add_row(*(Line(cell, style=style) if name == "token" else cell for name, cell in named))
    yield listed
    if left_out:
        yield Line(f"left out, too narrow: {', '.join(left_out)}", style="italic")


def text_blocks(
    segmentation: Segmentation,
    warnings: Sequence[TextWarning] = (),
    *,
    title: str | None = None,
    limit: int | None = TOKEN_LIMIT,
) -> Blocks:
    """Lay a text out as blocks: its name, its totals, its tokens, and its warnings."""
    excerpt = segmentation.excerpt(limit)
    cells = _columns(excerpt.tokens, marked=False)
    tokens = Sheet(*(text_column("number" if name == "#" else name, right=name not in _FOLDED) for name in cells))
    for row in zip(*cells.values(), strict=True):
        tokens.add_row(*row)
    more = [Line(f"and {count(excerpt.more, 'more token')}")] if excerpt.more else []
    lines = [Line(f"{warning.message} (byte {whole(warning.start)}); {warning.hint}") for warning in warnings]
    return Blocks(
        *([] if title is None else [Heading(title)]),
        Line(str(totals_line(segmentation)).replace("\n", ", ").replace("/", " per ")),
        *([tokens] if excerpt.tokens else []),
        *more,
        *lines,
    )


def totals_line(segmentation: Segmentation) -> Line:
    """Write the totals of a segmentation: tokens and characters first, the rest on a line of its own."""
    first = f"{count(segmentation.token_count, 'token')}, {count(segmentation.character_count, 'character')}"
    parts = [count(segmentation.byte_count, "byte")]
    if segmentation.tokens:
        parts.append(f"{fraction(segmentation.bytes_per_token)} bytes/token")
        parts.append(f"{fraction(segmentation.characters_per_token)} characters/token")
    if segmentation.differs_at is None:
        parts.append("round trip ok")
    else:
        parts.append(f"round trip differs from byte {whole(segmentation.differs_at)} on")
    return Line((first, "bold"), f"\n{', '.join(parts)}")


def _columns(tokens: tuple[PlacedToken, ...], marked: bool) -> dict[str, list[str]]:
    """Return the cells of each column: piece and score only where there are any."""
    digits = score_digits(tokens)
    cells = {
        "#": [str(number) for number in range(len(tokens))],
        "id": [str(token.token_id) for token in tokens],
        "token": [_shown(token, marked) for token in tokens],
        "bytes": [" ".join(f"{byte:02x}" for byte in token.reading) for token in tokens],
        "span": [span(token.start, token.end) for token in tokens],
        "characters": [span(token.character_start, token.character_end) for token in tokens],
    }
    if any(token.piece is not None for token in tokens):
        cells["piece"] = [whole(token.piece) for token in tokens]
    if digits is not None:
        cells["score"] = [score_text(token.score, digits) for token in tokens]
    return cells


_FOLDED = ("token", "bytes")
_FOLDED_WIDTH = 12
_BETWEEN = 3
_EXPENDABLE = ("characters", "piece", "bytes", "#", "score", "span")
"""What is left out of a narrow table, in this order."""


def _too_many(cells: dict[str, list[str]], width: int) -> list[str]:
    """List the columns for which there is no room."""
    needs = {name: max(map(cell_len, [name, *column])) + _BETWEEN for name, column in cells.items()}
    for name in _FOLDED:
        needs[name] = min(needs[name], _FOLDED_WIDTH + _BETWEEN)
    left_out = []
    for name in _EXPENDABLE:
        if sum(needs.values()) <= width:
            break
        if needs.pop(name, None) is not None:
            left_out.append(name)
    return left_out


def _shown(token: PlacedToken, marked: bool) -> str:
    shown = visible(token.reading)
    return bordered(f"⟦{shown}⟧" if token.special else shown, active=marked)


def span(start: int, end: int) -> str:
    """Write a span of bytes or characters, the end exclusive."""
    return f"{start}–{end}"


def score_digits(tokens: tuple[PlacedToken, ...]) -> int | None:
    """Return how many decimals the scores of tokens need; None if there are no scores."""
    scores = [token.score for token in tokens if token.score is not None]
    return (0 if all(score == int(score) for score in scores) else 2) if scores else None


def score_text(score: float | None, digits: int) -> str:
    """Write a score.

    >>> score_text(-9.31, 2), score_text(-28723.0, 0), score_text(None, 2)
    ('-9.31', '-28723', '–')
    """
    return ABSENT if score is None else f"{score:.{digits}f}"


def warning_lines(warnings: Iterable[TextWarning], palette: Palette) -> Iterator[Block]:
    """Yield a paragraph for each warning: the problem, its place, and the hint."""
    for number, warning in enumerate(warnings):
        if number == 0:
            yield Gap()
        where = f"{'first at ' if warning.count > 1 else ''}byte {whole(warning.start)}"
        yield Line(("warning: ", "bold yellow" if palette else ""), f"{harmless(warning.message)} ({where})")
        yield Hanging(Line((harmless(warning.hint), "dim" if palette else "")), indent=2)
