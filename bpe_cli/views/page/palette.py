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
        series: What is compared in a picture, in turn; each has a contrast of at least 3 (1.4.11) to the paper.
    """

    ink: str
    paper: str
    faint: str
    line: str
    accent: str
    tokens: tuple[str, ...]
    series: tuple[str, ...]


LIGHT = Palette(
    "#16181d", "#ffffff", "#565b66", "#c9ccd3", "#8a0f3c",
    ("#d2f1fa", "#dfa6e3", "#dcf5bd", "#ffb870"),
    ("#0b62a4", "#c25a00", "#00734d", "#a3327a", "#7a6a00", "#3d8fd1", "#c4342d", "#5b6270"),
)  # fmt: skip
DARK = Palette(
    "#f3f4f6", "#14161a", "#a9afba", "#444953", "#ffb3cb",
    ("#123f4e", "#75387b", "#1d4a1c", "#85500f"),
    ("#6db3f2", "#ffa657", "#4fd1a0", "#f29ad1", "#e0c341", "#4a8fc9", "#ff8b84", "#b5bcc8"),
)  # fmt: skip


def variables(palette: Palette) -> dict[str, str]:
    """Name the colours as style sheets do."""
    named = {name: getattr(palette, name) for name in ("ink", "paper", "faint", "line", "accent")}
    named |= {f"token-{number}": color for number, color in enumerate(palette.tokens)}
    return named | {f"series-{number}": color for number, color in enumerate(palette.series)}
