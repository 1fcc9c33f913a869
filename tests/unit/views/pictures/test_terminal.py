"""Charts in characters: within the width, all values in numbers, the same without colours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from bpe_cli.views.blocks import SEVERAL, Strip
from bpe_cli.views.markdown import written
from bpe_cli.views.pictures.charts import Histogram, Rows
from bpe_cli.views.pictures.terminal import plots, spark
from tests.unit.views.golden import check, render
from tests.unit.views.pictures.charts_by_hand import CHARTS, mark, rows_charts
from tests.unit.views.pictures.test_drawing import BARS, CURVE, DOTS, EMPTY, HISTOGRAM, TREND

SEVERAL_SERIES = Histogram(
    "lengths", "Lengths", "tokens", "documents", ((0, 0), (1, 1), (2, 3)), ("gpt2", "mine"), ((4, 0, 2), (1, 3, 2))
)
WIDE = Rows(
    "premiums", "Premiums", "tokens per token of en", "dots", "language", ("en", "de", "ar"), ("gpt2", "mine"),
    ((mark(1.0), mark(1.0)), (mark(1.9, (1.7, 2.2)), mark(1.2)), (mark(3.4), mark(0.0))), "1: as many as en",
)  # fmt: skip


def test_golden():
    check("plots-80", render(plots([BARS, DOTS, WIDE, HISTOGRAM, SEVERAL_SERIES, CURVE, TREND, *EMPTY]), width=80))
    check("plots-40", render(plots([BARS, WIDE, SEVERAL_SERIES]), width=40))


@given(CHARTS, st.sampled_from([40, 80, 120]))
def test_no_line_is_too_long_and_colours_say_nothing(chart, width):
    plain = render(plots([chart]), width=width)
    assert all(cell_len(line) <= width for line in plain.split("\n"))
    colored = render(plots([chart]), width=width, color_system="truecolor")
    assert "\x1b[3" not in colored, "a colour"


@given(rows_charts())
def test_every_value_is_a_number_too(chart):
    shown = written(plots([chart]))  # as wide as it takes
    for row in chart.marks:
        for each in row:
            assert each.shown in shown


@given(st.lists(st.floats(0, 1)))
def test_heights_rise_with_the_values(shares):
    drawn = spark(shares)
    assert len(drawn) == len(shares)
    for (first, one), (second, other) in zip(zip(shares, drawn), zip(shares[1:], drawn[1:])):  # noqa: B905
        assert (one <= other) if first <= second else (one >= other)
    assert all((height == " ") == (share == 0) for share, height in zip(shares, drawn, strict=True))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from("ABC")), max_size=4), st.floats(0, 1), st.integers(1, 60)
)  # fmt: skip
def test_a_strip_has_all_its_marks(marks, rule, cells):
    drawn = Strip(tuple(marks), (), rule).drawn(cells)
    assert len(drawn) == cells
    for place, letter in marks:
        assert drawn[round(place * (cells - 1))] in (letter, SEVERAL)
    assert drawn.count("│") <= 1
