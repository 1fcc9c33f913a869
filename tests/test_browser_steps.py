"""Pages of steps in a real browser: slides by keys, buttons and slider; all steps without a script; nothing else."""

from __future__ import annotations

import pytest

from bpe_cli.reports.text.steps.pieces import Limits
from bpe_cli.reports.text.steps.record import teller_of
from bpe_cli.teaching import bpe
from bpe_cli.tokenizer import named_encodings
from bpe_cli.views.page.stepper import training_page
from bpe_cli.views.page.text_steps import steps_page

pytestmark = pytest.mark.slow

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
EVIL = {"<script>alert(1)</script>": 2, "\"' onmouseover='alert(2)'": 1, "</style></title>\u202e": 1}
VISIBLE = "() => [...document.querySelectorAll('.step')].filter(each => each.offsetParent).map(each => each.id)"


def training_of(words, merges=4):
    return "".join(training_page(bpe.train(bpe.character_words(words), num_merges=merges), "bpe"))


def test_one_step_at_a_time(browser):
    with browser.open(training_of(WORDS)) as opened:
        page = opened.page
        assert page.evaluate(VISIBLE) == ["step-0"]
        for key, shown in (
            ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 4), ("ArrowRight", 4), ("Home", 0),
        ):  # fmt: skip
            page.keyboard.press(key)
            assert page.evaluate(VISIBLE) == [f"step-{shown}"]
        page.locator("#slides button").nth(1).click()
        assert page.evaluate(VISIBLE) == ["step-1"]
        assert page.locator("#slides output").inner_text() == "2 / 5"
        page.locator("#slides input").fill("3")
        assert page.evaluate(VISIBLE) == ["step-3"]
        page.locator("#slides button").nth(2).click()
        assert page.evaluate(VISIBLE) == [f"step-{number}" for number in range(5)]
        page.locator("#slides button").nth(2).click()
        assert page.evaluate(VISIBLE) == ["step-3"]
        opened.assert_silent()


def test_all_steps_without_a_script(browser):
    with browser.open(training_of(WORDS), java_script_enabled=False) as opened:
        assert opened.page.locator(".step >> visible=true").count() == 5
        assert opened.page.locator("#slides").is_hidden()
        opened.assert_silent()


def test_on_paper_all_steps_stand(browser):
    with browser.open(training_of(WORDS)) as opened:
        opened.page.emulate_media(media="print")
        assert len(opened.page.evaluate(VISIBLE)) == 5
        assert opened.page.locator("#slides").is_hidden()
        opened.assert_silent()


def test_a_hostile_corpus_is_only_text(browser):
    tell = teller_of(named_encodings.find("gpt2"), limits=Limits(pairs=5))
    pages = [training_of(EVIL, 30), "".join(steps_page([(tell("\n".join(EVIL).encode()), None)], tokenizer="<b>"))]
    for markup in pages:
        with browser.open(markup) as opened:
            page = opened.page
            assert page.evaluate("document.querySelectorAll('script').length") == 1
            for _ in range(5):
                page.keyboard.press("ArrowRight")
            assert page.evaluate(VISIBLE) == ["step-5"]
            opened.assert_silent()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_highlights_can_be_read(browser, scheme):
    with browser.open(training_of(WORDS), color_scheme=scheme) as opened:
        page = opened.page
        page.keyboard.press("ArrowRight")
        colors = page.evaluate("""() => ['.sym.pair', '.sym.made', '.sym:not(.pair):not(.made)'].map(kind => {
          const style = getComputedStyle(document.querySelector('.now ' + kind));
          return [style.color, style.backgroundColor]; })""")
        assert len({tuple(each) for each in colors}) == 3
        assert all(ink != paper for ink, paper in colors)
        opened.assert_silent()
