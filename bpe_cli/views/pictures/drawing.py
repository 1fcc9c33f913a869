"""A canvas: rectangles, lines, shapes, paths and texts at places in pixels, with classes that a style sheet colours.

Nobody knows which font a reader has. ``text_width`` is therefore an upper bound, by characters, of what the fonts that
the style sheets name take; what does not fit is shortened, so that no two texts overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from rich.cells import cell_len

from bpe_cli.views.pictures.scale import tick_texts

if TYPE_CHECKING:
    from bpe_cli.views.pictures.scale import Scale

WIDTH = 720
"""How wide a picture is, in pixels."""

MARGIN = 16
FONT = 12
SMALL = 11
TITLE = 15

COLORS = 8
"""How many series have a colour of their own."""

SHAPES = ("circle", "square", "diamond", "triangle", "cross", "ring", "frame", "wedge")
"""Marks of series, which differ without colours too."""

_NARROW = frozenset("ijl.,:;|!'`()[]{}/\\ tfrI")
_BROAD = frozenset("mwMW@%&–—…+<>=~^#")


def text_width(text: str, size: float = FONT, *, bold: bool = False) -> float:
    """Return how wide a text is at most, in pixels.

    >>> text_width("ill") < text_width("ab1") < text_width("WWW") < text_width("東京京")
    True
    """
    ems = 0.0
    for character in text:
        if character in _NARROW:
            ems += 0.43
        elif character in _BROAD:
            ems += 1.0
        elif character.isupper():
            ems += 0.78
        elif character.isascii():
            ems += 0.645
        else:
            ems += 1.05 if cell_len(character) > 1 else 0.85 if cell_len(character) else 0.0
    return ems * size * (1.1 if bold else 1.0)


def fitted(text: str, room: float, size: float = FONT, *, bold: bool = False, end: bool = False) -> str:
    """Shorten a text to the room that there is: to its beginning, or to its end, where names of files differ.

    >>> fitted("tokens", 100), fitted("a very long label of a bar", 60), fitted("languages/en.txt", 90, end=True)
    ('tokens', 'a very …', '…ages/en.txt')
    """
    room += 0.01  # what was made as wide as a text holds it
    if text_width(text, size, bold=bold) <= room:
        return text
    kept = text
    while kept and text_width(f"{kept}…", size, bold=bold) > room:
        kept = kept[1:] if end else kept[:-1]
    return f"…{kept}" if end else f"{kept}…"


def wrapped(text: str, room: float, size: float = FONT, *, bold: bool = False) -> list[str]:
    """Break a text into lines between its words; a word that is too long is shortened.

    >>> wrapped("a line of words", 60)
    ['a line of', 'words']
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, bold=bold) <= room + 0.01:
            lines[-1] = longer
        else:
            lines.append(fitted(word, room, size, bold=bold))
    return lines


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, with the sentence that is shown when one points at it."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    kind: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A mark of ``SHAPES`` around a point."""

    shape: str
    x: float
    y: float
    kind: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A text on its base line, beginning, ending or centred at a place."""

    x: float
    y: float
    text: str
    kind: str = ""
    anchor: Literal["start", "middle", "end"] = "start"
    size: int = FONT

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The left, top, right and bottom of the room that it takes at most."""
        width = text_width(self.text, self.size, bold="title" in self.kind or "group" in self.kind)
        left = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.8 * self.size, left + width, self.y + 0.25 * self.size


Item: TypeAlias = Box | Stroke | Shape | Label


@dataclass(slots=True)
class Canvas:
    """A picture that is being drawn from the top down.

    Attributes:
        title: What it is called.
        description: A sentence on what it shows, for readers who cannot see it.
        items: What is on it, the first below the others.
        height: How high it is so far.
        plots: The rectangles (left, top, right, bottom) that marks lie in.
    """

    title: str
    description: str
    items: list[Item] = field(default_factory=list)
    height: float = MARGIN
    plots: list[tuple[float, float, float, float]] = field(default_factory=list)

    def add(self, item: Item) -> None:
        """Put something on it."""
        self.items.append(item)

    def heading(self) -> None:
        """Write the title."""
        for line in wrapped(self.title, WIDTH - 2 * MARGIN, TITLE, bold=True):
            self.add(Label(MARGIN, self.height + TITLE, line, "title", size=TITLE))
            self.height += TITLE + 6
        self.height += 6

    def notes(self, *texts: str) -> None:
        """Write sentences below everything, and end the picture."""
        for text in texts:
            for line in wrapped(text, WIDTH - 2 * MARGIN, SMALL):
                self.height += SMALL + 5
                self.add(Label(MARGIN, self.height, line, "faint", size=SMALL))
        self.height += MARGIN

    def legend(self, names: list[str], colors: list[int]) -> None:
        """Explain the mark of each series."""
        if len(names) < 2:
            return
        x = float(MARGIN)
        for name, color in zip(names, colors, strict=True):
            shown = fitted(name, 220, end=True)
            wide = 16 + text_width(shown) + 16
            if x > MARGIN and x + wide > WIDTH - MARGIN:
                x = float(MARGIN)
                self.height += 20
            self.add(Shape(shape_of(color), x + 6, self.height + 8, f"mark c{color % COLORS}"))
            self.add(Label(x + 16, self.height + 12, shown))
            x += wide
        self.height += 26


def numbers_at(scale: Scale, most: int) -> list[tuple[float, float, str]]:
    """Return round values at a horizontal axis, where to centre the number of each, and the number.

    As many as fit beside each other, ``most`` at most; a number at the edge of the picture is moved into it.
    """
    for number in range(most, 0, -1):
        ticks = scale.ticks(number)
        found, ends = [], [0.0]
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            half = text_width(text, SMALL) / 2
            centre = min(max(scale.place(tick), 2 + half), WIDTH - 2 - half)
            found.append((tick, centre, text))
            ends += [centre - half, centre + half]
        if ends == sorted(ends):
            return found
    return found[:1]


def shape_of(number: int) -> str:
    """Return the mark of a series; with their colours, 64 of them differ.

    >>> len({(number % COLORS, shape_of(number)) for number in range(64)})
    64
    """
    return SHAPES[(number + number // COLORS) % len(SHAPES)]
