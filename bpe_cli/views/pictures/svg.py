"""Write canvases as SVG: as a file of its own, light or dark as the reader's system is, or as a part of a page.

Nothing is fetched and nothing is executed; every text is escaped, and is harmless before it comes here. The same
canvas is the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.views.page.markup import escape
from bpe_cli.views.page.palette import DARK, LIGHT, variables
from bpe_cli.views.pictures.charts import Histogram, Rows, Trend, values_text
from bpe_cli.views.pictures.columns import draw_columns
from bpe_cli.views.pictures.curves import draw_curves
from bpe_cli.views.pictures.drawing import FONT, WIDTH, Box, Label, Shape, Stroke
from bpe_cli.views.pictures.rows import draw_rows
from bpe_cli.views.pictures.style import rules
from bpe_cli.views.pictures.trend import draw_trend

if TYPE_CHECKING:
    from bpe_cli.views.pictures.charts import Chart
    from bpe_cli.views.pictures.drawing import Canvas, Item

_FONTS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans","Liberation Sans",Arial,sans-serif'
_RADIUS = 4.0


def draw(chart: Chart) -> Canvas:
    """Draw a chart."""
    if isinstance(chart, Rows):
        return draw_rows(chart)
    if isinstance(chart, Trend):
        return draw_trend(chart)
    return draw_columns(chart) if isinstance(chart, Histogram) else draw_curves(chart)


def svg_file(charts: Sequence[Chart], *, adaptive: bool = True) -> str:
    """Write charts below each other as one file; ``adaptive`` has it dark where the reader's system is."""
    canvases = [draw(chart) for chart in charts]
    height = sum(canvas.height for canvas in canvases)
    title = canvases[0].title if len(canvases) == 1 else f"{len(canvases)} pictures"
    description = "\n".join(
        f"{canvas.description} {values_text(each)}" for canvas, each in zip(canvases, charts, strict=True)
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{_px(height)}" '
        f'viewBox="0 0 {WIDTH} {_px(height)}" role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n<style>\n{_style(adaptive)}</style>\n"
        f'<rect class="paper" width="100%" height="100%"/>\n'
    )
    parts = [head]
    top = 0.0
    for canvas in canvases:
        parts.append(f'<g transform="translate(0 {_px(top)})">\n' if top else "<g>\n")
        parts += map(_written, canvas.items)
        parts.append("</g>\n")
        top += canvas.height
    parts.append("</svg>\n")
    return "".join(parts)


def svg_part(chart: Chart) -> Iterator[str]:
    """Write a chart as an element of a page, whose style sheet colours it."""
    canvas = draw(chart)
    title = escape(canvas.title)
    yield (
        f'<svg class="plot" width="{WIDTH}" height="{_px(canvas.height)}" viewBox="0 0 {WIDTH} {_px(canvas.height)}" '
        f'role="img" aria-label="{title}"><desc>{escape(canvas.description)}</desc>\n'
    )
    yield from map(_written, canvas.items)
    yield "</svg>\n"


def _written(item: Item) -> str:
    if isinstance(item, Label):
        anchor = "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
        size = "" if item.size == FONT else f' font-size="{item.size}"'
        kind = f' class="{item.kind}"' if item.kind else ""
        return f'<text x="{_px(item.x)}" y="{_px(item.y)}"{anchor}{size}{kind}>{escape(item.text)}</text>\n'
    if isinstance(item, Box):
        tag, shape = "rect", (
            f'x="{_px(item.x)}" y="{_px(item.y)}" width="{_px(item.width)}" height="{_px(item.height)}"'
        )  # fmt: skip
    elif isinstance(item, Stroke):
        tag, shape = "path", f'd="{_path(item.points)}"'
    else:
        tag, shape = "path", f'd="{_mark(item)}"'
    kind = f"{item.kind} open" if isinstance(item, Shape) and item.shape in ("ring", "frame", "cross") else item.kind
    if item.title:
        return f'<{tag} class="{kind}" {shape}><title>{escape(item.title)}</title></{tag}>\n'
    return f'<{tag} class="{kind}" {shape}/>\n'


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_px(x)} {_px(y)}" for x, y in points)


def _mark(shape: Shape) -> str:
    """Return the outline of a mark."""
    x, y, r = shape.x, shape.y, _RADIUS
    if shape.shape in ("circle", "ring"):
        return f"M{_px(x - r)} {_px(y)}a{_px(r)} {_px(r)} 0 1 0 {_px(2 * r)} 0a{_px(r)} {_px(r)} 0 1 0 {_px(-2 * r)} 0z"
    if shape.shape == "cross":
        return _path([(x - r, y - r), (x + r, y + r)]) + _path([(x - r, y + r), (x + r, y - r)])
    s = 0.88 * r
    corners = {
        "diamond": [(x, y - 1.25 * r), (x + 1.25 * r, y), (x, y + 1.25 * r), (x - 1.25 * r, y)],
        "triangle": [(x, y - 1.15 * r), (x + 1.15 * r, y + 0.85 * r), (x - 1.15 * r, y + 0.85 * r)],
        "wedge": [(x, y + 1.15 * r), (x + 1.15 * r, y - 0.85 * r), (x - 1.15 * r, y - 0.85 * r)],
    }.get(shape.shape, [(x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s)])
    return f"{_path(corners)}z"


def _px(number: float) -> str:
    """Write a place, to a hundredth of a pixel.

    >>> _px(8.4 * 3), _px(12.0), _px(-0.001)
    ('25.2', '12', '0')
    """
    shown = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def _style(adaptive: bool) -> str:
    light, dark = variables(LIGHT), variables(DARK)
    scheme = f"@media (prefers-color-scheme:dark){{\n{rules(dark)}}}\n" if adaptive else ""
    return f"text{{font-family:{_FONTS};direction:ltr}}\nsvg{{font-size:{FONT}px}}\n{rules(light)}{scheme}"
