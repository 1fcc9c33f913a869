"""Write each token of a text as what is shown of it, in units that no line should break.

Colour never says anything alone: special tokens have brackets, and a character that lies in several tokens
stands once, followed by the bytes that each of them has: ``谁⟨e8 b0|81⟩``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bpe_cli.views.palette import CHARACTER, PLAIN, Palette, token_style
from bpe_cli.views.visible import units

if TYPE_CHECKING:
    from rich.style import Style

    from bpe_cli.reports.text.segmentation import Group, Part

BORDER = ""
"""A unit that is nothing: where what reads from the right must end, as before the bytes of a character."""

_LONGEST_CLUSTER = 64  # characters shown of one grapheme cluster; no real one is longer


@dataclass(slots=True)
class Cell:
    """What is shown of one token.

    Attributes:
        units: What to write, and how.
        tied: Whether it goes on with a character of the token before, so that a bar stands also in colour.
    """

    units: list[tuple[str, Style]] = field(default_factory=list)
    tied: bool = False


def cells(groups: Iterable[Group], palette: Palette) -> Iterator[Cell]:
    """Yield what is shown of each token; with a ``palette`` bars mean no boundaries."""
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
    """Write a character that lies in several tokens: itself once, then its bytes token by token."""
    cell = made[part.first - first]
    cell.units.extend((unit, CHARACTER) for unit in units(part.text[:_LONGEST_CLUSTER], bars=not palette))
    if len(part.text) > _LONGEST_CLUSTER:
        cell.units.append(("…", PLAIN))
    cell.units += [(BORDER, PLAIN), ("⟨", PLAIN)]
    for number, content in enumerate(part.contents, start=part.first):
        style = token_style(palette, number)
        cell = made[number - first]
        for position, byte in enumerate(content):
            cell.units.append((f" {byte:02x}" if position else f"{byte:02x}", style))
    cell.units.append(("|…⟩" if part.clipped else "⟩", PLAIN))
