"""Charts made by hand and at random, for tests of what draws them."""

from __future__ import annotations

from hypothesis import strategies as st

from bpe_cli.views.labels import short_names
from bpe_cli.views.pictures.charts import Curve, Histogram, Mark, Rows, Trend
from bpe_cli.views.visible import harmless

NAMES = st.text(max_size=40) | st.sampled_from(
    ["<script>alert(1)</script>", "]]>", "&amp;",
     "a/very/long/path/" * 12 + "x.json", "العربية \u202eevil", "中文 (简体)",
     "\0\x1b[2J\x85\ufffe\uffff\udcff\ud800", "", "W" * 60, "i" * 60]
)  # fmt: skip
VALUES = st.floats(0, 1e12) | st.sampled_from([0.0, 1.0, 1e-9])


def mark(value, interval=None, shown=None):
    shown = f"{value:,.2f}" if shown is None else shown
    ends = "" if interval is None else f"[{interval[0]:.2f}, {interval[1]:.2f}]"
    return Mark(value, shown, interval, ends)


@st.composite
def marks(draw):
    if draw(st.integers(0, 9)) == 0:
        return Mark(None)
    low, value, high = sorted(draw(st.tuples(VALUES, VALUES, VALUES)))
    return mark(value, (low, high) if draw(st.booleans()) else None)


@st.composite
def rows_charts(draw):
    series = tuple(short_names(draw(st.lists(NAMES, min_size=1, max_size=9, unique=True))))
    groups = tuple(map(harmless, draw(st.lists(NAMES, max_size=12))))
    values = tuple(tuple(draw(marks()) for _ in series) for _ in groups)
    return Rows(
        "inputs", harmless(draw(NAMES)), "tokens", draw(st.sampled_from(["bars", "dots"])), "input", groups, series,
        values, "1: as many", tuple(map(harmless, draw(st.lists(NAMES, max_size=2)))),
    )  # fmt: skip


@st.composite
def histograms(draw):
    series = tuple(short_names(draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))))
    number = draw(st.integers(0, 24))
    bins = tuple((1 << place >> 1, (1 << place) - 1) for place in range(number))
    if bins and draw(st.booleans()):
        bins = (*bins[:-1], (bins[-1][0], None))
    counts = tuple(tuple(draw(st.integers(0, 10**9)) for _ in bins) for _ in series)
    return Histogram("lengths", "Lengths", "tokens per document", "documents", bins, series, counts)


@st.composite
def curves(draw):
    series = tuple(short_names(draw(st.lists(NAMES, min_size=1, max_size=9, unique=True))))
    points = []
    for _ in series:
        ranks = sorted(draw(st.sets(st.integers(1, 200_000), max_size=12)))
        shares = sorted(draw(st.floats(0, 1)) for _ in ranks)
        points.append(tuple(zip(ranks, shares, strict=True)))
    return Curve("use", "Use", "most frequent tokens", "share of all tokens", series, tuple(points))


@st.composite
def trends(draw):
    sizes = sorted(draw(st.lists(st.integers(1, 10**9), max_size=12)))
    points = tuple((size, draw(st.floats(0, 1e6))) for size in sizes)
    marked = draw(st.none() | st.integers(0, len(points) - 1)) if points else None
    return Trend("curve", "Bytes per token", "tokens", "bytes per token", points, marked, "knee")


CHARTS = rows_charts() | histograms() | curves() | trends()
