"""Colour tokens so that neighbours differ, on dark and light terminals alike.

Every style gives both sides, black on a light colour, so that it does not depend on the terminal's own.
Lighter and darker ones take turns: neighbours differ for those who see few hues, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

if TYPE_CHECKING:
    from rich.console import Console

PLAIN = Style()

Palette = tuple[Style, ...]
"""Styles that tokens take in turn; none where a console has no colours."""


def _on(*colors: str) -> Palette:
    return tuple(Style.parse(f"#000000 on {color}") for color in colors)


TRUE_COLORS = _on("#d6e6ff", "#f5a8b8", "#d3f5c4", "#c8a6f5", "#fff0ad", "#f9b572")
CUBE_COLORS = _on("#d7ffff", "#d787d7", "#d7ffaf", "#ffaf5f")
"""All are in the cube of 256 colours, so that they are the same on every such terminal."""
BASIC_COLORS = tuple(Style.parse(f"black on {color}") for color in ("cyan", "yellow", "green", "magenta"))

_PALETTES = {"truecolor": TRUE_COLORS, "256": CUBE_COLORS}
_SPECIAL = Style(bold=True, reverse=True)
_SPECIAL_PLAIN = Style(bold=True)
CHARACTER = Style(bold=True)
"""Of a character that lies in several tokens, whose bytes have the colours."""


def palette_of(console: Console) -> Palette:
    """Choose the colours of tokens; none at all where a console has no colours."""
    if console.no_color or console.color_system is None:
        return ()
    return _PALETTES.get(console.color_system, BASIC_COLORS)


def token_style(palette: Palette, number: int, special: bool = False) -> Style:
    """Return the style of a token: never that of its neighbour, special tokens apart, which have brackets."""
    if special:
        return _SPECIAL if palette else _SPECIAL_PLAIN
    return palette[number % len(palette)] if palette else PLAIN
