"""What a picture holds: values in words and numbers, named series, and the sentences that explain them.

Every chart has its values as a table too (``sheet``): the text for readers who cannot see the picture. All texts are
harmless already (``visible.harmless``); what writes them escapes them for its format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bpe_cli.views.blocks import Cell, Name, Sheet, numbers, text_column
from bpe_cli.views.labels import ABSENT, fraction, percent, whole

MOST_GROUPS = 100
"""More inputs than this do not make a picture: the first ones are drawn, and a note counts the others."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A value of a chart.

    Attributes:
        value: The number, or None.
        shown: The number in words.
        interval: The least and the greatest value that it may have; None where that is not known.
        shown_interval: The same in words.
        doubtful: Whether it must not count as good, since text was lost.
    """

    value: float | None
    shown: str = ABSENT
    interval: tuple[float, float] | None = None
    shown_interval: str = ""
    doubtful: bool = False

    @property
    def text(self) -> str:
        """The number in words, with its mark and its interval."""
        return f"{self.short} {self.shown_interval}" if self.shown_interval else self.short

    @property
    def short(self) -> str:
        """The number in words, with its mark."""
        return f"{self.shown}?" if self.doubtful else self.shown


@dataclass(frozen=True, slots=True)
class Rows:
    """A chart with a bar, or a dot, for each series in each group; its axis is horizontal.

    Attributes:
        name: What the picture is called where one is chosen: a word.
        title: The heading of the picture.
        unit: What the axis counts.
        kind: ``bars`` begin at 0; ``dots`` have an axis that begins where they do, and a line at 1.
        head: What a group is: an input, a language.
        groups: The names of the groups.
        series: The names of what is compared in each group; a single one needs no name in the picture.
        marks: For each group the value of each series.
        line: The meaning of the line at 1.
        notes: Sentences below the picture.
        colors: The colour of each series, of those that all pictures of a report share; empty for its own number.
    """

    name: str
    title: str
    unit: str
    kind: Literal["bars", "dots"]
    head: str
    groups: tuple[str, ...]
    series: tuple[str, ...]
    marks: tuple[tuple[Mark, ...], ...]
    line: str = ""
    notes: tuple[str, ...] = ()
    colors: tuple[int, ...] = ()

    def sheet(self) -> Sheet:
        """Return the values as a table."""
        columns = [text_column(self.head), *numbers(*map(Name, self.series))]
        rows: list[list[Cell]] = [
            [Name(group), *(mark.text for mark in marks)] for group, marks in zip(self.groups, self.marks, strict=True)
        ]
        return Sheet(*columns, rows=rows)

    def numbers(self) -> list[float]:
        """Return all values and ends of intervals, which an axis must hold."""
        marks = [mark for row in self.marks for mark in row]
        values = [mark.value for mark in marks if mark.value is not None]
        return [*values, *(end for mark in marks if mark.value is not None for end in mark.interval or ())]

    def color(self, number: int) -> int:
        """Return the number of a series' colour."""
        return self.colors[number] if self.colors else number


@dataclass(frozen=True, slots=True)
class Histogram:
    """A chart with a panel of columns for each series.

    Attributes:
        unit: What is binned: ``tokens per document``.
        counted: What the columns count: ``documents``.
        bins: The least and the greatest value of each bin; None where it has no end.
        series: The names of the panels.
        counts: For each series how many there are in each bin.

    The others are those of ``Rows``.
    """

    name: str
    title: str
    unit: str
    counted: str
    bins: tuple[tuple[int, int | None], ...]
    series: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str]:
        """The bins in words."""
        return [bin_text(*each) for each in self.bins]

    def sheet(self) -> Sheet:
        """Return the values as a table."""
        single = len(self.series) == 1
        columns = numbers(self.unit, *([self.counted, "share"] if single else map(Name, self.series)))
        sums = [sum(each) for each in self.counts]
        rows: list[list[Cell]] = []
        for place, label in enumerate(self.labels):
            values = [each[place] for each in self.counts]
            share = [percent(values[0] / sums[0]) if sums[0] else ABSENT] if single else []
            rows.append([label, *map(whole, values), *share])
        return Sheet(*columns, rows=rows)


@dataclass(frozen=True, slots=True)
class Curve:
    """A chart with a rising line for each series, from rank 1 to the last, by the logarithm of the rank.

    Attributes:
        unit: What a rank is of: ``most frequent tokens``.
        share: What the height is a share of: ``share of all tokens``.
        series: The names of the lines.
        points: For each series its ranks and shares (0 to 1), ascending.

    The others are those of ``Rows``.
    """

    name: str
    title: str
    unit: str
    share: str
    series: tuple[str, ...]
    points: tuple[tuple[tuple[int, float], ...], ...]
    notes: tuple[str, ...] = ()

    def sheet(self) -> Sheet:
        """Return the values as a table: a row for each rank that some line has a point at."""
        shares = [dict(each) for each in self.points]
        ranks = sorted({rank for each in shares for rank in each})
        rows: list[list[Cell]] = [
            [whole(rank), *(ABSENT if rank not in each else f"{each[rank]:.2%}" for each in shares)] for rank in ranks
        ]
        return Sheet(*numbers(self.unit, *map(Name, self.series)), rows=rows)


@dataclass(frozen=True, slots=True)
class Trend:
    """A chart of a value by a size, with a line through its points and another between its ends.

    Attributes:
        unit: What the size counts: ``tokens in the vocabulary``.
        value: What the height is: ``bytes per token``.
        points: Sizes, from 1, and values, ascending by size.
        marked: The number of the point to mark; None for none.
        mark: What it is called.

    The others are those of ``Rows``.
    """

    name: str
    title: str
    unit: str
    value: str
    points: tuple[tuple[int, float], ...]
    marked: int | None = None
    mark: str = ""
    notes: tuple[str, ...] = ()

    def sheet(self) -> Sheet:
        """Return the values as a table."""
        marks = [] if self.marked is None else [text_column("marked")]
        rows: list[list[Cell]] = []
        for place, (size, value) in enumerate(self.points):
            mark = self.mark if place == self.marked else ABSENT
            rows.append([whole(size), fraction(value, 3), *([mark] if marks else [])])
        return Sheet(*numbers(self.unit, self.value), *marks, rows=rows)


Chart: TypeAlias = Rows | Histogram | Curve | Trend


def bin_text(first: int, last: int | None) -> str:
    """Write the values of a bin.

    >>> bin_text(0, 0), bin_text(1024, 2047), bin_text(129, None)
    ('0', '1,024–2,047', '129+')
    """
    if last is None:
        return f"{whole(first)}+"
    return whole(first) if first == last else f"{whole(first)}–{whole(last)}"


def described(chart: Chart) -> str:
    """Describe in a sentence what a picture shows, for readers who cannot see it.

    >>> described(Histogram("lengths", "Lengths", "bytes", "tokens", ((1, 1), (2, 3)), ("a",), ((3, 0),)))
    'A histogram: tokens by bytes, in 2 bins from 1 to 2–3.'
    """
    if isinstance(chart, Histogram):
        ends = f" from {chart.labels[0]} to {chart.labels[-1]}" if chart.bins else ""
        bins = "1 bin" if len(chart.bins) == 1 else f"{len(chart.bins)} bins"
        what = f"A histogram: {chart.counted} by {chart.unit}, in {bins}{ends}"
    elif isinstance(chart, Curve):
        what = f"Curves: {chart.share} by {chart.unit}"
    elif isinstance(chart, Trend):
        what = f"A curve: {chart.value} by {chart.unit}"
    else:
        what = f"{chart.kind.capitalize()}: {chart.unit} by {chart.head}"
    return f"{what}."


def values_text(chart: Chart) -> str:
    """Return the values of a picture as a text, for a file that has no table beside it.

    >>> values_text(Histogram("lengths", "Lengths", "bytes", "tokens", ((1, 1), (2, 3)), ("a",), ((3, 0),)))
    '1: tokens 3, share 100.0%; 2–3: tokens 0, share 0.0%'
    """
    headers, _, rows = chart.sheet().plain()
    lines = []
    for first, *others in rows:
        values = ", ".join(f"{header} {value}" for header, value in zip(headers[1:], others, strict=True))
        lines.append(f"{first}: {values}")
    return "; ".join(lines)
