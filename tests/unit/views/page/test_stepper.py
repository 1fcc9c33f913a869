"""Check the page of a training's steps: its policy, what stands on each slide, and that nothing in it acts."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching import bpe, unigram, wordpiece
from bpe_cli.teaching.maxmatch import Rules
from bpe_cli.teaching.record import record
from bpe_cli.teaching.steps import ByteIds, Joining, NumberedPieces, Pruning
from bpe_cli.views.page.stepper import before_and_after, training_page
from tests.oracle.strategies import BYTE_PIECES
from tests.unit.views.page.reading import Page

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
EVIL = {"<script>alert(1)</script>": 2, "\"' onclick=alert(2)": 1, "\u202e\x1b[31m\udcff &lt;": 1}
TAG = re.compile(r"<[^>]*>")


def page_of(steps, most=10, name="bpe"):
    return "".join(training_page(steps, name, most))


def slides(markup):
    """The slides, without markup, by their addresses."""
    found = re.findall(r'<section class="step" id="(step-\d+)">\n<h2>(.*?)</h2>\n(.*?)</section>\n', markup, re.DOTALL)
    return {address: (unescape(TAG.sub("", heading)), body) for address, heading, body in found}


def test_a_slide_for_each_step():
    markup = page_of(bpe.train(bpe.character_words(WORDS), num_merges=3))
    found = slides(markup)
    assert [heading for heading, _ in found.values()] == [
        "Start", "Step 1: u + g → ug 20 times", "Step 2: u + n → un 16 times", "Step 3: un + </w> → un</w> 16 times",
    ]  # fmt: skip
    assert 'id="slides" aria-label="Steps" hidden' in markup
    first = found["step-1"][1]
    assert first.count('<tr class="taken">') == 1
    assert '<span class="sym">h</span><span class="sym pair">u</span><span class="sym pair">g</span>' in first
    assert '<span class="sym">h</span><span class="sym made">ug</span>' in first
    ties = [body.count('<tr class="tied">') for _, body in found.values()]
    assert ties == [0, 0, 1, 0]
    tied = slides(page_of(bpe.train({("a", "b", "c"): 2}, num_merges=1)))["step-1"][1]
    assert '<tr class="tied"><td><span class="sym">b</span> + <span class="sym">c</span></td>' in tied


def test_other_trainings():
    found = slides(page_of(wordpiece.train(WORDS, 9), name="wordpiece"))
    assert found["step-1"][0] == "Step 1: ##g + ##s → ##gs 1/20 = 5 / (20 * 5)"
    rounds = list(unigram.train(WORDS, 10, initial_size=14))
    found = slides(page_of(Pruning(WORDS, rounds, ["<unk>"], {"h": -1.5})))
    assert found["step-1"][0].startswith("Seeds 14 tokens; the corpus costs")
    assert '<span class="sym gone">' in found["step-2"][1]
    assert list(found)[-1] == f"step-{len(rounds) + 1}"
    assert "-1.5000" in found[list(found)[-1]][1]
    found = slides(page_of(Joining([list("调度实时"), list("实时调度")], 1, Rules(lines_per_word=1), ["调度"])))
    assert found["step-1"][0] == "Round 1 joined where the count is above 1"
    assert '<span class="sym made">调度</span>' in found["step-1"][1]
    assert [heading for heading, _ in slides(page_of(NumberedPieces({"h": 1}, ["h"]))).values()] == [
        "Start", "Vocabulary 1 token",
    ]  # fmt: skip
    assert list(slides(page_of(ByteIds([], special_first=False)))) == ["step-1"]


def test_only_its_own_style_and_script():
    markup = page_of(bpe.train(bpe.character_words(WORDS), num_merges=1))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', markup)
    for name in ("style", "script"):
        (source,) = re.findall(rf"<{name}>(.*?)</{name}>", markup, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert {name for name, _ in Page(markup).elements} <= {
        "html", "head", "meta", "title", "link", "style", "body", "h1", "h2", "div", "label", "input", "main",
        "section", "p", "span", "i", "button", "table", "thead", "tbody", "tr", "th", "td", "small", "details",
        "summary", "script", "nav", "output",
    }  # fmt: skip


def test_a_hostile_corpus_is_only_text():
    markup = page_of(bpe.train(bpe.character_words(EVIL, glued=True), num_merges=40), name="<b>")
    assert markup.count("<script>") == 1
    assert "<title>The training of &lt;b&gt;, step by step</title>" in markup
    body = markup.partition("<main>")[2].partition("</main>")[0]
    assert "onclick=alert" not in re.sub(r">[^<]*<", "><", body)
    assert not re.search("[\u202e\x1b\udcff]", markup)


@given(BYTE_PIECES, st.sampled_from([0, 3, None]))
def test_the_same_bytes_and_every_word(pieces, most):
    training = bpe.train(bpe.byte_words(pieces), num_merges=4)
    markup = page_of(training, most)
    assert markup == page_of(training, most)
    markup.encode()
    Page(markup)  # every element is closed
    assert len(slides(markup)) == 1 + len(training.merges())


def test_what_is_left_out_is_counted():
    words = {(f"a{number}", "b"): 1 for number in range(80)} | {("c", "d"): 5}
    few = slides(page_of(bpe.train(words, num_merges=1), 3))["step-0"][1]
    assert "and 21 more words; --full shows all" in few
    assert "more word" not in slides(page_of(bpe.train(words, num_merges=1), None))["step-0"][1]
    competed = slides(page_of(bpe.train(words, num_merges=2), 3))["step-2"][1]
    assert "and 77 more pairs, 77 of them tied" in competed


@pytest.mark.parametrize(
    ("word", "pairs", "made"), [("aaaab", 4, 2), ("aaa", 2, 1), ("baab", 2, 1)]
)  # fmt: skip
def test_the_pair_is_highlighted_from_left_to_right(word, pairs, made):
    step = next(record(bpe.train({tuple(word): 2, ("a", "a"): 9}, num_merges=1)).steps)
    (change,) = [change for change in step.changes if change.before == tuple(word)]
    before, after = before_and_after(change)
    assert (before.count("sym pair"), after.count("sym made")) == (pairs, made)
    assert TAG.sub(" ", before).split() == list(word)
    assert TAG.sub(" ", after).split() == list(change.after)


def test_what_is_joined_is_highlighted():
    lines = [list("你好吗"), list("你好")]
    (step,) = record(Joining(lines, 1, Rules(lines_per_word=1), ["你好"])).steps
    change = step.changes[0]
    assert (change.before, change.after) == (("你", "好", "吗"), ("你好", "吗"))
    before, after = before_and_after(change)
    assert (before.count("sym pair"), after.count("sym made")) == (2, 1)
