"""Draw bars, or dots, in rows: a row for each series of each group, its value at its end, whiskers for its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    Shape,
    Stroke,
    fitted,
    numbers_at,
    shape_of,
    text_width,
)
from bpe_cli.views.pictures.scale import around, from_zero

if TYPE_CHECKING:
    from bpe_cli.views.pictures.charts import Mark, Rows
    from bpe_cli.views.pictures.scale import Scale

_ROW = 18
_BAR = 12
_LANE = 10
_GAP = 8
_HEADING = 19
_GUTTER = 210
_CAP = 4
_TICKS = 6
_LONG = 600
"""A plot that is higher has its axis above it too."""


def draw_rows(chart: Rows) -> Canvas:
    """Draw a chart of bars or dots."""
    canvas = Canvas(chart.title, described(chart))
    canvas.heading()
    if chart.kind == "dots":
        canvas.legend(list(chart.series), [chart.color(number) for number in range(len(chart.series))])
        _Dots(chart, canvas).draw()
    else:
        _Bars(chart, canvas).draw()
    canvas.notes(*chart.notes)
    return canvas


def _room_above(height: float) -> int:
    """Return the room for an axis above a plot, if it is high enough for one."""
    return 16 if height > _LONG else 0


def _axis(canvas: Canvas, scale: Scale, top: float, bottom: float, unit: str) -> None:
    """Draw the lines and numbers of an axis below a plot, and above a high one; they go below all that is there."""
    lines: list[Stroke | Label] = []
    for tick, x, text in numbers_at(scale, _TICKS):
        lines.append(Stroke(((scale.place(tick), top), (scale.place(tick), bottom)), "grid"))
        lines.append(Label(x, bottom + 14, text, "faint", "middle", SMALL))
        if _room_above(bottom - top):
            lines.append(Label(x, top - 5, text, "faint", "middle", SMALL))
    canvas.items[:0] = lines
    canvas.add(Label((scale.start + scale.end) / 2, bottom + 31, unit, "faint", "middle", SMALL))
    canvas.plots.append((scale.start, top, scale.end, bottom))
    canvas.height = bottom + 36


def _whisker(canvas: Canvas, scale: Scale, mark: Mark, y: float, kind: str) -> None:
    """Draw an interval: a line with caps at its ends."""
    if mark.interval is None:
        return
    low, high = map(scale.place, mark.interval)
    canvas.add(Stroke(((low, y), (high, y)), kind))
    canvas.add(Stroke(((low, y - _CAP), (low, y + _CAP)), kind))
    canvas.add(Stroke(((high, y - _CAP), (high, y + _CAP)), kind))


class _Bars:
    """Bars from 0, the name of each at its left, its value at its right."""

    def __init__(self, chart: Rows, canvas: Canvas) -> None:
        self._chart = chart
        self._canvas = canvas
        self._single = len(chart.series) == 1
        names = chart.groups if self._single else chart.series
        gutter = min(_GUTTER, max(map(text_width, names), default=0)) + _GAP
        room = max((text_width(mark.text, SMALL) for row in chart.marks for mark in row), default=0) + _GAP
        start = MARGIN + gutter
        self._scale = from_zero(chart.numbers(), start, max(start + 80, WIDTH - MARGIN - room))

    def draw(self) -> None:
        chart, canvas = self._chart, self._canvas
        rows = sum(map(len, chart.marks)) * _ROW + (0 if self._single else len(chart.groups) * (_HEADING + _GAP))
        top = y = canvas.height + _room_above(rows)
        for group, marks in zip(chart.groups, chart.marks, strict=True):
            if not self._single:
                y += _HEADING
                shown = fitted(group, WIDTH - 2 * MARGIN, bold=True, end=True)
                canvas.add(Label(MARGIN, y - 5, shown, "group"))
            for number, mark in enumerate(marks):
                self._bar(group, group if self._single else chart.series[number], number, mark, y + _ROW / 2)
                y += _ROW
            y += 0 if self._single else _GAP
        _axis(canvas, self._scale, top, y, chart.unit)

    def _bar(self, group: str, name: str, number: int, mark: Mark, y: float) -> None:
        canvas, scale = self._canvas, self._scale
        left = scale.place(0)
        end = left
        shown = fitted(name, scale.start - MARGIN - _GAP, end=True)
        canvas.add(Label(scale.start - _GAP, y + 0.35 * FONT, shown, "", "end"))
        if mark.value is not None:
            end = scale.place(mark.value)
            about = group if self._single else f"{group}, {name}"
            color = f"bar c{self._chart.color(number) % COLORS}"
            canvas.add(Box(left, y - _BAR / 2, end - left, _BAR, color, f"{about}: {mark.text}"))
            _whisker(canvas, scale, mark, y, "whisker")
            end = max([end, *map(scale.place, mark.interval or ())])
        canvas.add(Label(end + 6, y + 0.35 * SMALL, mark.text, "", "start", SMALL))


class _Dots:
    """Dots with intervals, each series on a lane of its own within the row of a group, and a line at 1."""

    def __init__(self, chart: Rows, canvas: Canvas) -> None:
        self._chart = chart
        self._canvas = canvas
        gutter = min(_GUTTER, max(map(text_width, chart.groups), default=0)) + _GAP
        self._scale = around([*chart.numbers(), 1.0], MARGIN + gutter, WIDTH - MARGIN - 12)

    def draw(self) -> None:
        chart, canvas, scale = self._chart, self._canvas, self._scale
        high = max(_ROW, _LANE * len(chart.series) + 4)
        rows = high * len(chart.groups)
        top = canvas.height + 18 + _room_above(rows)
        bottom = top + rows
        one = scale.place(1.0)
        canvas.add(Stroke(((one, top), (one, bottom)), "one"))
        about = fitted(chart.line, WIDTH - 2 * MARGIN, SMALL)
        half = text_width(about, SMALL) / 2
        centre = min(max(one, MARGIN + half), WIDTH - MARGIN - half)
        canvas.add(Label(centre, top - 6 - _room_above(rows), about, "faint", "middle", SMALL))
        for place, (group, marks) in enumerate(zip(chart.groups, chart.marks, strict=True)):
            middle = top + (place + 0.5) * high
            if place:
                canvas.add(Stroke(((MARGIN, top + place * high), (scale.end, top + place * high)), "grid"))
            canvas.add(
                Label(scale.start - _GAP, middle + 0.35 * FONT, fitted(group, scale.start - MARGIN - _GAP, end=True),
                      "", "end")
            )  # fmt: skip
            first = middle - _LANE * (len(marks) - 1) / 2
            for number, mark in enumerate(marks):
                self._dot(group, number, mark, first + _LANE * number)
        _axis(canvas, scale, top, bottom, chart.unit)

    def _dot(self, group: str, number: int, mark: Mark, y: float) -> None:
        if mark.value is None:
            return
        color = self._chart.color(number)
        _whisker(self._canvas, self._scale, mark, y, f"interval c{color % COLORS}")
        title = f"{group}, {self._chart.series[number]}: {mark.text}"
        self._canvas.add(Shape(shape_of(color), self._scale.place(mark.value), y, f"mark c{color % COLORS}", title))
