import base64
import hashlib
import re
from array import array
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.comparison.comparison import Comparison, Passage, Row
from bpe_cli.reports.comparison.measures import Difference
from bpe_cli.reports.data import DataReport, Ends, ShownRow, lengths_of, of_ids
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.views.labels import DOCUMENT_LIMIT, TOKEN_LIMIT
from bpe_cli.views.page.comparison import comparison_page
from bpe_cli.views.page.data import data_page
from bpe_cli.views.page.page import texts_page
from bpe_cli.views.page.palette import DARK, LIGHT
from bpe_cli.views.page.tokens import section
from tests.unit.reports.comparison.handmade import row_of
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer
from tests.unit.views.golden import check
from tests.unit.views.page.reading import Page

END = FakeSpecial(b"<|end|>", 300)
TINY = FakeTokenizer(
    [b"He", b"llo", b"Hello", b" w", b"orld", b" world", b"\xe8\xb0", "é".encode(), b"</sc", b"ript>", b"\n\n"],
    name="tiny",
    specials=[END],
)
BYTES = FakeTokenizer([], name="<i>bytes</i>")
TEXT = "Hello world é 谁</script>\t\n\n\u202e<|end|>\r".encode() + b"\0\xff"
ELEMENTS = {
    "html", "head", "meta", "title", "link", "style", "body", "h1", "h2", "h3", "div", "label", "input",
    "main", "section", "p", "dl", "dt", "dd", "span", "a", "b", "i", "button", "code", "table",
    "thead", "tbody", "tfoot", "tr", "th", "td", "small", "details", "summary", "script",
    "figure", "svg", "desc", "rect", "path", "text",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "rel", "href", "class", "id", "type", "checked", "title",
    "role", "aria-label", "data-m", "data-b", "data-copy", "for", "hidden", "scope", "tabindex",
    "width", "height", "viewbox", "x", "y", "d", "text-anchor", "font-size",
}  # fmt: skip


def page_of(texts, tokenizer=TINY, **options):
    reports = (segment(tokenizer, text, "all") for text in texts)
    return "".join(texts_page(((report, (), None) for report in reports), tokenizer=tokenizer.name, **options))


def comparison(text=TEXT, names=("tiny", "<i>bytes</i>")):
    segmentations = (segment(TINY, text), segment(BYTES, text))
    counts = [report.token_count for report in segmentations]
    row = row_of("a<b>.txt", 1, len(text), 40, counts)
    sure = Row(
        row.name, 1, len(text), 40, row.measures, row.best,
        (None, Difference(1.5, 1.25, 1.75, 0.01, 0.02, 100, 1)),
    )  # fmt: skip
    return Comparison(names, (300, 256), (row, sure), row, (Passage("a<b>.txt", 0, segmentations),))


def without_constants(markup):
    """Leave out what is the same in every page."""
    return re.sub(r"(<(style|script)>).*?(</\2>)|'sha256-[^']*'", r"\1\3", markup, flags=re.DOTALL)


def check_safe(markup):
    page = Page(markup)
    assert {name for name, _ in page.elements} <= ELEMENTS
    assert {name for _, attributes in page.elements for name in attributes} <= ATTRIBUTES
    assert [name for name, _ in page.elements].count("script") == 1
    targets = [attributes.get("href") for _, attributes in page.elements if "href" in attributes]
    assert all(target == "data:," or target.startswith("#") for target in targets)
    named = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(named) == len(set(named))
    assert {target[1:] for target in targets if target.startswith("#")} <= set(named)
    return page


def test_golden_section():
    check("page-section", "".join(section(segment(TINY, TEXT, "all"), "0", None)))


def test_golden_page():
    check("page", without_constants(page_of([b"Hello", b"</title>"])))


def test_golden_comparison():
    check("page-comparison", without_constants("".join(comparison_page(comparison()))))


def test_style_and_script_are_allowed_by_their_hashes_and_nothing_else_is():
    markup = page_of([TEXT])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', markup).group(1)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(f"<{element}>(.*?)</{element}>", markup, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy


def test_the_tokens_are_the_text():
    page = check_safe(page_of([TEXT, b"Hello"]))
    assert page.texts == [TEXT, b"Hello"]


@given(st.lists(st.binary(max_size=40) | st.text(max_size=40).map(str.encode), max_size=3))
def test_any_texts_are_read_back(texts):
    page = check_safe(page_of(texts))
    assert page.texts == [text for text in texts if text]


@given(st.text(max_size=30).map(str.encode) | st.binary(max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_any_comparison_is_safe(text, first, second):
    page = check_safe("".join(comparison_page(comparison(text, (first, second)))))
    assert b"".join(page.texts[::2]) == b"".join(page.texts[1::2]) == text


@given(st.lists(st.integers(0, 70_000), max_size=12), st.text(max_size=20))
def test_any_ids_are_a_safe_page(ids, title):
    tokenizer = named("gpt2")
    lengths = lengths_of(Counter([len(ids), 3]))
    row = ShownRow(1, len(ids) + 2, of_ids(tokenizer, array("I", ids)))
    ends = Ends(50256, 1, 1, 0)
    report = DataReport(title, "bin", "u32", "gpt2", "document", 2, len(ids) + 3, lengths, ends, 0, None, (row,))
    page = check_safe("".join(data_page(report, "<|endoftext|>")))
    assert len(page.texts) == bool(ids)
    assert [name for name, _ in page.elements].count("figure") == 1


def test_what_is_left_out_is_counted():
    long = page_of([b"x" * (TOKEN_LIMIT + 1234)])
    assert len(Page(long).tokens) == TOKEN_LIMIT
    assert "and 1,234 more tokens" in long
    assert "Copy the 1,000 ids shown" in long
    assert len(Page(page_of([b"x" * (TOKEN_LIMIT + 1)], full=True)).tokens) == TOKEN_LIMIT + 1
    many = page_of([b"x"] * (DOCUMENT_LIMIT + 2))
    assert len(Page(many).texts) == DOCUMENT_LIMIT
    assert "and 2 more documents" in many
    assert len(Page(page_of([b"x"] * (DOCUMENT_LIMIT + 2), full=True)).texts) == DOCUMENT_LIMIT + 2


def test_very_many_tokens_have_a_line_each(monkeypatch):
    monkeypatch.setattr("bpe_cli.views.page.tokens.LEAN", 5)
    page = check_safe(page_of([TEXT]))
    assert page.texts == [TEXT]
    assert "table" not in [name for name, _ in page.elements]
    assert len([1 for name, attributes in page.elements if name == "p" and "id" in attributes]) == len(
        segment(TINY, TEXT, "all").tokens
    )


def test_a_text_without_tokens_says_so():
    assert "There is no token" in page_of([b""])
    assert "<dd>0</dd>" in page_of([b""])


def luminance(color):
    channels = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_can_be_read(palette):
    assert contrast("#000000", "#ffffff") == 21
    for color in (*palette.tokens, palette.paper):
        assert contrast(palette.ink, color) >= 4.5
    for color in (palette.faint, palette.accent):
        assert contrast(color, palette.paper) >= 4.5
    for color in palette.tokens:  # the lines of boundaries that differ, and focus: WCAG 2.2, 1.4.11
        assert contrast(palette.accent, color) >= 3
    neighbours = zip(palette.tokens, (*palette.tokens[1:], palette.tokens[0]), strict=True)
    assert all(contrast(one, other) > 1.15 for one, other in neighbours)
