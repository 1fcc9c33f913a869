"""Pages and pictures in a real browser: safe with hostile texts and names, usable by mouse, keyboard and finger."""

from __future__ import annotations

import pytest

from bpe_cli.reports.comparison.comparison import Comparison, Passage
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.views.page.comparison import comparison_page
from bpe_cli.views.page.page import texts_page
from bpe_cli.views.page.svg import picture
from tests.evil import EVIL
from tests.thorough import more
from tests.unit.reports.comparison.handmade import row_of
from tests.unit.reports.fake_tokenizer import FakeSpecial, FakeTokenizer

pytestmark = pytest.mark.slow

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}

NAME = "<script>alert('name')</script>\"'\u202e\0</title>\udcff"
# As tokens of their own, and cut into many.
TOKENS = FakeTokenizer([text.encode() for text in EVIL], name=NAME, specials=[FakeSpecial(b"<script>alert(9)", 999)])
BYTES = FakeTokenizer([], name="<b>bytes")
HOSTILE = "\n".join(EVIL).encode() + b"<script>alert(9)\xff\xc0\xed\xa0\x80" + b"e" + "\u0301".encode() * 50
TEXT = "Hello world\n\n  naïve 谁 e\u0301\n\tשלום עולם <|end|> x".encode()
TINY = FakeTokenizer(
    [b"Hello", b" world", "ש".encode(), "לום".encode(), b"\xe8\xb0", b"\n\n"], name="tiny",
    specials=[FakeSpecial(b"<|end|>", 300)],
)  # fmt: skip

READ = """() => [...document.querySelectorAll('.text')].map(text => {
  const copy = text.cloneNode(true);
  for (const mark of copy.querySelectorAll('i.x')) mark.textContent = mark.textContent.replace(
    /\\\\x(..)/g, (_, code) => String.fromCodePoint(0xF0000 + parseInt(code, 16)));
  return copy.textContent;
})"""
COUNTS = """() => Object.fromEntries(
  ['script', 'style', 'img', 'iframe', 'svg', 'base', 'noscript', 'plaintext', 'link', 'meta', 'title', 'main'].map(
    name => [name, document.getElementsByTagName(name).length]).filter(([, count]) => count))"""
EXPECTED = {"script": 1, "style": 1, "link": 1, "meta": 4, "title": 1, "main": 1}


def page_of(*texts, tokenizer=TINY, specials="all", full=False):
    reports = (segment(tokenizer, text, specials) for text in texts)
    return "".join(texts_page(((report, (), None) for report in reports), tokenizer=tokenizer.name, full=full))


def comparison_of(text, names, specials=()):
    segmentations = tuple(segment(each, text, specials) for each in (TINY, BYTES, TOKENS))
    row = row_of(NAME, 1, len(text), 1, [report.token_count for report in segmentations])
    passages = (Passage(NAME, 0, segmentations), Passage(NAME, 1, segmentations))
    return "".join(comparison_page(Comparison(names, (1, 2, 3), (row, row), row, passages)))


def text_of(shown):
    """Give back the bytes of a text; what HTML cannot hold was read as characters of their own."""
    return b"".join(
        bytes([ord(character) - 0xF0000]) if 0xF0000 <= ord(character) < 0xF0100 else character.encode()
        for character in shown
    )


def wait_for_anchor(page, anchor):
    """Wait until the page's address names an anchor; the browser tells of it after the key or click has returned."""
    page.wait_for_url(lambda url: url.endswith(f"#{anchor}"))


def act_on_everything(page):
    """Point at, focus and click tokens."""
    page.evaluate("""() => {
      for (const link of [...document.querySelectorAll('.text a')].slice(0, 100)) {
        link.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
        link.focus();
        link.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, detail: 1}));
      }
    }""")


@pytest.mark.parametrize("tokenizer", [TOKENS, BYTES], ids=["tokens", "bytes"])
def test_a_hostile_text_is_only_text(browser, tokenizer):
    specials = "all" if tokenizer is TOKENS else ()
    with browser.open(page_of(HOSTILE, b"second", tokenizer=tokenizer, specials=specials, full=True)) as opened:
        page = opened.page
        assert page.evaluate(COUNTS) == EXPECTED
        assert [text_of(shown) for shown in page.evaluate(READ)] == [HOSTILE, b"second"]
        assert page.evaluate("document.querySelectorAll('.text a[id]').length") == (
            segment(tokenizer, HOSTILE, specials).token_count + segment(tokenizer, b"second").token_count
        )
        assert page.title() == "Tokens by " + {NAME: "<script>alert('name')</script>\"'<U+202E>␀</title>\\xff"}.get(
            tokenizer.name, tokenizer.name
        )
        act_on_everything(page)
        opened.assert_silent()


def test_a_hostile_comparison_is_only_text(browser):
    with browser.open(comparison_of(HOSTILE, (NAME, "</th><img src=x onerror=alert(1)>", "c"))) as opened:
        page = opened.page
        # Two pictures; titles of the page, of the bars of two inputs, and of the dots of these and of their sum.
        assert page.evaluate(COUNTS) == EXPECTED | {"svg": 2, "title": 1 + 2 * 3 + 3 * 2}
        texts = [text_of(shown) for shown in page.evaluate(READ)]
        for number in range(3):
            assert b"".join(texts[number::3]) == HOSTILE * 2
        act_on_everything(page)
        opened.assert_silent()


def test_the_policy_stops_what_would_get_through(browser):
    """As if escaping had failed: nothing that gets into the page runs, loads or shows."""
    markup = page_of(b"x")
    attack = (
        "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
        "<img src='https://evil.example/x.png'><style>body{display:none}</style><p style='position:fixed' id=p>"
        "<iframe src='https://evil.example/'></iframe><a href=\"javascript:document.title='ran'\" id=j>j</a>"
        "<form action='https://evil.example/'><button id=f>f</button></form>"
    )
    with browser.open(markup.replace("<main>", f"<main>{attack}")) as opened:
        page = opened.page
        page.evaluate("document.getElementById('j').click()")
        assert page.title() == "Tokens by tiny"
        assert page.evaluate("getComputedStyle(document.body).display") == "block"
        assert page.evaluate("getComputedStyle(document.getElementById('p')).position") == "static"
        page.evaluate("document.getElementById('f').click()")
        page.wait_for_timeout(200)  # for what is sent, if anything is
        assert len(opened.messages) >= 8
        assert all("Content Security Policy" in message for message in opened.messages)
        assert page.url.startswith("file:")
        assert (opened.requests, opened.dialogs) == (opened.refused, [])


def test_the_mouse_links_a_token_and_its_row(browser):
    with browser.open(page_of(TEXT)) as opened:
        page = opened.page
        assert page.locator("#bar").is_hidden()
        page.hover("#t0-1")
        assert page.locator(".on").evaluate_all("nodes => nodes.map(node => node.id)") == ["t0-1", "r0-1"]
        assert page.locator("#bar").inner_text().endswith("token 1, id 1, bytes 20 77 6f 72 6c 64, byte span 5–11, "
                                                          "characters 5–11, piece 1")  # fmt: skip
        page.hover("#r0-0 td:nth-child(4)")
        assert page.locator(".on").evaluate_all("nodes => nodes.map(node => node.id)") == ["t0-0", "r0-0"]
        page.hover("h1")
        assert page.locator("#bar").is_hidden()
        opened.assert_silent()


def test_tokens_of_one_character_are_linked_with_it(browser):
    with browser.open(page_of(TEXT)) as opened:
        page = opened.page
        group = page.locator(".g", has_text="谁")
        assert group.evaluate("node => node.textContent") == "谁"
        shares = group.locator("a").evaluate_all(
            "nodes => nodes.map(node => [node.dataset.b, getComputedStyle(node, '::before').content])"
        )
        assert shares == [["e8 b0", '"e8 b0"'], ["81", '"81"']]
        opened.assert_silent()


def test_the_keyboard_reaches_every_token(browser):
    with browser.open(page_of(TEXT)) as opened:
        page = opened.page
        page.focus("#dark")
        page.keyboard.press("Tab")  # the first token
        focused = "document.activeElement.id"
        assert page.evaluate(focused) == "t0-0"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        count = segment(TINY, TEXT, "all").token_count
        rows = "[...document.querySelectorAll('.rows .on')].map(row => row.id)"
        for number in range(1, count):
            page.keyboard.press("ArrowRight")
            at, said, marked = page.evaluate(f"[{focused}, document.getElementById('bar').innerText, {rows}]")
            assert (at, marked) == (f"t0-{number}", [f"r0-{number}"])
            assert f"token {number}," in said
        page.keyboard.press("ArrowRight")  # there is no further one
        assert page.evaluate(focused) == f"t0-{count - 1}"
        page.keyboard.press("Home")
        assert page.evaluate(focused) == "t0-0"
        page.keyboard.press("ArrowDown")
        below = page.evaluate("document.activeElement.getBoundingClientRect().top")
        assert below > page.evaluate("document.getElementById('t0-0').getBoundingClientRect().top")
        page.keyboard.press("ArrowUp")
        assert page.evaluate(focused) in ("t0-0", "t0-1", "t0-2")
        page.keyboard.press("Escape")
        assert page.locator("#bar").is_hidden()
        page.keyboard.press("Tab")  # the text is one stop
        assert page.evaluate("document.activeElement.textContent") == "Copy ids"
        opened.assert_silent()


def test_enter_goes_to_the_row(browser):
    with browser.open(page_of(TEXT)) as opened:
        opened.page.focus("#t0-1")
        opened.page.keyboard.press("Enter")
        wait_for_anchor(opened.page, "r0-1")
        assert opened.page.evaluate("document.querySelector(':target').id") == "r0-1"
        opened.assert_silent()


def test_ids_are_copied(browser):
    with browser.open(page_of(TEXT), permissions=["clipboard-read", "clipboard-write"]) as opened:
        page = opened.page
        page.click("button")
        page.locator("button", has_text="Copied").wait_for()
        ids = " ".join(str(token.token_id) for token in segment(TINY, TEXT, "all").tokens)
        assert page.evaluate("navigator.clipboard.readText()") == ids
        opened.assert_silent()


def test_what_is_copied_from_the_text_is_the_text(browser):
    with browser.open(page_of(b"a b\tc"), permissions=["clipboard-read", "clipboard-write"]) as opened:
        page = opened.page
        page.evaluate("getSelection().selectAllChildren(document.querySelector('.text'))")
        page.keyboard.press("Control+c")
        assert page.evaluate("navigator.clipboard.readText()") == "a b\tc"


def marks(page):
    return [
        page.locator(".text .n").first.evaluate("node => getComputedStyle(node, '::before').content"),
        page.locator(".text .h").first.evaluate("node => getComputedStyle(node, '::before').content"),
        page.locator(".text .p").first.evaluate("node => getComputedStyle(node).backgroundImage").partition("(")[0],
    ]


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no-script"])
def test_marks_and_colours_are_switched_without_a_script(browser, options):
    with browser.open(page_of(TEXT), **options) as opened:
        page = opened.page
        assert marks(page) == ['"⏎"', '"→"', "radial-gradient"]
        page.uncheck("#marks")
        assert marks(page) == ['""', '""', "none"]
        colors = {}
        for scheme in ("light", "dark", "auto"):
            page.check(f"#{scheme}")
            colors[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colors == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)", "auto": "rgb(255, 255, 255)"}
        opened.assert_silent()


def test_everything_can_be_read_without_a_script(browser):
    with browser.open(page_of(TEXT), java_script_enabled=False) as opened:
        page = opened.page
        assert page.locator("button").is_hidden()
        assert page.locator("#t0-1").get_attribute("title").startswith("token 1, id 1,")
        page.click("#t0-1")
        wait_for_anchor(page, "r0-1")
        assert page.locator("#r0-1").evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
        page.click("#r0-1 a")
        wait_for_anchor(page, "t0-1")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "t0-2"
        opened.assert_silent()


LUMINANCE = """nodes => {
  const channel = value => (value /= 255, value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = color => {
    const [red, green, blue] = color.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  };
  const behind = node => {
    for (; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
  };
  return nodes.map(node => {
    const pair = [luminance(getComputedStyle(node).color), luminance(behind(node))].sort((a, b) => b - a);
    return (pair[0] + 0.05) / (pair[1] + 0.05);
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["text", "comparison"])
def test_everything_has_contrast(browser, scheme, kind):
    content = page_of(TEXT) if kind == "text" else comparison_of(TEXT, ("a", "b", "c"))
    with browser.open(content, color_scheme=scheme) as opened:
        ratios = opened.page.locator("body :not(script, style)").evaluate_all(LUMINANCE)
        assert len(ratios) > 50
        assert min(ratios) >= 4.5


@pytest.mark.parametrize("kind", ["text", "hostile", "comparison"])
def test_a_phone_never_scrolls_sideways(browser, kind):
    content = {
        "text": lambda: page_of(TEXT, b"x" * 500 + b"\xff" * 90 + b" " * 300),
        "hostile": lambda: page_of(HOSTILE, tokenizer=TOKENS),
        "comparison": lambda: comparison_of(TEXT, ("a" * 80, "b", "c")),
    }[kind]()
    with browser.open(content, **PHONE) as opened:
        page = opened.page
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        sizes = page.locator(".text a, td").evaluate_all(
            "nodes => nodes.filter(node => node.closest('details') === null)"
            ".map(node => parseFloat(getComputedStyle(node).fontSize))"
        )
        assert min(sizes) >= 12
        beyond = page.locator(".text a").evaluate_all(
            "nodes => nodes.filter(node => node.getBoundingClientRect().right > innerWidth).map(node => node.id)"
        )
        assert beyond == []


def test_a_tap_shows_the_details(browser):
    with browser.open(page_of(TEXT), **PHONE) as opened:
        page = opened.page
        page.tap("#t0-1")
        assert "token 1, id 1," in page.locator("#bar").inner_text()
        assert page.url.endswith(".html")
        page.tap("#t0-0")
        assert "token 0, id 0," in page.locator("#bar").inner_text()
        page.tap("h1")
        assert page.locator("#bar").is_hidden()
        assert page.evaluate("location.hash") == ""  # no tap went to a row
        opened.assert_silent()


def test_tokens_stand_in_their_order(browser):
    with browser.open(page_of("שלום عالم (א) abc".encode())) as opened:
        lefts = opened.page.locator(".text a, .text b").evaluate_all(
            "nodes => nodes.map(node => node.getBoundingClientRect().left)"
        )
        assert len(lefts) > 10
        assert lefts == sorted(lefts)


def test_a_comparison_stands_side_by_side_or_below_each_other(browser):
    content = comparison_of(b"Hello world", ("a", "b", "c"))
    columns = "nodes => new Set(nodes.map(node => node.getBoundingClientRect().left)).size"
    with browser.open(content) as opened:
        assert opened.page.locator("section:nth-of-type(1) .side:not(.heads) > div").evaluate_all(columns) == 3
        alone = opened.page.locator(".side .alone").first
        assert alone.evaluate("node => getComputedStyle(node).borderRightStyle") == "double"
        assert "ends where the first tokenizer goes on" in alone.get_attribute("title")
        opened.assert_silent()
    with browser.open(content, **PHONE) as opened:
        assert opened.page.locator("section:nth-of-type(1) .side:not(.heads) > div").evaluate_all(columns) == 1
        assert opened.page.locator(".who").first.is_visible()
        assert opened.page.locator(".heads").first.is_hidden()


def test_a_page_of_many_tokens_opens(browser):
    count = more(20_000, 100_000)
    text = (b"a b<c>d\n" * count)[:count]
    with browser.open(page_of(text, tokenizer=BYTES, full=True)) as opened:
        page = opened.page
        assert page.evaluate("document.querySelectorAll('.text a[id]').length") == count
        page.evaluate(f"document.getElementById('t0-{count - 1}').focus()")
        assert f"token {count - 1}, id 10," in page.locator("#bar").inner_text()
        assert page.evaluate(f"document.getElementById('r0-{count - 1}').className") == "on"
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.id") == f"t0-{count - 2}"
        page.keyboard.press("Enter")
        assert page.locator(f"#r0-{count - 2}").is_visible()
        opened.assert_silent()


def test_paper_shows_boundaries_and_no_controls(browser):
    with browser.open(page_of(TEXT)) as opened:
        page = opened.page
        page.emulate_media(media="print")
        assert page.locator("#marks").is_hidden()
        assert page.locator("#t0-1").evaluate("node => getComputedStyle(node).borderTopStyle") == "solid"


@pytest.mark.parametrize("tokenizer", [TOKENS, BYTES], ids=["tokens", "bytes"])
def test_a_hostile_picture_is_only_text(browser, tokenizer):
    drawn = picture([segment(tokenizer, HOSTILE)], tokenizer=NAME, ids=True, full=True)
    with browser.open(drawn, "picture.svg") as opened:
        names = opened.page.evaluate("[...new Set([...document.querySelectorAll('*')].map(node => node.localName))]")
        assert names == ["svg", "title", "style", "rect", "text"]
        beyond = opened.page.evaluate(
            "[...document.querySelectorAll('text, rect')].filter(node => {"
            " const box = node.getBBox(); return box.x + box.width > 700; }).length"
        )
        assert beyond == 0
        opened.assert_silent()
