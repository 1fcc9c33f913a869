"""The playground in a real browser: what is typed is shown, linked, switched, saved; and nothing of it ever runs."""

from __future__ import annotations

import contextlib
import json

import pytest

import bpe_cli
from bpe_cli.playground import Playground
from tests.browser import start
from tests.playground import Notes
from tests.test_browser import EVIL, PHONE, act_on_everything

pytestmark = pytest.mark.slow

TEXT = "Hello world\n\n  naïve 谁 e\u0301\tשלום <|endoftext|> 🙂"
GIVEN = ("gpt-4o", "gpt2", "gpt-3.5-turbo")
BYTES = r"\xff\xe8 \r\n"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with start(tmp_path_factory.mktemp("playground")) as running:
        yield running


@pytest.fixture(scope="module")
def playground():
    notes = Notes()
    with Playground(GIVEN, text=TEXT, listener=notes) as running:
        yield running
    assert notes.notes == []


class Page:
    """The playground as a user has it."""

    def __init__(self, opened, url):
        self.opened, self.page, self.url = opened, opened.page, url
        self.page.wait_for_selector(".column")

    def settled(self):
        """Wait until what is shown is what was asked for last."""
        self.page.wait_for_selector("#tokens[aria-busy=false]")
        return self

    def do(self, act, *arguments, **options):
        """Act, and wait for the answer to it."""
        act(*arguments, **options)
        return self.settled()

    def type(self, text):
        return self.do(self.page.fill, "#text", text)

    @property
    def ids(self):
        """The ids of each column."""
        return self.page.evaluate(
            "[...document.querySelectorAll('.column')].map("
            "column => [...column.querySelectorAll('.chips a')].map(id => Number(id.textContent)))"
        )

    @property
    def marked(self):
        return self.page.locator(".on").evaluate_all("nodes => nodes.map(node => node.id)")

    def assert_quiet(self):
        """Fail if the page asked for anything but tokens, or said anything."""
        asked = {each.removeprefix(self.url) for each in self.opened.requests if not each.startswith("blob:")}
        assert asked <= {"show", "page", "json"}
        # The console says so when a text is refused, as one is that has no right escapes.
        said = [each for each in self.opened.messages if "status of 400 " not in each]
        assert (said, self.opened.dialogs) == ([], [])


@pytest.fixture
def page(browser, playground):
    with browser.visit(playground.url, accept_downloads=True) as opened:
        page = Page(opened, playground.url)
        yield page
        page.assert_quiet()


def ids_by(name, text, **options):
    return bpe_cli.load(name).encode(text, **options)


def test_the_first_text_is_shown(page):
    assert page.page.input_value("#text") == TEXT
    assert page.ids == [ids_by("gpt-4o", TEXT)]
    assert page.page.evaluate("document.activeElement.id") == "text"


@pytest.mark.parametrize(
    "text", ["", "a", "hello world", TEXT, "  \n\n\t x", "👩‍👩‍👧 क्षि \u202eevil\u202c", "x" * 3000]
)
def test_ids_are_those_of_the_tokenizer(page, text):
    page.type(text)
    assert page.ids == [ids_by("gpt-4o", text)[:2000]]
    total = page.page.locator(".totals .large dd").first.inner_text()
    assert total == f"{len(ids_by('gpt-4o', text)):,}"


def test_while_one_types_the_last_key_counts(page):
    page.type("")
    page.page.focus("#text")
    page.page.keyboard.type("The quick brown fox ")
    assert page.settled().ids == [ids_by("gpt-4o", "The quick brown fox ")]
    page.page.keyboard.press("Backspace")
    page.page.keyboard.press("Enter")
    assert page.settled().ids == [ids_by("gpt-4o", "The quick brown fox\n")]
    assert page.page.evaluate("document.activeElement.id") == "text"


def test_tokenizers_are_switched_and_set_side_by_side(page):
    page.do(page.page.select_option, "#first", label="gpt2")
    assert page.ids == [ids_by("gpt2", TEXT)]
    page.do(page.page.select_option, "#second", label="cl100k_base")
    assert page.ids == [ids_by("gpt2", TEXT), ids_by("cl100k_base", TEXT)]
    boxes = [each.bounding_box() for each in page.page.locator(".column").all()]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    assert page.page.locator(".column").nth(1).locator(".across").count() > 0
    assert page.page.locator(".column").first.locator(".across, .alone").count() == 0
    page.do(page.page.select_option, "#second", label="none")
    assert page.ids == [ids_by("gpt2", TEXT)]


def test_special_tokens_are_switched(page):
    page.do(page.page.check, "#specials")
    assert page.ids == [ids_by("gpt-4o", TEXT, specials="all")]
    assert page.page.locator(".text .z").inner_text() == "<|endoftext|>"
    page.do(page.page.uncheck, "#specials")
    assert page.page.locator(".text .z").count() == 0


def test_escapes_give_any_bytes(page):
    page.page.check("#escapes")
    page.type(BYTES)
    assert page.ids == [ids_by("gpt-4o", b"\xff\xe8 \r\n")]
    page.type("\\q")
    assert page.page.inner_text("#state").startswith("character 1 begins")
    page.do(page.page.uncheck, "#escapes")
    assert (page.ids, page.page.inner_text("#state")) == ([ids_by("gpt-4o", "\\q")], "")


def test_white_space_is_switched(page):
    dot = "getComputedStyle(document.querySelector('.text .p')).backgroundImage"
    assert page.page.evaluate(dot).startswith("radial-gradient")
    page.page.uncheck("#marks")
    assert page.page.evaluate(dot) == "none"


def test_the_mouse_links_tokens_and_ids(page):
    page.page.hover("#t0-1")
    assert page.marked == ["t0-1", "r0-1"]
    assert page.page.inner_text("#bar").startswith("token 1, id 2375, bytes 20 77 6f 72 6c 64, byte span 5–11")
    page.page.hover("#r0-0")
    assert page.marked == ["t0-0", "r0-0"]
    page.page.hover("h1")
    assert page.marked == []
    page.type("other words")
    page.page.hover("#r0-1")
    assert page.marked == ["t0-1", "r0-1"]


def test_the_ids_of_a_long_text_come_into_sight(page):
    page.type("one two three four " * 100)
    page.page.hover("#t0-300")
    shown = """() => {
      const id = document.querySelector('#r0-300').getBoundingClientRect();
      const box = document.querySelector('.chips').getBoundingClientRect();
      return box.top <= id.top && id.bottom <= box.bottom;
    }"""
    assert page.page.evaluate(shown)


def test_the_keyboard_reaches_every_token(page):
    page.page.focus("#keep-json")
    page.page.keyboard.press("Tab")
    focused = "document.activeElement.id"
    assert page.page.evaluate(focused) == "t0-0"
    page.page.keyboard.press("ArrowRight")
    assert (page.page.evaluate(focused), page.marked) == ("t0-1", ["t0-1", "r0-1"])
    page.page.keyboard.press("End")
    last = len(page.ids[0]) - 1
    assert page.page.evaluate(focused) == f"t0-{last}"
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.textContent") == "Copy ids"
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("ArrowRight")
    assert (page.page.evaluate(focused), page.marked) == ("r0-1", ["t0-1", "r0-1"])
    page.page.keyboard.press("Escape")
    assert page.marked == []


def test_every_control_has_a_name(page):
    page.page.check("#chat")
    page.settled()
    unnamed = page.page.evaluate("""() => [...document.querySelectorAll('input, select, textarea, button')].filter(
      node => !node.closest('template') && !(node.labels?.length || node.ariaLabel || node.textContent.trim())
    ).map(node => node.outerHTML)""")
    assert unnamed == []


def test_ids_are_copied(browser, playground):
    with browser.visit(playground.url, permissions=["clipboard-read", "clipboard-write"]) as opened:
        page = Page(opened, playground.url)
        page.type("hello world")
        page.page.click("[data-copy]")
        page.page.locator("button", has_text="Copied").wait_for()
        copied = page.page.evaluate("navigator.clipboard.readText()")
        assert [int(each) for each in copied.split()] == ids_by("gpt-4o", "hello world")


def test_a_conversation(page):
    page.do(page.page.select_option, "#first", label="gpt-3.5-turbo")
    page.do(page.page.check, "#chat")
    assert page.page.locator("#text").is_hidden()
    messages = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": TEXT}]

    def expected(opens=True):
        return [
            bpe_cli.load("gpt-3.5-turbo").apply_chat_template(
                messages, chat_template="gpt-3.5", add_generation_prompt=opens
            )
        ]

    assert page.ids == expected()
    page.do(page.page.fill, ".message:nth-child(2) textarea", "hi <|im_end|>")
    messages[1]["content"] = "hi <|im_end|>"
    assert page.ids == expected()
    page.do(page.page.click, "#add")
    page.do(page.page.keyboard.type, "I am")
    messages.append({"role": "assistant", "content": "I am"})
    assert page.ids == expected(opens=False)
    page.do(page.page.select_option, "#open", "true")
    assert page.ids == expected()
    page.do(page.page.select_option, ".message:nth-child(1) select", "developer")
    messages[0]["role"] = "developer"
    assert page.ids == expected()
    page.do(page.page.click, ".message:nth-child(1) button")
    del messages[0]
    assert page.ids == expected()
    page.do(page.page.select_option, "#first", label="gpt2")
    assert page.page.inner_text(".refused").startswith("this tokenizer has no chat template")
    page.do(page.page.uncheck, "#chat")
    assert page.ids == [ids_by("gpt2", TEXT)]
    assert page.page.locator("#conversation").is_hidden()


def test_what_is_saved(page, browser):
    page.do(page.page.select_option, "#second", label="gpt2")
    with page.page.expect_download() as saved:
        page.page.click("#keep-json")
    assert saved.value.suggested_filename == "tokens.json"
    with open(saved.value.path(), encoding="utf-8") as file:
        kept = json.load(file)
    assert [[token["id"] for token in text["tokens"]] for text in kept["texts"]] == page.ids
    with page.page.expect_download() as saved:
        page.page.click("#keep-page")
    assert saved.value.suggested_filename == "tokens.html"
    with open(saved.value.path(), encoding="utf-8", newline="") as file:
        content = file.read()
    with browser.open(content) as opened:
        rows = opened.page.locator(".rows tr td:nth-child(2)").all_inner_texts()
        assert [int(each) for each in rows] == [token_id for column in page.ids for token_id in column]
        opened.page.hover("#t1-0")
        opened.assert_silent()


def test_hostile_texts_are_only_text(page):
    for text in (*EVIL, "\n".join(EVIL)):
        for name, beside in (("gpt2", "none"), ("gpt-4o", "gpt2")):
            page.page.select_option("#first", label=name)
            page.page.select_option("#second", label=beside)
            page.do(page.page.check, "#specials")
            page.type(text)
            # A field has no NUL and no carriage return but as a line feed.
            typed = page.page.input_value("#text")
            assert page.ids[0] == ids_by(name, typed, specials="all")
            act_on_everything(page.page)
    page.settled()
    tags = "['img', 'iframe', 'svg', 'base', 'plaintext', 'noscript', 'link', 'meta', 'title', 'style', 'script']"
    inside = f"{tags}.filter(tag => document.querySelector('#tokens ' + tag))"
    assert page.page.evaluate(inside) == []


def test_hostile_messages_are_only_text(page):
    page.page.select_option("#first", label="gpt-3.5-turbo")
    page.do(page.page.check, "#chat")
    for text in EVIL:
        page.do(page.page.fill, ".message:nth-child(2) textarea", text)
        act_on_everything(page.page)
    assert page.page.evaluate("document.querySelectorAll('#tokens :is(script, img, iframe, style, svg)').length") == 0


def test_hostile_names_and_tokens_are_only_text(browser, tmp_path):
    name = "<img src=x onerror=alert(1)>\"'.json"
    special = "<script>alert(2)</script>"
    bpe_cli.train(["low"], vocab_size=258, special_tokens=[special]).save(tmp_path / name)
    text = f"{special}</textarea><script>alert(3)</script>"
    with Playground([str(tmp_path / name)], text=text) as running, browser.visit(running.url) as opened:
        page = Page(opened, running.url)
        assert page.page.input_value("#text") == text
        assert page.page.locator("#first option").first.inner_text().endswith(name)
        page.do(page.page.check, "#specials")
        assert page.page.locator(".text .z").inner_text() == special
        act_on_everything(page.page)
        assert page.page.evaluate("document.querySelectorAll('script').length") == 1
        page.assert_quiet()


def test_what_would_get_through_is_stopped(browser, playground):
    """As if escaping had failed: what the server sends is put in as a document, and its scripts never run."""
    attack = (
        "<div class=columns><section class=column><script>document.title='ran'</script>"
        "<img src=x onerror=\"document.title='ran'\"><style>body{display:none}</style>"
        "<a id=j href=\"javascript:document.title='ran'\">j</a><p id=p style='position:fixed'>p</p>"
        "<form action='https://evil.example/'><button id=f>f</button></form></section></div>"
    )
    with browser.visit(playground.url) as opened:
        page = Page(opened, playground.url)
        opened.page.route("**/show", lambda route: route.fulfill(body=attack, content_type="text/html"))
        page.type("x")
        opened.page.wait_for_selector("#p")
        opened.page.evaluate("document.getElementById('j').click()")
        assert opened.page.title() == "bpe playground"
        assert opened.page.evaluate("getComputedStyle(document.body).display") == "block"
        assert opened.page.evaluate("getComputedStyle(document.getElementById('p')).position") == "static"
        markup = "document.getElementById('tokens').innerHTML = '<b>x</b>'"
        with contextlib.suppress(Exception):  # Playwright's own error for what the page throws
            opened.page.evaluate(markup)
        assert opened.page.locator("#p").count() == 1
        opened.page.evaluate("document.getElementById('f').click()")
        opened.page.wait_for_timeout(200)  # for what is sent, if anything is
        assert opened.page.url == playground.url
        assert all("Content Security Policy" in each or "Trusted" in each for each in opened.messages), opened.messages


def test_another_page_gets_nothing(browser, playground):
    """A page from elsewhere can neither read the playground, nor frame it, nor ask it."""
    asked = f"""<script>
      window.found = [];
      const url = {json.dumps(playground.url)};
      const body = JSON.stringify({{tokenizers: [0], text: "hi"}});
      const ways = [
        () => fetch(url), () => fetch(url + "show", {{method: "POST", body}}),
        () => fetch(url + "show", {{method: "POST", body, headers: {{"Content-Type": "application/json"}}}}),
        () => fetch(url + "show", {{method: "POST", body, mode: "no-cors"}}),
      ];
      (async () => {{
        for (const way of ways) try {{ found.push(await (await way()).text()) }} catch (error) {{ found.push("") }}
        window.done = true;
      }})();
    </script><iframe src="{playground.url}" id="frame"></iframe>"""
    with browser.open(asked) as opened:
        opened.page.wait_for_function("window.done")
        assert opened.page.evaluate("found") == ["", "", "", ""]
        frame = opened.page.frames[1]
        assert frame.locator("#text").count() == 0


def test_a_server_that_is_gone_is_reported(browser):
    with Playground(["gpt2"]) as running, browser.visit(running.url) as opened:
        page = Page(opened, running.url)
        running.close()
        page.do(page.page.fill, "#text", "x")
        assert page.page.inner_text("#state") == "bpe does not answer: is it still running?"


def test_a_phone(browser, playground):
    with browser.visit(playground.url, **PHONE) as opened:
        page = Page(opened, playground.url)
        page.do(page.page.select_option, "#second", label="gpt2")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 360
        boxes = [each.bounding_box() for each in page.page.locator(".column").all()]
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
        page.page.tap("#t0-1")
        assert page.marked == ["t0-1", "r0-1"]
        page.do(page.page.check, "#chat")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 360
        page.assert_quiet()


def luminance(color):
    channels = [int(each) / 255 for each in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser, playground, scheme):
    """WCAG 2.2, 1.4.3: 4.5 for text."""
    with browser.visit(playground.url, color_scheme=scheme) as opened:
        page = Page(opened, playground.url)
        page.do(page.page.select_option, "#second", label="gpt2")
        pairs = page.page.evaluate("""() => {
          const behind = node => {
            const color = getComputedStyle(node).backgroundColor;
            return color !== 'rgba(0, 0, 0, 0)' || !node.parentElement ? color : behind(node.parentElement);
          };
          return [...document.querySelectorAll(
            'label, select, textarea, button, .chips a, .text a, h1, h2, dt, dd, .note'
          )].map(node => [getComputedStyle(node).color, behind(node)]);
        }""")
        assert len(pairs) > 100
        for ink, paper in {tuple(each) for each in pairs}:
            dark, light = sorted((luminance(ink), luminance(paper)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, paper)
