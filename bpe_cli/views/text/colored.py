"""Show a text token by token: in colours, or with bars between tokens where there are none.

The console decides which: bars when it is no terminal or colour is off. Colour never says anything
alone: special tokens have brackets, and a character that lies in several tokens stands once, followed
by the bytes that each of them has: ``谁⟨e8 b0|81⟩``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from bpe_cli.views.numbers import count, fraction, whole
from bpe_cli.views.visible import BAR, units, visible
from bpe_cli.views.writer import PLAIN, Writer

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from bpe_cli.reports.text.segmentation import Excerpt, Part, PlacedToken, Segmentation

LIMIT = 1000
"""How many tokens are shown unless all are asked for."""

# Black on light colours, both given, reads on dark and light terminals alike. Neighbours differ in
# lightness too, for those who see few hues. All are in the cube of 256 colours: there they are the same.
_RICH_PALETTE = tuple(Style.parse(f"#000000 on {color}") for color in ("#d7ffff", "#d787d7", "#d7ffaf", "#ffaf5f"))
_BASIC_PALETTE = tuple(Style.parse(f"black on {color}") for color in ("cyan", "yellow", "green", "magenta"))
_SPECIAL = Style(bold=True, reverse=True)
_SPECIAL_PLAIN = Style(bold=True)
_CHARACTER = Style(bold=True)

_LONGEST_CLUSTER = 64  # characters shown of one grapheme cluster; no real one is longer


class TokenView:
    """Render a segmentation: the text, its ids (or a table of the tokens), and the totals."""

    def __init__(
        self, segmentation: Segmentation, *, ids: bool = False, limit: int | None = LIMIT, totals: bool = True
    ) -> None:
        """Choose what to show.

        Args:
            segmentation: What to show.
            ids: Whether to list the tokens in a table instead of giving only a line of ids.
            limit: Show only so many tokens; None for all.
            totals: Whether to end with the ids and a line of totals.
        """
        self._segmentation = segmentation
        self._ids = ids
        self._excerpt = segmentation.excerpt(limit)
        self._totals = totals

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        palette = _palette(console)
        width = options.max_width
        yield from _text(self._excerpt, palette, width)
        if self._excerpt.more:
            yield Text(f"and {count(self._excerpt.more, 'more token')}", style="italic")
        if not self._totals:
            return
        if self._ids:
            yield _table(self._excerpt.tokens, palette)
        elif self._excerpt.tokens:
            yield Segment.line()
            yield from _id_line(self._excerpt.tokens, palette, width)
            yield Segment.line()
        else:
            yield Segment.line()
        yield totals_line(self._segmentation)


def totals_line(segmentation: Segmentation) -> Text:
    """Write the totals of a segmentation on one line."""
    parts = [
        count(segmentation.token_count, "token"),
        count(segmentation.byte_count, "byte"),
        count(segmentation.character_count, "character"),
    ]
    if segmentation.tokens:
        parts.append(f"{fraction(segmentation.bytes_per_token)} bytes/token")
        parts.append(f"{fraction(segmentation.characters_per_token)} characters/token")
    if segmentation.differs_at is None:
        parts.append("round trip ok")
    else:
        parts.append(f"round trip differs from byte {whole(segmentation.differs_at)} on")
    return Text(", ".join(parts))


_Palette = tuple[Style, ...]


def _palette(console: Console) -> _Palette:
    """Choose the colours of tokens; none at all where a console has no colours."""
    if console.no_color or console.color_system is None:
        return ()
    return _RICH_PALETTE if console.color_system in ("256", "truecolor") else _BASIC_PALETTE


def _style(palette: _Palette, number: int, special: bool = False) -> Style:
    """Give the style of a token: never that of its neighbour, special tokens apart."""
    if special:
        return _SPECIAL if palette else _SPECIAL_PLAIN
    return palette[number % len(palette)] if palette else PLAIN


def _text(excerpt: Excerpt, palette: _Palette, width: int) -> list[Segment]:
    """Set the text."""
    # One column stays free for the bar behind a line feed that fills a line.
    writer = Writer(width if palette else width - 1)
    for group in excerpt.groups:
        if group.first and not palette:  # boundaries inside a group stand among the bytes
            writer.boundary()
        for part in group.parts:
            if part.split:
                _put_split(writer, part, palette)
                continue
            style = _style(palette, part.first, part.special)
            if part.special:
                writer.put("⟦", style)
            for unit in units(part.text, bars=not palette):
                writer.put(unit, style)
            if part.special:
                writer.put("⟧", style)
    return writer.finish()


def _put_split(writer: Writer, part: Part, palette: _Palette) -> None:
    """Set a character that lies in several tokens: itself once, then its bytes token by token."""
    for unit in units(part.text[:_LONGEST_CLUSTER], bars=not palette):
        writer.put(unit, _CHARACTER)
    if len(part.text) > _LONGEST_CLUSTER:
        writer.put("…", PLAIN)
    writer.put("⟨", PLAIN)
    for place, content in enumerate(part.contents):
        if place:
            writer.put(BAR, PLAIN)
        style = _style(palette, part.first + place)
        for position, byte in enumerate(content):
            writer.put(f" {byte:02x}" if position else f"{byte:02x}", style)
    writer.put(f"{BAR}…⟩" if part.clipped else "⟩", PLAIN)


def _id_line(tokens: tuple[PlacedToken, ...], palette: _Palette, width: int) -> list[Segment]:
    """Set the ids, each in the colour of its token."""
    writer = Writer(width)
    for number, token in enumerate(tokens):
        writer.put_word(str(token.token_id), _style(palette, number, token.special))
    return writer.finish()


def _table(tokens: tuple[PlacedToken, ...], palette: _Palette) -> Table:
    """List tokens: number, id, token, bytes, span in the text."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("id", justify="right", no_wrap=True)
    table.add_column("token", overflow="fold")
    table.add_column("bytes", overflow="fold")
    table.add_column("span", justify="right", no_wrap=True)
    for number, token in enumerate(tokens):
        shown = visible(token.content)
        table.add_row(
            str(number),
            str(token.token_id),
            Text(f"⟦{shown}⟧" if token.special else shown, style=_style(palette, number, token.special)),
            Text(" ".join(_hex_bytes(token.content))),
            f"{token.start}–{token.end}",
        )
    return table


def _hex_bytes(content: bytes) -> Iterator[str]:
    return (f"{byte:02x}" for byte in content)
