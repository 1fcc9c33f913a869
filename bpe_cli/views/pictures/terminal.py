"""Draw charts on a terminal: bars, dots on a line, and heights of one character, each with its number beside it.

Nothing needs a colour: bars have their names before them, dots are letters that a line above explains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import SEVERAL, Bar, Blocks, Cell, Heading, Line, Sheet, Strip, numbers, text_column
from bpe_cli.views.labels import fraction, whole
from bpe_cli.views.pictures.charts import Histogram, Rows, Trend
from bpe_cli.views.pictures.scale import around

if TYPE_CHECKING:
    from bpe_cli.views.blocks import Block, Screen
    from bpe_cli.views.pictures.charts import Chart, Curve

_HEIGHTS = " ▁▂▃▄▅▆▇█"
_HEIGHTS_COLUMN = text_column("", no_wrap=True, min_width=1)
_NARROW = 60
_SPARK = 40
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def plots(charts: Iterable[Chart]) -> Blocks:
    """Draw charts below each other."""
    return Blocks(*(block for chart in charts for block in _plot(chart)))


def _plot(chart: Chart) -> Iterator[Block]:
    yield Heading(chart.title, apart=True)
    if isinstance(chart, Histogram):
        yield from _histogram(chart)
    elif isinstance(chart, Rows):
        yield _Dots(chart) if chart.kind == "dots" else _Bars(chart)
    elif isinstance(chart, Trend):
        yield from _trend(chart)
    else:
        yield from _curves(chart)
    yield from (Line(note) for note in chart.notes)


@dataclass(frozen=True)
class _Bars:
    """A bar for each series of each group."""

    chart: Rows

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield a table, on a narrow screen without intervals."""
        chart, wide = self.chart, screen.width >= _NARROW
        most = max((mark.value or 0.0 for row in chart.marks for mark in row), default=0.0) or 1.0
        single = len(chart.series) == 1
        names = [text_column(chart.head), *([] if single else [text_column("")])]
        table = Sheet(*names, *numbers(chart.unit), text_column())
        for group, marks in zip(chart.groups, chart.marks, strict=True):
            for place, (name, mark) in enumerate(zip(chart.series, marks, strict=True)):
                said = [group] if single else ["" if place else group, name]
                shown = mark.text if wide else mark.short
                table.add_row(*said, shown, Bar((mark.value or 0.0) / most))
            if not single:
                table.end_part()
        yield table


def _histogram(chart: Histogram) -> Iterator[Block]:
    """Draw a bar for each bin of one series; of several ones, a column of heights for each."""
    if len(chart.series) == 1:
        most = max(chart.counts[0], default=0) or 1
        table = Sheet(*numbers(chart.unit, chart.counted), text_column())
        for label, count in zip(chart.labels, chart.counts[0], strict=True):
            table.add_row(label, whole(count), Bar(count / most))
        yield table
        return
    most = max((count for counts in chart.counts for count in counts), default=0) or 1
    first, last = (chart.labels[0], chart.labels[-1]) if chart.labels else ("", "")
    yield Line(f"{chart.counted} by {chart.unit}, {first} to {last}")
    rows: list[list[Cell]] = [
        [name, spark([count / most for count in counts]), whole(max(counts, default=0))]
        for name, counts in zip(chart.series, chart.counts, strict=True)
    ]
    yield Sheet("", _HEIGHTS_COLUMN, *numbers("most"), rows=rows)


def _curves(chart: Curve) -> Iterator[Block]:
    """Draw each curve as heights at ranks that are spread by their logarithm, all to the same last rank."""
    last = max((points[-1][0] for points in chart.points if points), default=1)
    ranks = [last ** (place / (_SPARK - 1)) for place in range(_SPARK)]
    yield Line(f"{chart.share}, 1 to {whole(last)} {chart.unit}")
    rows: list[list[Cell]] = []
    for name, points in zip(chart.series, chart.points, strict=True):
        rows.append([name, spark([_share_at(points, rank) for rank in ranks]), whole(points[-1][0] if points else 0)])
    yield Sheet("", _HEIGHTS_COLUMN, *numbers("to 100%"), rows=rows)


def _trend(chart: Trend) -> Iterator[Block]:
    """Draw a bar for each size, from 0."""
    most = max((value for _, value in chart.points), default=0.0) or 1.0
    rows: list[list[Cell]] = [
        [whole(size), fraction(value, 3), Bar(value / most), chart.mark if place == chart.marked else ""]
        for place, (size, value) in enumerate(chart.points)
    ]
    yield Sheet(*numbers(chart.unit, chart.value), text_column(), text_column(), rows=rows)


def _share_at(points: Sequence[tuple[int, float]], rank: float) -> float:
    """Return the share at the last point that is not behind a rank."""
    return next((share for at, share in reversed(points) if at <= rank * (1 + 1e-9)), 0.0)


def spark(shares: Iterable[float]) -> str:
    """Draw values from 0 to 1 as heights; what is more than 0 is never drawn as nothing.

    >>> spark([0, 0.001, 0.5, 1])
    ' ▁▄█'
    """
    return "".join(_HEIGHTS[min(8, max(math.ceil(share * 8), 0))] for share in shares)


@dataclass(frozen=True)
class _Dots:
    """Dots on a line for each group, a letter for each series, and a bar where 1 is."""

    chart: Rows

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield a line for each group, of as many columns as there are."""
        chart = self.chart
        scale = around([*chart.numbers(), 1.0], 0.0, 1.0)
        letters = [_LETTERS[number % len(_LETTERS)] for number in range(len(chart.series))]
        legend = ", ".join(f"{letter} {name}" for letter, name in zip(letters, chart.series, strict=True))
        several = f"; {SEVERAL} several" if len(letters) > 1 else ""
        yield Line(f"{legend}{several}; │ {chart.line}")
        wide = screen.width >= _NARROW
        table = Sheet(
            text_column(chart.head), text_column(chart.unit), *(numbers(*letters) if wide else []),
        )  # fmt: skip
        for group, marks in zip(chart.groups, chart.marks, strict=True):
            dots = tuple(
                (scale.place(mark.value), letter)
                for mark, letter in zip(marks, letters, strict=True)
                if mark.value is not None
            )
            spans = tuple(
                (scale.place(mark.interval[0]), scale.place(mark.interval[1]))
                for mark in marks
                if mark.interval is not None
            )
            shown = [mark.short for mark in marks] if wide else []
            table.add_row(group, Strip(dots, spans, scale.place(1.0)), *shown)
        yield table
