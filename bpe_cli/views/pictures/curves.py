"""Draw the curve of a vocabulary's use: a line for each series, its name at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.views.labels import whole
from bpe_cli.views.pictures.charts import described
from bpe_cli.views.pictures.drawing import (
    COLORS,
    FONT,
    MARGIN,
    SMALL,
    WIDTH,
    Canvas,
    Label,
    Shape,
    Stroke,
    fitted,
    numbers_at,
    shape_of,
    text_width,
)
from bpe_cli.views.pictures.scale import Scale

if TYPE_CHECKING:
    from bpe_cli.views.pictures.charts import Curve

_HEIGHT = 260
_NAMES = 190
_PITCH = 16
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_TICKS = 8


def draw_curves(chart: Curve) -> Canvas:
    """Draw curves."""
    canvas = Canvas(chart.title, described(chart))
    canvas.heading()
    canvas.add(Label(MARGIN, canvas.height + SMALL, chart.share, "faint", size=SMALL))
    top = canvas.height + SMALL + 12
    left = MARGIN + text_width("100%", SMALL) + 8
    several = len(chart.series) > 1
    names = min(_NAMES, max(map(text_width, chart.series), default=0)) + 30 if several else 0
    last = max((points[-1][0] for points in chart.points if points), default=1)
    x = Scale(1, max(last, 10), left, WIDTH - MARGIN - 12 - names, logarithmic=True)
    high = max(_HEIGHT, _PITCH * len(chart.series))
    y = Scale(0, 1, top + high, top)
    for share in _SHARES:
        canvas.add(Stroke(((left, y.place(share)), (x.end, y.place(share))), "grid"))
        canvas.add(Label(left - 6, y.place(share) + 0.35 * SMALL, f"{share:.0%}", "faint", "end", SMALL))
    for tick, at, text in numbers_at(x, _TICKS):
        canvas.add(Stroke(((x.place(tick), top), (x.place(tick), y.start)), "grid"))
        canvas.add(Label(at, y.start + 14, text, "faint", "middle", SMALL))
    canvas.add(Label((x.start + x.end) / 2, y.start + 31, chart.unit, "faint", "middle", SMALL))
    for number, points in enumerate(chart.points):
        _curve(canvas, chart, number, [(x.place(rank), y.place(share)) for rank, share in points])
    if several:
        _names(canvas, chart, x, y)
    canvas.plots.append((left, top, x.end, y.start))
    canvas.height = y.start + 36
    canvas.notes(*chart.notes)
    return canvas


def _curve(canvas: Canvas, chart: Curve, number: int, places: list[tuple[float, float]]) -> None:
    """Draw a line, and the mark of its series at its end."""
    if not places:
        return
    rank, share = chart.points[number][-1]
    title = f"{chart.series[number]}: {whole(rank)} tokens make up {share:.0%}"
    color = number % COLORS
    if len(places) > 1:
        canvas.add(Stroke(tuple(places), f"curve c{color} d{color}", title))
    canvas.add(Shape(shape_of(number), *places[-1], f"mark c{color}", title))


def _names(canvas: Canvas, chart: Curve, x: Scale, y: Scale) -> None:
    """Write the names at the right in the order of the lines' ends, each with a line to its own."""
    ends = [(points[-1][0], -points[-1][1], number) for number, points in enumerate(chart.points) if points]
    absent = [number for number, points in enumerate(chart.points) if not points]
    ordered = [number for _, _, number in sorted(ends, reverse=True)]
    beside = x.end + 26
    for place, number in enumerate([*ordered, *absent]):
        at = y.end + place * _PITCH
        shown = fitted(chart.series[number], WIDTH - MARGIN - beside, end=True)
        canvas.add(Label(beside, at + 0.35 * FONT, shown))
        if chart.points[number]:
            rank, share = chart.points[number][-1]
            end = (x.place(rank), y.place(share))
            canvas.add(Stroke((end, (x.end + 12, at), (beside - 4, at)), "leader"))
