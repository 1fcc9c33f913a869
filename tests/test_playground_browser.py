"""The playground in a real browser: what is typed is shown, linked, switched, saved; and nothing of it ever runs."""

from __future__ import annotations

import json

import pytest

import bpe_cli
from bpe_cli.playground import Playground
from tests.playground import Page, ids_by, serving, visited
from tests.test_browser import PHONE
from tests.unit.views.test_palette import luminance_of_parts

pytestmark = pytest.mark.slow

TEXT = "Hello world\n\n  naïve 谁 e\u0301\tשלום <|endoftext|> 🙂"
GIVEN = ("gpt-4o", "gpt2", "gpt-3.5-turbo")
BYTES = r"\xff\xe8 \r\n"


@pytest.fixture(scope="module")
def playground():
    with serving(*GIVEN, text=TEXT) as running:
        yield running


@pytest.fixture
def page(browser, playground):
    with visited(browser, playground) as page:
        yield page


def test_the_first_text_is_shown(page):
    assert page.page.input_value("#text") == TEXT
    assert page.ids == [ids_by("gpt-4o", TEXT)]
    assert page.page.evaluate("document.activeElement.id") == "text"


def test_ids_are_those_of_the_tokenizer(page):
    for text in ("", "a", "hello world", TEXT, "  \n\n\t x", "👩‍👩‍👧 क्षि \u202eevil\u202c", "x" * 3000):
        page.type(text)
        assert page.ids == [ids_by("gpt-4o", text)[:2000]], text
        total = page.page.locator(".totals .large dd").first.inner_text()
        assert total == f"{len(ids_by('gpt-4o', text)):,}", text


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
    assert page.page.locator(".text .z").text_content() == "<|endoftext|>"  # inner text comes with the next frame
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
        rows = opened.page.locator(".rows tr td:nth-child(2)").all_text_contents()
        assert [int(each) for each in rows] == [token_id for column in page.ids for token_id in column]
        opened.page.hover("#t1-0")
        opened.assert_silent()


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
    return luminance_of_parts(int(each) for each in color[color.index("(") + 1 : -1].split(",")[:3])


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
