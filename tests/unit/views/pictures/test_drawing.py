"""Any chart is drawn whole: marks within the plot, texts that do not overlap, valid XML, all values as text."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import example, given

from bpe_cli.views.page.palette import DARK, LIGHT
from bpe_cli.views.pictures.charts import Curve, Histogram, Mark, Rows, Trend, values_text
from bpe_cli.views.pictures.drawing import COLORS, SHAPES, WIDTH, Box, Label, Shape, Stroke
from bpe_cli.views.pictures.section import figures
from bpe_cli.views.pictures.svg import draw, svg_file
from tests.unit.views.pictures.charts_by_hand import CHARTS, histograms, mark, rows_charts
from tests.unit.views.test_palette import luminance_of

SVG = "{http://www.w3.org/2000/svg}"
NEAR = 0.51

BARS = Rows(
    "inputs", "Tokens by input", "tokens", "bars", "input", ("en.txt", "de.txt"), ("gpt2", "mine"),
    ((mark(100.0), mark(50.0, (40.0, 65.0))), (mark(200.0), Mark(None))), notes=("a note",),
)  # fmt: skip
DOTS = Rows(
    "ratios", "Ratios", "ratio", "dots", "input", ("en.txt",), ("mine",), ((mark(0.5, (0.4, 0.65)),),), "1: as many"
)  # fmt: skip
HISTOGRAM = Histogram("lengths", "Lengths", "tokens", "documents", ((0, 0), (1, 1), (2, 3)), ("gpt2",), ((4, 0, 2),))
CURVE = Curve("use", "Use", "tokens", "share", ("gpt2", "mine"), (((1, 0.5), (10, 1.0)), ((1, 1.0),)))
TREND = Trend("curve", "Bytes", "tokens", "bytes per token", ((4000, 3.1), (8000, 3.7), (16000, 3.9)), 1, "knee")
EMPTY = (
    Trend("curve", "None", "tokens", "bytes per token", ()),
    Trend("curve", "One", "tokens", "bytes per token", ((1, 1.0),)),
    Rows("inputs", "None", "tokens", "bars", "input", (), ("gpt2",), ()),
    Rows("inputs", "None", "tokens", "dots", "input", (), ("gpt2",), ()),
    Rows("inputs", "None", "tokens", "bars", "input", ("a",), ("gpt2",), ((Mark(None),),)),
    Rows("inputs", "Zero", "tokens", "bars", "input", ("a",), ("gpt2",), ((mark(0.0, (0.0, 0.0)),),)),
    Histogram("lengths", "None", "tokens", "documents", (), ("gpt2",), ((),)),
    Histogram("lengths", "Zero", "tokens", "documents", ((0, 0),), ("gpt2",), ((0,),)),
    Curve("use", "None", "tokens", "share", ("gpt2",), ((),)),
    Curve("use", "One", "tokens", "share", ("gpt2",), (((1, 1.0),),)),
)


def marks_of(canvas):
    """Return the places of what stands for values, each as left, top, right and bottom."""
    for item in canvas.items:
        if isinstance(item, Box):
            yield item.x, item.y, item.x + item.width, item.y + item.height
        elif isinstance(item, Shape) and item.title:
            yield item.x, item.y, item.x, item.y
        elif isinstance(item, Stroke) and item.kind.split()[0] in ("curve", "interval", "whisker", "one"):
            xs, ys = zip(*item.points, strict=True)
            yield min(xs), min(ys), max(xs), max(ys)


def labels_of(canvas):
    return [item for item in canvas.items if isinstance(item, Label) and item.text]


def overlap(one, other):
    left, top, right, bottom = one
    left2, top2, right2, bottom2 = other
    return left < right2 - NEAR and left2 < right - NEAR and top < bottom2 - NEAR and top2 < bottom - NEAR


@example(BARS)
@example(DOTS)
@example(HISTOGRAM)
@example(CURVE)
@example(TREND)
@given(CHARTS)
def test_every_mark_lies_within_a_plot(chart):
    canvas = draw(chart)
    assert canvas.plots
    for left, top, right, bottom in marks_of(canvas):
        assert any(
            left >= plot[0] - NEAR and top >= plot[1] - NEAR and right <= plot[2] + NEAR and bottom <= plot[3] + NEAR
            for plot in canvas.plots
        )


@given(CHARTS)
def test_no_two_texts_overlap_and_all_lie_on_the_picture(chart):
    canvas = draw(chart)
    extents = [(label, label.extent) for label in labels_of(canvas)]
    for label, (left, top, right, bottom) in extents:
        assert left >= -NEAR, label
        assert right <= WIDTH + NEAR, label
        assert top >= 0, label
        assert bottom <= canvas.height, label
    for (one, first), (other, second) in combinations(extents, 2):
        assert not overlap(first, second), (one, other)


@given(CHARTS)
def test_any_picture_is_xml_without_anything_that_acts(chart):
    drawn = svg_file([chart, chart])
    root = ElementTree.fromstring(drawn)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "path", "text", "g",
    }  # fmt: skip
    assert not any(name.startswith(("on", "href", "style")) for each in root.iter() for name in each.attrib)
    assert "nan" not in drawn.replace(chart.title, "").lower() or "nan" in "".join(chart.series).lower()
    assert svg_file([chart, chart]) == drawn
    part = ElementTree.fromstring("<div>" + "".join(figures([chart])) + "</div>")
    assert len(list(part.iter("svg"))) == 1


@given(CHARTS)
def test_every_value_stands_in_the_text(chart):
    described = ElementTree.fromstring(svg_file([chart])).findtext(f"{SVG}desc")
    table = values_text(chart)
    assert table in described
    if isinstance(chart, Rows):
        values = [each.text for row in chart.marks for each in row]
    elif isinstance(chart, Histogram):
        values = [f"{count:,}" for counts in chart.counts for count in counts]
    elif isinstance(chart, Trend):
        values = [f"{value:,.3f}" for _, value in chart.points]
    else:
        values = [f"{share:.2%}" for points in chart.points for _, share in points]
    for value in values:
        assert value in table


@given(rows_charts())
def test_every_value_has_a_mark_of_its_own(chart):
    canvas = draw(chart)
    titled = [item for item in canvas.items if getattr(item, "title", "")]
    values = [each for row in chart.marks for each in row if each.value is not None]
    assert [item.title.rpartition(": ")[2] for item in titled] == [each.text.rpartition(": ")[2] for each in values]


@given(rows_charts())
def test_bars_are_as_long_as_their_values(chart):
    if chart.kind != "bars":
        chart = replace(chart, kind="bars")
    boxes = [item for item in draw(chart).items if isinstance(item, Box)]
    values = [each.value for row in chart.marks for each in row if each.value is not None]
    longest = max(values, default=0)
    for box, value in zip(boxes, values, strict=True):
        full = max((each.width for each in boxes), default=0)
        assert box.width == pytest.approx(full * value / longest if longest else 0, abs=1e-6)


@given(histograms())
def test_columns_are_as_high_as_their_counts(chart):
    boxes = [item for item in draw(chart).items if isinstance(item, Box)]
    counts = [count for each in chart.counts for count in each if count]
    most = max(counts, default=1)
    assert [box.height for box in boxes] == pytest.approx([110 * count / most for count in counts], abs=1e-6)


@pytest.mark.parametrize("chart", EMPTY, ids=lambda chart: f"{type(chart).__name__}-{chart.title}")
def test_nothing_is_drawn_as_nothing(chart):
    canvas = draw(chart)
    ElementTree.fromstring(svg_file([chart]))
    assert len([item for item in canvas.items if isinstance(item, Box) and item.width * item.height]) == 0


@pytest.mark.parametrize("kind", ["bars", "dots"])
def test_sixty_languages_and_eight_tokenizers(kind):
    groups = tuple(f"language number {number}" for number in range(60))
    series = tuple(f"some/folder/tokenizer-{number}.json" for number in range(8))
    values = tuple(tuple(mark(0.3 + (place * number) % 7 / 5) for number in range(8)) for place in range(60))
    canvas = draw(Rows("inputs", "Many", "tokens", kind, "language", groups, series, values, "1: as many"))
    extents = [label.extent for label in labels_of(canvas)]
    by_top = sorted(extents, key=lambda extent: extent[1])
    for place, extent in enumerate(by_top):
        assert not any(overlap(extent, other) for other in by_top[place + 1 : place + 40])
    assert len([item for item in canvas.items if getattr(item, "title", "")]) == 480
    assert {label.text for label in labels_of(canvas)} >= set(groups)


def test_by_hand():
    canvas = draw(BARS)
    assert [label.text for label in labels_of(canvas)] == [
        "0", "50", "100", "150", "200", "Tokens by input", "en.txt", "gpt2", "100.00", "mine", "50.00 [40.00, 65.00]",
        "de.txt", "gpt2", "200.00", "mine", "–", "tokens", "a note",
    ]  # fmt: skip
    assert values_text(DOTS) == "en.txt: mine 0.50 [0.40, 0.65]"
    assert values_text(HISTOGRAM) == (
        "0: documents 4, share 66.7%; 1: documents 0, share 0.0%; 2–3: documents 2, share 33.3%"
    )
    assert values_text(CURVE) == "1: gpt2 50.00%, mine 100.00%; 10: gpt2 100.00%, mine –"


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_series_can_be_seen_on_the_paper(palette):
    paper = luminance_of(palette.paper)
    assert len(palette.series) == COLORS == len(SHAPES)
    for color in palette.series:
        light, dark = sorted((luminance_of(color), paper), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, "WCAG 2, 1.4.11"
