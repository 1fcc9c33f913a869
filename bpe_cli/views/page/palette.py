"""The colours of pages and pictures, light and dark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours for one kind of surroundings. Text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3) on all of them.

    Attributes:
        ink: Text.
        paper: What is behind it.
        faint: Text that says less.
        line: Lines between things.
        accent: Focus, links, and boundaries that differ.
        tokens: Behind tokens, in turn. Neighbours differ in lightness too, for those who see few hues.
    """

    ink: str
    paper: str
    faint: str
    line: str
    accent: str
    tokens: tuple[str, str, str, str]


LIGHT = Palette("#16181d", "#ffffff", "#565b66", "#c9ccd3", "#8a0f3c", ("#d2f1fa", "#dfa6e3", "#dcf5bd", "#ffb870"))
DARK = Palette("#f3f4f6", "#14161a", "#a9afba", "#444953", "#ffb3cb", ("#123f4e", "#75387b", "#1d4a1c", "#85500f"))


def variables(palette: Palette) -> dict[str, str]:
    """Name the colours as style sheets do."""
    named = {name: getattr(palette, name) for name in ("ink", "paper", "faint", "line", "accent")}
    return named | {f"token-{number}": color for number, color in enumerate(palette.tokens)}
