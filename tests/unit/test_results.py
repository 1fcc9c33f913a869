"""Results as programs have them: JSON and Markdown as the command line writes them, and what a notebook shows."""

from __future__ import annotations

import copy
import html
import pickle
import re
from functools import cache

import pytest
from markdown_it import MarkdownIt

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.errors import UsageError
from bpe_cli.jobs.compare import compare
from bpe_cli.jobs.inspect import inspect
from bpe_cli.reports.comparison.comparison import METRICS
from bpe_cli.results import ComparisonReport, TextReport, TokenizerReport
from bpe_cli.tokenizer.named_encodings import named
from tests.cli_runner import call
from tests.unit.reports.small_tokenizers import byte_level

HOSTILE = "<script>alert(1)</script>\"' | `x`\u202e @you é"


@cache
def report(kind):
    gpt2, small = named("gpt2"), byte_level([b"lo", b"<script>"], name="<b>`a|b`")
    match kind:
        case "text":
            return TextReport(tuple(inspect(gpt2, Source(text=HOSTILE)).documents))
        case "tokenizer":
            return TokenizerReport(inspect(small, corpus=Source(text=HOSTILE)))
        case "comparison":
            return ComparisonReport(compare([gpt2, small], Source(text=HOSTILE)))


def test_json_is_that_of_the_command_line(tmp_path):
    assert report("text").to_json() == call("inspect", "-t", "gpt2", "-T", HOSTILE, "--json").text
    shown = call("compare", "-t", "gpt2", "-t", "o200k_base", "-T", "low", "--json").text
    two = ComparisonReport(compare([named("gpt2"), named("o200k_base")], Source(text="low")))
    assert two.to_json() == shown
    assert two.to_markdown() == call("compare", "-t", "gpt2", "-t", "o200k_base", "-T", "low", "--markdown").text
    path = str(tmp_path / "small.json")
    bpe_cli.train(["low lower lowest newest"], vocab_size=300, special_tokens=["<s>"]).save(path)
    whole = TokenizerReport(inspect(path))
    assert whole.to_json(full=True) == call("inspect", path, "--json", "--full").text


TALK = '[{"role": "user", "content": "a - <|im_end|>"}, {"role": "assistant", "content": "<b>"}]'


@pytest.mark.parametrize(
    ("call_it", "line"),
    [
        (lambda: bpe_cli.inspect("gpt2", HOSTILE), ("-t", "gpt2", "-T", HOSTILE)),
        (lambda: bpe_cli.inspect("gpt2", HOSTILE, steps=True), ("-t", "gpt2", "-T", HOSTILE, "--steps")),
        (
            lambda: bpe_cli.inspect("gpt2", "low " * 50, steps=True, pairs=2, full=True),
            ("-t", "gpt2", "-T", "low " * 50, "--steps", "--pairs", "2", "--full"),
        ),
        (lambda: bpe_cli.inspect("gpt-4", TALK, chat=True), ("-t", "gpt-4", "-T", TALK, "--chat")),
        (
            lambda: bpe_cli.inspect("gpt-4", TALK + "\n" + TALK, chat="gpt-3.5", documents="jsonl"),
            ("-t", "gpt-4", "-T", TALK + "\n" + TALK, "--chat", "--chat-template", "gpt-3.5", "--jsonl"),
        ),
    ],
)
def test_a_call_is_its_command(call_it, line):
    found = call_it()
    assert found.to_json() == call("inspect", *line, "--json").text
    assert found.to_html() == call("inspect", *line, "--html", "-").text
    assert found.to_html() in html.unescape(found._repr_html_())


def test_calls_that_contradict_themselves():
    for wrong, told in [
        ({"pairs": 3}, "pairs needs steps=True"),
        ({"full": True}, "full needs steps=True"),
        ({"steps": True, "chat": True}, "cannot be used together"),
        ({"tools": "x.json"}, "for conversations only"),
    ]:
        with pytest.raises(UsageError, match=told):
            bpe_cli.inspect("gpt2", "low", **wrong)
    for name in ("steps", "chat"):
        with pytest.raises(UsageError, match=f"{name} needs texts"):
            bpe_cli.inspect("gpt2", **{name: True})
    with pytest.raises(UsageError, match="not several texts"):
        bpe_cli.inspect("gpt-4", [TALK, TALK], chat=True)
    with pytest.raises(UsageError, match="about merges"):
        bpe_cli.inspect(bpe_cli.train(["low"] * 3, "char"), "low", steps=True, pairs=2)
    with pytest.raises(TypeError, match="steps must be a bool"):
        bpe_cli.inspect("gpt2", "low", steps=1)


@pytest.mark.parametrize("kind", ["text", "tokenizer", "comparison"])
def test_markdown_is_tables_in_which_nothing_acts(kind):
    text = report(kind).to_markdown()
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    kinds = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}
    assert "table_open" in kinds
    assert not {"link_open", "image", "fence", "html_block"} & kinds
    outside = re.sub(r"(`+)[^`]*\1|<code>.*?</code>|<br>", "", text)
    assert not re.search(r"[@<>\u202e]", outside)
    for table in re.findall(r"(?:^\|.*\n)+", outside, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_a_text_as_markdown():
    assert TextReport(tuple(inspect("gpt2", Source(text="low lower")).documents)).to_markdown() == (
        "2 tokens, 9 characters, 9 bytes, 4.50 bytes per token, 4.50 characters per token, round trip ok\n\n"
        "| number | id | token | bytes | span | characters | piece |\n"
        "| ---: | ---: | --- | --- | ---: | ---: | ---: |\n"
        "| 0 | 9319 | low | 6c 6f 77 | 0–3 | 0–3 | 0 |\n"
        "| 1 | 2793 | `·lower` | 20 6c 6f 77 65 72 | 3–9 | 3–9 | 1 |\n"
    )


@pytest.mark.parametrize("kind", ["text", "tokenizer", "comparison"])
def test_a_notebook_shows_the_page_in_a_frame(kind):
    shown = report(kind)._repr_html_()
    frame = re.fullmatch(
        r'<iframe title="[^"<>]*" sandbox="allow-scripts" style="[^"<>]*" srcdoc="([^"<>]*)"></iframe>', shown
    )
    page = html.unescape(frame[1])
    assert page.startswith("<!doctype html>")
    assert "<script>alert" not in page
    assert "<table" in page


@pytest.mark.parametrize("kind", ["text", "tokenizer", "comparison", "chat"])
def test_reports_go_to_other_processes_and_are_copied(kind):
    talk = '[{"role": "user", "content": "hello"}]'
    value = bpe_cli.inspect("gpt-4", talk, chat=True) if kind == "chat" else report(kind)
    for other in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert other == value
        assert other.to_json() == value.to_json()
        assert other.to_html() == value.to_html()


@pytest.mark.parametrize("kind", ["text", "comparison"])
def test_reports_are_hashed_by_their_values(kind):
    assert hash(pickle.loads(pickle.dumps(report(kind)))) == hash(report(kind))


def test_metrics_have_names():
    found = report("comparison")
    assert "| tokens/word |" in found.to_markdown(["tokens", "fertility"])
    assert found.to_markdown(iter([METRICS["fertility"]])) == found.to_markdown(["fertility"])
    assert "tokens/word" in found.to_latex(["fertility"])
    assert "tokens/word" in found.to_html(metrics=["fertility"])
    assert found.to_svg("inputs", metric="fertility") == found.to_svg("inputs", metric=METRICS["fertility"])
    assert found.to_markdown(["all"]).count("|") > found.to_markdown().count("|")


@pytest.mark.parametrize(
    "call",
    [
        lambda name: report("comparison").to_markdown([name]),
        lambda name: report("comparison").to_latex([name]),
        lambda name: report("comparison").to_html([name]),
        lambda name: report("comparison").to_svg(metric=name),
        lambda name: report("comparison").to_png(metric=name),
    ],
)
def test_a_metric_that_there_is_not_is_named(call):
    with pytest.raises(UsageError, match=r"^there is no metric 'fertilty'$") as caught:
        call("fertilty")
    assert caught.value.hint == "did you mean fertility?"
    with pytest.raises(TypeError, match=r"^metrics? must be a (list of names|str), not int$"):
        call(3)
