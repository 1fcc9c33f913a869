"""Check the page of a text's steps: a slide for each step of each family of models."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.text.steps.pieces import Limits
from bpe_cli.reports.text.steps.record import teller_of
from bpe_cli.stages import GreedyCover
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.trainers import TRAINERS, train
from bpe_cli.views.page import text_steps
from bpe_cli.views.page.text_steps import steps_page
from tests.unit.views.page.reading import Page

TAG = re.compile(r"<[^>]*>")
TEXTS = ["hug hug pug pun bun hugs 你是谁"] * 3


def trained(algorithm, **options):
    return train(TEXTS, TRAINERS[algorithm].Options(**options))


def slides(markup):
    found = re.findall(r'<section class="step" id="step-\d+">\n<h2>(.*?)</h2>\n(.*?)</section>\n', markup, re.DOTALL)
    return [(unescape(TAG.sub("", heading)), body) for heading, body in found]


def page_of(tokenizer, *texts, pairs=10, steps=40):
    tell = teller_of(tokenizer, limits=Limits(pairs=pairs, steps=steps))
    return "".join(steps_page(((tell(text), None) for text in texts), tokenizer=tokenizer.name))


def test_merges():
    found = slides(page_of(named_encodings.find("gpt2"), b"hugging face"))
    assert [heading for heading, _ in found][:3] == [
        "Start", "Piece 0: hugging start", "Piece 0: hugging step 1, rank 259 i + n → in",
    ]  # fmt: skip
    assert len(found) == 1 + 5 + 5
    body = found[2][1]
    assert '<span class="sym pair">i</span><span class="sym pair">n</span><span class="sym">g</span>' in body
    assert '<span class="sym made">in</span><span class="sym">g</span>' in body
    assert body.count('<tr class="taken">') == 1
    assert "taken before any merging" in found[6][1]
    assert '<span class="sym">ging<small>2667</small></span>' in found[5][1]


@pytest.mark.parametrize(
    ("algorithm", "options", "shown"),
    [
        ("bpe", {"vocab_size": 20, "initial_alphabet": "seen"}, "Pairs that could merge"),
        ("wordpiece", {"vocab_size": 40}, "Tokens that fit"),
        ("unigram", {"vocab_size": 20}, "Tokens that end here"),
        ("maxmatch", {}, "Tokens that fit"),
        ("ngram", {}, "Texts that are looked up"),
        ("word", {}, "Texts that are looked up"),
        ("char", {}, ""),
        ("sentencepiece", {"vocab_size": 20, "model": "bpe"}, "Pairs that could merge"),
    ],
)
def test_every_family(algorithm, options, shown):
    tokenizer = trained(algorithm, **options)
    markup = page_of(tokenizer, "hugs 你<b>".encode(), b"hug")
    assert shown in markup
    assert markup == page_of(tokenizer, "hugs 你<b>".encode(), b"hug")
    assert "<b>" not in markup.partition("<main>")[2]
    Page(markup)  # every element is closed
    assert [heading for heading, _ in slides(markup)].count("Start") == 2


@pytest.mark.parametrize(
    ("tokenizer", "text", "noun"),
    [
        (named_encodings.find("gpt2"), b"hugginghugging", "merges"),
        (trained("wordpiece", vocab_size=40), b"hugshugshugs", "steps"),
        (trained("maxmatch"), b"hugxhugx", "steps"),
        (Tokenizer(GreedyCover(Vocabulary.from_tokens([b"ab"]), 9)), b"abababab", "steps"),
        (trained("unigram", vocab_size=20), b"hugshugs", "places"),
    ],
)
def test_steps_without_a_slide_are_counted(tokenizer, text, noun):
    some, every = slides(page_of(tokenizer, text, steps=2)), slides(page_of(tokenizer, text))
    more = len(every) - len(some)
    assert more > 1
    assert f'<p class="note">and {more} more {noun}; --full shows all</p>' in some[-1][1]
    assert " more " not in every[-1][1]


def test_look_ups_that_are_left_out_are_counted():
    some, every = (slides(page_of(trained("ngram"), b"hugshugs", steps=steps))[-1][1] for steps in (2, None))
    assert (some.count("<tr>"), every.count("<tr>")) == (3, 9)  # with the header
    assert '<p class="note">and 6 more n-grams; --full shows all</p>' in some
    assert " more " not in every


def test_what_is_left_of_a_long_piece_is_counted():
    body = slides(page_of(trained("maxmatch"), b"x" * 50))[1][1]
    assert "</span> (10 more)</p>" in body


def test_the_first_slide_counts_all_tokens():
    gpt2 = named_encodings.find("gpt2")
    text = " ".join(["hugging", "unaffable"] * 30).encode()
    start = slides(page_of(gpt2, text))[0][1]
    total = len(gpt2.encode(text))
    assert f"<p>{total} tokens: " in start
    assert start.count('<span class="sym">') + int(re.search(r" and (\d+) more tokens</p>", start)[1]) == total


def test_long_paths_are_counted(monkeypatch):
    monkeypatch.setattr(text_steps, "MOST", 3)
    last = slides(page_of(trained("unigram", vocab_size=20), b"xxxxxxxx"))[-1][1]
    assert re.findall(r"<p>(?:<span class=\"sym made\">[^<]*</span>){3} and (\d+) more tokens</p>", last) == ["6"]


@given(st.text("ab <&\"'\u202e\x1b你", max_size=12), st.integers(0, 3))
def test_any_text_is_only_text(text, pairs):
    markup = page_of(named_encodings.find("gpt2"), text.encode(), pairs=pairs)
    Page(markup)
    assert not re.search("[\u202e\x1b]", markup)
    assert markup.count("<script>") == 1
