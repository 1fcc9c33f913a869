"""Pictures in a real browser: labels take no more room than was reckoned, and colours follow the scheme."""

from __future__ import annotations

import pytest

from bpe_cli.views.blocks import Blocks
from bpe_cli.views.page.markup import escape
from bpe_cli.views.page.page import blocks_page
from bpe_cli.views.page.palette import DARK, LIGHT
from bpe_cli.views.pictures.charts import Curve, Histogram, Rows
from bpe_cli.views.pictures.drawing import Label, text_width
from bpe_cli.views.pictures.svg import draw, svg_file
from tests.test_browser import PHONE
from tests.unit.views.pictures.charts_by_hand import mark

pytestmark = pytest.mark.slow

NAMES = (
    "gpt2", "cl100k_base", "Llama-3.1-8B-Instruct", "runs/2025-01-31/tokenizer.json", "<b>&amp;\"'", "MWMWMWMWMW@%",
    "מודל עברי", "العربية 12",
)  # fmt: skip
GROUPS = (
    "corpora/languages/en.txt", "Русский текст", "Ελληνικά ΚΕΦΑΛΑΙΑ", "naïve Straße ÅÄÖ ŁÓDŹ", "ภาษาไทย",
    "中文 日本語 한국어", "…—–",
    "a name that goes on and on, and on, and does not fit into the gutter at the left of a picture",
)  # fmt: skip
VALUES = tuple(tuple(mark(100 + 37 * place * number, (50.0, 2000.0)) for number in range(8)) for place in range(8))
RATIOS = tuple(tuple(mark((1 + place * number) / 9, (0.1, 6.0)) for number in range(8)) for place in range(8))
COUNTS = tuple(tuple((number * place * 997) % 4001 for place in range(14)) for number in range(1, 9))
CHARTS = {
    "bars": Rows("inputs", "Tokens by input", "tokens", "bars", "input", GROUPS, NAMES, VALUES, notes=GROUPS),
    "dots": Rows("ratios", "Ratios", "ratio", "dots", "input", GROUPS, NAMES, RATIOS, "1: as many as gpt2"),
    "histogram": Histogram(
        "lengths", "Lengths", "tokens", "documents", tuple((1 << place >> 1, (1 << place) - 1) for place in range(14)),
        NAMES, COUNTS,
    ),
    "curve": Curve(
        "use", "Use", "tokens", "share", NAMES,
        tuple(((1, 0.1), (100, 0.5), (1000 * (1 + number), 1.0)) for number in range(8)),
    ),
}  # fmt: skip

BOXES = """nodes => nodes.map(node => {
  const box = node.getBBox();
  return [node.textContent, box.x, box.y, box.x + box.width, box.y + box.height];
})"""


@pytest.mark.parametrize("name", CHARTS)
def test_labels_take_no_more_room_than_was_reckoned(browser, name):
    chart = CHARTS[name]
    labels = [item for item in draw(chart).items if isinstance(item, Label)]
    with browser.open(svg_file([chart]), "picture.svg") as opened:
        boxes = opened.page.locator("text").evaluate_all(BOXES)
        opened.assert_silent()
    assert [text for text, *_ in boxes] == [label.text for label in labels]
    for (text, left, _, right, _), label in zip(boxes, labels, strict=True):
        bold = "title" in label.kind or "group" in label.kind
        assert right - left <= text_width(label.text, label.size, bold=bold) + 0.5, text
        assert left >= 0, text
        assert right <= 720, text
    for place, (text, left, top, right, bottom) in enumerate(boxes):
        for other, left2, top2, right2, bottom2 in boxes[place + 1 :]:
            # A box is as high as the font's line, not as its letters.
            apart = left >= right2 or left2 >= right or top + 3 >= bottom2 - 3 or top2 + 3 >= bottom - 3
            assert apart, (text, other)


FILLS = "nodes => [...new Set(nodes.map(node => getComputedStyle(node).fill))]"


def rgb(color):
    return "rgb({}, {}, {})".format(*bytes.fromhex(color.removeprefix("#")))


@pytest.mark.parametrize(("scheme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_colours_follow_the_scheme(browser, scheme, palette):
    with browser.open(svg_file([CHARTS["bars"]]), "picture.svg", color_scheme=scheme) as opened:
        assert opened.page.locator(".paper").evaluate_all(FILLS) == [rgb(palette.paper)]
        assert opened.page.locator(".bar").evaluate_all(FILLS) == [rgb(color) for color in palette.series]
        assert opened.page.locator("text").evaluate_all(FILLS) == [rgb(palette.faint), rgb(palette.ink)]
    page = "".join(blocks_page("<t>", Blocks(), CHARTS.values()))
    with browser.open(page) as opened:
        opened.page.check(f"#{scheme}")
        assert opened.page.locator(".bar").evaluate_all(FILLS) == [rgb(color) for color in palette.series]
        assert {*opened.page.locator(".plot text").evaluate_all(FILLS)} == {rgb(palette.faint), rgb(palette.ink)}
        assert opened.page.locator(".plot").count() == len(CHARTS)
        opened.assert_silent()


def test_a_page_has_the_values_below_each_picture(browser):
    with browser.open("".join(blocks_page("t", Blocks(), CHARTS.values()))) as opened:
        page = opened.page
        page.locator("summary").evaluate_all("nodes => nodes.forEach(node => node.click())")
        tables = page.locator("figure table")
        assert tables.count() == len(CHARTS)
        text = tables.first.inner_text()
        assert all(each.text in text for row in VALUES for each in row)
        names = page.locator("figure").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
        assert names == [escape(chart.title) for chart in CHARTS.values()]
        roles = page.locator(".plot").evaluate_all("nodes => nodes.map(node => node.getAttribute('role'))")
        assert roles == ["img"] * len(CHARTS)
        opened.assert_silent()


def test_a_phone_never_scrolls_sideways(browser):
    with browser.open("".join(blocks_page("t", Blocks(), CHARTS.values())), **PHONE) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
