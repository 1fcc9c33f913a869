"""Draw a value by a size: a line through the points, the chord between the ends, and the marked point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.views.labels import fraction, whole
from bpe_cli.views.pictures.charts import described
from bpe_cli.views.pictures.drawing import MARGIN, SMALL, WIDTH, Canvas, Label, Shape, Stroke, text_width
from bpe_cli.views.pictures.scale import Scale, around, tick_texts

if TYPE_CHECKING:
    from bpe_cli.views.pictures.charts import Trend

_HEIGHT = 260
_TICKS = 6
_BETWEEN = 8


def draw_trend(chart: Trend) -> Canvas:
    """Draw a trend."""
    canvas = Canvas(chart.title, described(chart))
    canvas.heading()
    canvas.add(Label(MARGIN, canvas.height + SMALL, chart.value, "faint", size=SMALL))
    top = canvas.height + SMALL + 12
    sizes = [size for size, _ in chart.points] or [1]
    values = [value for _, value in chart.points] or [0.0]
    y = around(values, top + _HEIGHT, top)
    ticks = y.ticks(_TICKS)
    texts = tick_texts(ticks)
    left = MARGIN + max((text_width(text, SMALL) for text in texts), default=0) + 8
    low, high = (sizes[0], sizes[-1]) if sizes[0] < sizes[-1] else (sizes[0] / 2, sizes[0] * 2)
    x = Scale(low, high, left + 12, WIDTH - MARGIN - 30, logarithmic=True)
    for tick, text in zip(ticks, texts, strict=True):
        canvas.add(Stroke(((left, y.place(tick)), (WIDTH - MARGIN, y.place(tick))), "grid"))
        canvas.add(Label(left - 6, y.place(tick) + 0.35 * SMALL, text, "faint", "end", SMALL))
    end = 0.0
    for size in dict.fromkeys(sizes if chart.points else ()):
        half = text_width(whole(size), SMALL) / 2
        centre = min(max(x.place(size), 2 + half), WIDTH - 2 - half)
        if centre - half < end:
            continue
        end = centre + half + _BETWEEN
        canvas.add(Stroke(((x.place(size), top), (x.place(size), y.start)), "grid"))
        canvas.add(Label(centre, y.start + 17, whole(size), "faint", "middle", SMALL))
    canvas.add(Label((x.start + x.end) / 2, y.start + 34, chart.unit, "faint", "middle", SMALL))
    places = [(x.place(size), y.place(value)) for size, value in chart.points]
    if len(places) > 1:
        canvas.add(Stroke((places[0], places[-1]), "one", "the line between the ends"))
        canvas.add(Stroke(tuple(places), "curve c0 d0"))
    for number, ((size, value), place) in enumerate(zip(chart.points, places, strict=True)):
        is_marked = number == chart.marked
        about = f" ({chart.mark})" if is_marked and chart.mark else ""
        title = f"{whole(size)}: {fraction(value, 3)} {chart.value}{about}"
        canvas.add(Shape("diamond" if is_marked else "circle", *place, "mark c1" if is_marked else "mark c0", title))
    canvas.plots.append((left, top, WIDTH - MARGIN, y.start))
    canvas.height = y.start + 39
    canvas.notes(*chart.notes)
    return canvas
