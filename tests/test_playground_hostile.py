"""The playground in a real browser, with what is written to break out of it."""

from __future__ import annotations

import json

import pytest

import bpe_cli
from bpe_cli.playground import Playground
from tests.evil import EVIL
from tests.playground import Page, ids_by, serving, visited
from tests.test_browser import act_on_everything

pytestmark = pytest.mark.slow

GIVEN = ("gpt-4o", "gpt2", "gpt-3.5-turbo")


@pytest.fixture(scope="module")
def playground():
    with serving(*GIVEN) as running:
        yield running


@pytest.fixture
def page(browser, playground):
    with visited(browser, playground) as page:
        yield page


def test_hostile_texts_are_only_text(page):
    for name, beside in (("gpt2", "none"), ("gpt-4o", "gpt2")):
        page.page.select_option("#first", label=name)
        page.page.select_option("#second", label=beside)
        page.do(page.page.check, "#specials")
        for text in (*EVIL, "\n".join(EVIL)):
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
        assert page.page.locator(".text .z").text_content() == special  # it has inner text with the next frame
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
        as_markup = """() => {
          try { document.getElementById('tokens').innerHTML = '<b>x</b>'; } catch (error) { return error.name; }
        }"""
        assert opened.page.evaluate(as_markup) == "TypeError"
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
