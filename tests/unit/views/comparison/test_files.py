"""JSON, CSV and Markdown: read back by other programs, and nothing in a name is more than a name."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bpe_cli.reports.comparison.changes import StoredComparison, changes_from_baseline, changes_since
from bpe_cli.reports.comparison.checks import Condition
from bpe_cli.reports.comparison.comparison import METRICS, Settings, metrics_named
from bpe_cli.reports.comparison.cut_clusters import CutClusters
from bpe_cli.views.comparison.files import code, comparison_csv, comparison_json, comparison_markdown
from bpe_cli.views.comparison.values import remarks
from bpe_cli.views.labels import short_names
from bpe_cli.views.visible import harmless
from tests.counted import at_least, compared
from tests.unit.reports.comparison.handmade import HOSTILE, comparison, hostile, row
from tests.unit.views.golden import check

NAMES = st.text(max_size=20) | st.binary(max_size=12).map(lambda data: data.decode("utf-8", "surrogateescape"))
PIECES = st.sampled_from(
    ["`", "``", "|", "\\", "@you", "#1", "<b>", "</code>", "<!--", "](http://e.vil)", "[", "![", "http://e.vil", "\n\n",
     "\r", "\0", "*", "_", "~~", "&lt;", "&#124;", "'", '"', " ", "=", "+", "-", "a", "1. ", "# ", "www.e.vil", "$x$"]
)  # fmt: skip
HOSTILE_NAMES = st.lists(PIECES, max_size=8).map("".join) | NAMES


def named(tokenizer, source):
    rows = (row(source, [30, 20]), row("b", [1, 2]))
    return comparison((tokenizer, "gpt2-x"), rows=rows, total=row("total", [31, 22]))


def with_cuts(report):
    """Have the first tokenizer cut characters of the first input."""
    cuts = CutClusters(0, report.rows[0].name, 10, 5, "กี่".encode(), "o200k")
    return replace(report, cut_clusters=(cuts,))


# -- JSON ----------------------------------------------------------------------------------------------------------


def test_json_by_hand():
    report = comparison_json(comparison(settings=Settings("jsonl", "a.b", ("<s>", "\udcff"))))
    assert list(report) == [
        "schema", "bpe_version", "settings", "metrics", "tokenizers", "baseline", "inputs", "total",
        "changes", "checks", "passages", "lengths", "use",
    ]  # fmt: skip
    assert report["schema"] == "bpe.compare/2"
    assert report["settings"] == {
        "documents": "jsonl", "field": "a.b", "specials": ["<s>", {"bytes": "ff"}],
        "word": "a stretch without whitespace (Unicode's White_Space)",
    }  # fmt: skip
    assert report["tokenizers"][1] == {
        "name": "gpt2",
        "vocab_size": 32001,
        "vocabulary": 32001,
        "fingerprint": f"{1:064x}",
    }
    first = report["inputs"][0]
    assert (first["name"], first["sha256"], first["best"]) == ("en.txt", "aa", [1])
    assert first["results"][1].items() >= {
        "token_count": 2730, "tokens": 2730, "bytes_per_token": 12000 / 2730, "ratio": 0.91,
    }.items()  # fmt: skip
    assert set(first["results"][0]) == {"token_count", "checked_document_count", "loses_text", *METRICS}
    assert first["results"][0]["checked_document_count"] == 120
    assert first["differences"] == [
        None,
        {"ratio": 0.91, "low": 0.89, "high": 0.93, "p": 0.0002, "p_adjusted": 0.0004, "units": 120,
         "unit_documents": 1, "method": "bootstrap"},
    ]  # fmt: skip
    assert [metric["name"] for metric in report["metrics"]] == list(METRICS)
    assert report == json.loads(json.dumps(report, allow_nan=False))


def test_json_of_checks_and_changes():
    made = comparison()
    changes = changes_from_baseline(made, [METRICS["tokens"]])
    report = comparison_json(made, changes=changes, checks=[Condition.parse("en.txt: tokens > 2800").check(made)])
    assert report["checks"] == [
        {
            "option": "--fail-if", "value": "en.txt: tokens > 2800", "passed": False,
            "failures": [{"tokenizer": "mine.json", "input": "en.txt", "statement": "tokens 3,000 > 2,800"}],
        }
    ]  # fmt: skip
    assert report["changes"]["stored"] is False
    assert report["changes"]["changes"][1] == {
        "metric": "tokens", "tokenizer": "gpt2", "input": "de.txt", "before": 2000, "now": 2010,
        "relative": 2010 / 2000 - 1, "verdict": "worse",
    }  # fmt: skip


@at_least(14)
@given(HOSTILE_NAMES, HOSTILE_NAMES.filter(lambda name: name != "b"))
def test_a_stored_report_reads_back_equal(tokenizer, source):
    try:
        tokenizer.encode("utf-8", "surrogateescape"), source.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return
    report = named(tokenizer, source)
    data = json.dumps(comparison_json(report)).encode()
    assert StoredComparison.parse(data, "r") == StoredComparison.of(report)
    changes = changes_since(StoredComparison.of(report), StoredComparison.parse(data, "r"), [METRICS["tokens"]], "r")
    assert {change.verdict for change in changes.changes} == {"same"}
    compared()


# -- CSV -----------------------------------------------------------------------------------------------------------


def test_csv_by_hand():
    text = comparison_csv(comparison())
    assert text.endswith("\r\n")
    assert text.count("\r\n") == text.count("\n") == 7
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert [(each["input"], each["tokenizer"]) for each in rows] == [
        ("en.txt", "mine.json"), ("en.txt", "gpt2"), ("de.txt", "mine.json"), ("de.txt", "gpt2"),
        ("total", "mine.json"), ("total", "gpt2"),
    ]  # fmt: skip
    assert rows[1].items() >= {
        "vocab_size": "32001", "document_count": "120", "byte_count": "12000", "character_count": "11900",
        "tokens": "2730", "ratio": "0.91", "ratio_low": "0.89", "ratio_high": "0.93", "ratio_p_adjusted": "0.0004",
    }.items()  # fmt: skip
    assert rows[0]["ratio_low"] == ""
    assert (rows[5]["tokens"], rows[5]["ratio_low"], rows[5]["ratio_p_adjusted"]) == ("4740", "0.93", "0.0004")
    assert float(rows[1]["bytes_per_token"]) == 12000 / 2730


@given(HOSTILE_NAMES, HOSTILE_NAMES)
def test_csv_of_any_names(tokenizer, source):
    text = comparison_csv(named(tokenizer, source))
    text.encode()
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == 7
    assert len({len(each) for each in rows}) == 1
    for shown, name in ((rows[1][0], source), (rows[1][1], tokenizer)):
        if name.isprintable():
            assert shown in (name, "'" + name)
            assert (shown == name) is not name.startswith(("=", "+", "-", "@"))
        assert not shown.startswith(("=", "+", "-", "@", "\t", "\r"))
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", shown)


# -- Markdown ------------------------------------------------------------------------------------------------------


def tokens_of(text):
    flat = []
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text):
        flat += [token, *(token.children or ())]
    return flat


def codes_of(text):
    """Return what an independent renderer makes of all code in a text."""
    found, inside = [], None
    for token in tokens_of(text):
        if token.type == "code_inline":
            found.append(token.content)
        elif token.type == "html_inline" and token.content == "<code>":
            inside = ""
        elif token.type == "html_inline" and token.content == "</code>":
            found.append(inside)
            inside = None
        elif inside is not None and token.content != "<!-- -->":
            assert token.type in ("text", "text_special", "inline"), token
            inside += token.content
    return found


@given(HOSTILE_NAMES)
def test_a_name_is_code_and_nothing_else(name):
    text = f"| {code(name)} | x |\n| --- | --- |\n| {code(name)} | y |\n"
    assert codes_of(text) == [harmless(name)] * 2
    assert [token.content for token in tokens_of(text) if token.type == "text"][-1] == "y"


@given(HOSTILE_NAMES, HOSTILE_NAMES)
def test_nothing_is_injected(tokenizer, source):
    report = with_cuts(named(tokenizer, source))
    changes = changes_from_baseline(report, [METRICS["tokens"]])
    checks = [Condition.parse("any: tokens > 1").check(report)]
    text = comparison_markdown(report, changes=changes, checks=checks)
    bare = with_cuts(named("t", "s"))
    plain = comparison_markdown(bare, changes=changes_from_baseline(bare, [METRICS["tokens"]]),
                                checks=[Condition.parse("any: tokens > 1").check(bare)])  # fmt: skip

    def skeleton(text):
        kinds = [token for token in tokens_of(text) if token.type not in ("text", "text_special", "softbreak")]
        return [
            "code" if token.content == "<code>" else token.type
            for token in kinds
            if token.type == "code_inline" or token.content not in ("</code>", "<!-- -->")
        ]  # fmt: skip

    assert [kind.replace("code_inline", "code") for kind in skeleton(text)] == [
        kind.replace("code_inline", "code") for kind in skeleton(plain)
    ]
    assert set(codes_of(text)) <= {
        harmless(tokenizer), short_names([tokenizer, "gpt2-x"])[0], harmless(source), "gpt2-x", "b",
        "--fail-if 'any: tokens > 1'",
    }  # fmt: skip
    assert not {"link_open", "image"} & {token.type for token in tokens_of(text)}
    outside = re.sub(r"`[^`]*`|<code>.*?</code>", "", text)
    assert not re.search(r"@|#\d|https?:|www\.", outside)


@pytest.mark.parametrize("name", ["hostile", "plain"])
def test_golden_markdown(name):
    report = hostile() if name == "hostile" else comparison()
    changes = changes_from_baseline(report, [METRICS["tokens"]])
    checks = [Condition.parse(f"any: tokens {sign} 2900").check(report) for sign in "><"]
    check(f"compare-markdown-{name}", comparison_markdown(report, changes=changes, checks=checks))


@pytest.mark.parametrize("source", [r"x\<img src=x> @you.txt", "&lt;#1 http://e.vil", "plain.txt", "a\0000\0"])
def test_an_input_in_a_remark_is_code(source):
    text = comparison_markdown(with_cuts(named("t", source)))
    (remark,) = [line for line in text.splitlines() if "the split pattern cuts" in line]
    assert f"that readers see in {code(source)}, 'กี่' first" in remark


def test_names_that_are_shortened_are_compared_with_the_fewest_tokens():
    path = "folder/of/vocabularies/gpt2.json"
    report = comparison((path, "gpt2", f"{path}, fewest"), total=row("total", [303, 300, 200]),
                        rows=(row("en.txt", [303, 300, 200]),))  # fmt: skip
    said = "above the fewest tokens that its vocabulary allows"
    names = short_names(report.tokenizers)
    assert names[0] != path
    assert f"{names[0]}: 51.5% {said}" in remarks(report, metrics_named(["ratio"]), names)
    markdown = comparison_markdown(report)
    assert f"{code(names[0])}: 51.5% {said}" in markdown
    assert markdown.count(said) == 1


def test_many_inputs_are_cut_and_that_is_said():
    rows = tuple(row(f"{number}.txt", [number + 1, number + 2]) for number in range(1000))
    report = replace(comparison(rows=rows), total=row("total", [10, 9]))
    changes = changes_from_baseline(report, [METRICS["tokens"]])
    text = comparison_markdown(report, changes=changes)
    assert "and 900 more inputs" in text
    assert "and 901 more changes" in text
    assert "<summary>1,001 changes, the worst first</summary>" in text
    assert len(text) < 65_536


def test_full_markdown_has_everything():
    rows = tuple(row(f"{number}.txt", [number + 1, number + 2]) for number in range(150))
    report = replace(comparison(rows=rows), total=row("total", [10, 9]))
    made = {
        "changes": changes_from_baseline(report, [METRICS["tokens"]]),
        "checks": [Condition.parse("any: tokens > 0").check(report)],
    }
    short, full = comparison_markdown(report, **made), comparison_markdown(report, **made, full=True)
    assert [len(re.findall("`149.txt`", text)) for text in (short, full)] == [0, 4]  # 2 failures, a change, an input
    assert [len(re.findall(r"and \d+ more", text)) for text in (short, full)] == [3, 0]


def test_code_by_hand():
    assert code("en.txt") == "`en.txt`"
    assert code("@you #1 www.e.vil") == "`@you #1 www.e.vil`"
    assert code("") == "<code></code>"
    assert code("`") == "<code>&#96;</code>"
    assert "\u202e" not in code(HOSTILE)
