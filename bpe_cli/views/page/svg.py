"""Draw texts as boxes of tokens in one SVG file, for a README: no script, no font of its own, light and dark.

A picture is as wide as so many columns. Every run of characters of one width says how long it is (``textLength``), so
that boxes and text agree whatever font is there, wide characters too. Text goes through ``visible.units``, after which
no character is left that XML forbids (XML 1.0, section 2.2) or that changes the direction of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bpe_cli.views.labels import DOCUMENT_LIMIT, TOKEN_LIMIT, count
from bpe_cli.views.page.markup import escape, name
from bpe_cli.views.page.palette import DARK, LIGHT, variables
from bpe_cli.views.visible import NEWLINE, shares, units

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import Excerpt, Part, Segmentation

COLUMNS = 80
"""How wide a picture is, in characters."""

_CELL = 8.4  # of a font of 14 pixels, as most monospaced ones are
_LABEL_SCALE = 11 / 14
_LINE = 26
_LINE_WITH_IDS = 44
_MARGIN = 12
_LONGEST_CLUSTER = 64  # characters shown of one grapheme cluster; no real one is longer


@dataclass(slots=True)
class _Box:
    """A token, or what a line has of it.

    Attributes:
        units: What stands in it, at least one, none wider than a line.
        color: Which of the palette's colours it has; None for none.
        special: Whether it is a special token.
        label: What stands below it.
    """

    units: list[str]
    color: int | None = None
    special: bool = False
    label: str = ""

    @property
    def cells(self) -> int:
        return max(sum(map(cell_len, self.units)), len(self.label) + 1 if self.label else 0)


@dataclass(slots=True)
class _Drawing:
    """Lines of boxes."""

    lines: list[list[_Box]] = field(default_factory=lambda: [[]])
    column: int = 0

    def put(self, box: _Box) -> None:
        """Add a box: on the next line if it does not fit, in parts if it is longer than a line or has several."""
        for part in _parts(box):
            cells = part.cells
            if self.column + cells > COLUMNS:
                self.end_line()
            self.lines[-1].append(part)
            self.column += cells
            if part.units[-1] == NEWLINE:
                self.end_line()

    def end_line(self) -> None:
        """Begin a line."""
        self.lines.append([])
        self.column = 0


def _parts(box: _Box) -> Iterator[_Box]:
    """Cut a box behind line feeds, and where a line is full."""
    begin = cells = 0
    label = box.label
    for place, unit in enumerate(box.units):
        size = cell_len(unit)
        if place > begin and (cells + size > COLUMNS or box.units[place - 1] == NEWLINE):
            yield _Box(box.units[begin:place], box.color, box.special, label)
            begin, cells, label = place, 0, ""
        cells += size
    yield _Box(box.units[begin:], box.color, box.special, label)


def picture(reports: Iterable[Segmentation], *, tokenizer: str | None, ids: bool = False, full: bool = False) -> str:
    """Draw texts below each other, with ids below tokens if they are asked for; ``full`` draws all, however long."""
    drawing = _Drawing()
    tokens = more = 0
    for number, report in enumerate(reports):
        tokens += report.token_count
        if number >= DOCUMENT_LIMIT and not full:
            more += 1
            continue
        if number:
            drawing.end_line()
        excerpt = report.excerpt(None if full else TOKEN_LIMIT)
        for box in _boxes(excerpt, ids):
            drawing.put(box)
        if excerpt.more:
            drawing.end_line()
            drawing.put(_Box([f"and {count(excerpt.more, 'more token')}"]))
        if drawing.lines[-1]:
            drawing.end_line()
    if more:
        drawing.end_line()
        drawing.put(_Box([f"and {count(more, 'more document')}"]))
        drawing.end_line()
    lines = drawing.lines[:-1] or [[]]
    title = f"{count(tokens, 'token')} by {tokenizer or 'tokenizer'}"
    return "".join(_write(lines, title, _LINE_WITH_IDS if ids else _LINE))


def _boxes(excerpt: Excerpt, ids: bool) -> Iterator[_Box]:
    """Yield the boxes of tokens; what several of them share stands before their bytes, without a colour."""
    labelled = -1
    for group in excerpt.groups:
        for part in group.parts:
            if part.split:
                shown = list(units(part.text[:_LONGEST_CLUSTER]))
                yield _Box([*shown, *(["…"] if len(part.text) > _LONGEST_CLUSTER else []), "⟨"])
            for number, unit in enumerate(_contents(part), start=part.first):
                label = ""
                if ids and number > labelled:
                    labelled, label = number, str(excerpt.tokens[number].token_id)
                yield _Box(unit, number % len(LIGHT.tokens), part.special, label)
            if part.split:
                yield _Box(["…⟩" if part.clipped else "⟩"])


def _contents(part: Part) -> Iterator[list[str]]:
    """Yield what stands in the boxes of a part."""
    if part.split:
        yield from shares(part.contents, bars=False)
    elif part.special:
        yield ["⟦", *units(part.text), "⟧"]
    else:
        yield list(units(part.text)) or [" "]


def _write(lines: list[list[_Box]], title: str, height: int) -> Iterator[str]:
    width, tall = _px(COLUMNS * _CELL + 2 * _MARGIN), len(lines) * height + 2 * _MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{tall}" viewBox="0 0 {width} {tall}" '
        f'role="img" aria-label="{name(title)}">\n<title>{name(title)}</title>\n<style>\n{_style()}</style>\n'
        f'<rect class="paper" width="100%" height="100%" rx="6"/>\n'
    )
    for row, boxes in enumerate(lines):
        column = 0
        for box in boxes:
            yield from _draw(box, column, _MARGIN + row * height)
            column += box.cells
    yield "</svg>\n"


def _draw(box: _Box, column: int, top: int) -> Iterator[str]:
    left = _MARGIN + column * _CELL
    if box.color is not None:
        kind = f"t{box.color} special" if box.special else f"t{box.color}"
        wide = _px(box.cells * _CELL - 1)
        yield f'<rect class="{kind}" x="{_px(left + 0.5)}" y="{top + 2}" width="{wide}" height="20" rx="3"/>\n'
    place = left
    for _, members in groupby(box.units, key=lambda unit: cell_len(unit) / max(len(unit), 1)):
        text = "".join(members)
        long = cell_len(text) * _CELL
        # A character by itself keeps its shape; in others spaces alone would tear letters apart that join.
        length = (
            f' textLength="{_px(long)}" lengthAdjust="spacingAndGlyphs"'
            if sum(cell_len(each) > 0 for each in text) > 1
            else ""
        )
        yield f'<text x="{_px(place)}" y="{top + 17}"{length}>{escape(text)}</text>\n'
        place += long
    if box.label:
        wide = _px(len(box.label) * _CELL * _LABEL_SCALE)
        yield f'<text class="id" x="{_px(left + 2)}" y="{top + 35}" textLength="{wide}">{box.label}</text>\n'


def _px(number: float) -> str:
    """Write a length.

    >>> _px(8.4 * 3), _px(12.0)
    ('25.2', '12')
    """
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _style() -> str:
    light, dark = variables(LIGHT), variables(DARK)
    return (
        'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;'
        "direction:ltr;unicode-bidi:isolate}\n"
        f".id{{font-size:11px}}\n{_colors(light)}@media (prefers-color-scheme:dark){{\n{_colors(dark)}}}\n"
    )


def _colors(colors: dict[str, str]) -> str:
    tokens = "".join(f".t{number}{{fill:{colors[f'token-{number}']}}}\n" for number in range(len(LIGHT.tokens)))
    return (
        f".paper{{fill:{colors['paper']}}}\ntext{{fill:{colors['ink']}}}\n.id{{fill:{colors['faint']}}}\n{tokens}"
        f".special{{stroke:{colors['ink']};stroke-width:1.5}}\n"
    )
