"""Draw a histogram: a panel of columns for each series, all with one axis, so that they can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.views.labels import percent, whole
from bpe_cli.views.pictures.charts import described
from bpe_cli.views.pictures.drawing import (
    COLORS,
    FONT,
    MARGIN,
    SMALL,
    WIDTH,
    Box,
    Canvas,
    Label,
    Stroke,
    fitted,
    text_width,
)
from bpe_cli.views.pictures.scale import Scale, from_zero, tick_texts

if TYPE_CHECKING:
    from bpe_cli.views.pictures.charts import Histogram

_PANEL = 110
_TICKS = 4
_BETWEEN = 4


def draw_columns(chart: Histogram) -> Canvas:
    """Draw a histogram."""
    canvas = Canvas(chart.title, described(chart))
    canvas.heading()
    scale = from_zero([count for counts in chart.counts for count in counts], _PANEL, 0)
    ticks = [tick for tick in scale.ticks(_TICKS) if tick.is_integer()]
    texts = tick_texts(ticks)
    left = MARGIN + max(text_width(text, SMALL) for text in texts) + 8
    for number, counts in enumerate(chart.counts):
        if len(chart.series) > 1:
            shown = fitted(chart.series[number], WIDTH - 2 * MARGIN, bold=True, end=True)
            canvas.add(Label(MARGIN, canvas.height + FONT, shown, "group"))
            canvas.height += FONT + 4
        top = canvas.height + SMALL + 6  # the number above the highest column
        _panel(canvas, chart, number, counts, Scale(scale.low, scale.high, top + _PANEL, top), left)
        for tick, text in zip(ticks, texts, strict=True):
            y = top + scale.place(tick)
            canvas.items.insert(0, Stroke(((left, y), (WIDTH - MARGIN, y)), "grid"))
            canvas.add(Label(left - 6, y + 0.35 * SMALL, text, "faint", "end", SMALL))
        canvas.plots.append((left, top, WIDTH - MARGIN, top + _PANEL))
        canvas.height = top + _PANEL
        _bins(canvas, chart, left)
    canvas.height += 8
    unit = f"{chart.counted} by {chart.unit}"
    canvas.add(Label((left + WIDTH - MARGIN) / 2, canvas.height, unit, "faint", "middle", SMALL))
    canvas.notes(*chart.notes)
    return canvas


def _panel(canvas: Canvas, chart: Histogram, number: int, counts: tuple[int, ...], scale: Scale, left: float) -> None:
    """Draw the columns of a series, with their numbers where there is room for them."""
    wide = (WIDTH - MARGIN - left) / max(1, len(counts))
    total = sum(counts) or 1
    for place, (label, count) in enumerate(zip(chart.labels, counts, strict=True)):
        x, top = left + place * wide, scale.place(count)
        gap = min(_BETWEEN, wide / 4)
        about = f"{chart.series[number]}, " if len(chart.series) > 1 else ""
        title = f"{about}{label}: {whole(count)} ({percent(count / total)})"
        if count:
            column = Box(x + gap / 2, top, wide - gap, scale.start - top, f"bar c{number % COLORS}", title)
            canvas.add(column)
        if text_width(whole(count), SMALL) <= wide - 2:
            canvas.add(Label(x + wide / 2, top - 4, whole(count), "", "middle", SMALL))


def _bins(canvas: Canvas, chart: Histogram, left: float) -> None:
    """Write the values of the bins: of each one, or the first values of as many as there is room for."""
    wide = (WIDTH - MARGIN - left) / max(1, len(chart.bins))
    canvas.height += SMALL + 4
    if all(text_width(label, SMALL) <= wide - 6 for label in chart.labels):
        for place, label in enumerate(chart.labels):
            canvas.add(Label(left + (place + 0.5) * wide, canvas.height, label, "faint", "middle", SMALL))
    else:
        firsts = [whole(first) for first, _ in chart.bins]
        longest = max(text_width(first, SMALL) for first in firsts)
        every = max(1, -int(-(longest + 8) // wide))
        for place in range(0, len(firsts), every):
            canvas.add(
                Label(left + place * wide, canvas.height, firsts[place], "faint", "middle" if place else "start", SMALL)
            )
            x, y = left + place * wide, canvas.height - SMALL - 4
            canvas.add(Stroke(((x, y), (x, y + 4)), "axis"))
    canvas.height += 14
