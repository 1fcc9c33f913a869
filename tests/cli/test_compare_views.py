"""What ``bpe compare`` shows of tokenizers that lose text, with long names, on narrow consoles and in files."""

from __future__ import annotations

import json
import os
import re

import pytest

from bpe_cli.reports.comparison.comparison import METRICS
from tests.cli_runner import call

LOST = "съешь ещё этих мягких французских булок"
TEXT = f"{LOST}? the the\n" * 3


@pytest.fixture
def folder(tmp_path):
    """A text, and a tokenizer that has few of its characters."""
    (tmp_path / "ru.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n?\n", encoding="utf-8")
    return tmp_path


def test_who_loses_text_is_not_the_best(folder):
    three = ("-t", "gpt2", "-t", "o200k_base", "-t", "few/vocab.txt")
    report = json.loads(call("compare", "ru.txt", *three, "--json", cwd=folder).out)
    tokens = [each["token_count"] for each in report["total"]["results"]]
    assert tokens[2] == min(tokens) < tokens[1] < tokens[0]
    assert [each["loses_text"] for each in report["total"]["results"]] == [False, False, True]
    assert report["total"]["best"] == report["inputs"][0]["best"] == [1]
    lost = 3 * len(LOST.replace(" ", "").encode())
    said = f"{lost} bytes became unknown tokens; that its tokens are few is not a merit"
    for options in ((), ("--markdown",), ("--html", "-")):
        text = call("compare", "ru.txt", *three, *options, cwd=folder).text
        assert said in text
        assert f"{tokens[2]}?" in text
    assert "fewest tokens: o200k_base\n" in call("compare", "ru.txt", *three, cwd=folder).text
    # Conditions judge the numbers as they are.
    assert call("compare", "ru.txt", *three, "--fail-if", f"tokens == {tokens[2]}", cwd=folder).status == 1


def test_a_baseline_that_loses_text_is_warned_of(folder):
    text = call("compare", "ru.txt", "-t", "few/vocab.txt", "-t", "gpt2", cwd=folder).text
    assert "which loses text: the others look worse than they are\n" in text
    assert "fewest" not in text


def test_who_leaves_text_out_is_not_the_best(folder):
    (folder / "none.json").write_text(
        json.dumps({"model": {"type": "BPE", "vocab": {"t": 0, "h": 1, "e": 2, "th": 3}, "merges": ["t h"]}})
    )
    two = ("-t", "gpt2", "-t", "none.json")
    report = json.loads(call("compare", "ru.txt", *two, "--json", cwd=folder).out)
    assert [each["loses_text"] for each in report["total"]["results"]] == [False, True]
    assert report["total"]["best"] == []
    lost = len(TEXT.encode()) - 3 * len("thethe")
    assert report["total"]["results"][1]["unknown_bytes"] == lost / len(TEXT.encode())
    text = call("compare", "ru.txt", *two, cwd=folder).text
    assert f"? none.json: {lost} bytes were left out; that its tokens are few is not a merit\n" in text
    assert "fewest" not in text
    languages = call("compare", "--probe", "languages", *two, "--json", cwd=folder).out
    costs = json.loads(languages)["probes"]["languages"]["results"][1]["costs"]
    assert all(each["unknown_count"] for each in costs)


def test_a_probe_without_inputs_stands_alone(folder):
    three = ("-t", "gpt2", "-t", "few/vocab.txt")
    for options, heading in (
        (("--markdown",), "#### Languages: the same 40 lines"),
        (("--html", "-"), "<h2>Languages: the same 40 lines"),
    ):
        text = call("compare", "--probe", "languages", "--overlap", *three, *options, cwd=folder).text
        assert heading in text
        assert "0 inputs" not in text
        assert text.count("<details>") == text.count("<summary>The values of this picture")
        assert "<pre>" not in text


def test_page_and_markdown_have_tables_of_all_tokenizers(folder):
    """None is cut to a width, or divided."""
    names = ("gpt2", "cl100k_base", "o200k_base", "p50k_base", "r50k_base", "few/vocab.txt")
    asked = ("--probe", "languages", *(word for name in names for word in ("-t", name)))
    text = call("compare", *asked, "--markdown", cwd=folder).text
    assert (
        "| language | bytes | gpt2 | `cl100k_base` | `o200k_base` | `p50k_base` | `r50k_base` | `few/vocab.txt` |"
        in text
    )
    page = call("compare", *asked, "--html", "-", cwd=folder).text
    assert '<th scope="col">r50k_base</th><th scope="col">few/vocab.txt</th></tr></thead>' in page
    assert '<tr><th scope="row" class="start">de</th><td>1,515</td>' in page


@pytest.mark.parametrize("width", [80, 40])
def test_labels_are_never_broken(folder, width):
    names = [f"a/long/path/to/tokenizers/number-{number}-of-six" for number in range(6)]
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "vocab.txt").write_bytes((folder / "few" / "vocab.txt").read_bytes())
    asked = [word for name in names for word in ("-t", f"{name}/vocab.txt")]
    text = call("compare", "--probe", "languages", *asked, cwd=folder, env={"COLUMNS": str(width)}).text
    assert all(len(line) <= width for line in text.splitlines())
    assert "language" in text
    head = text.split("tokens, and the premium")[0]
    body = text[len(head) :]
    assert all(f"{name}/vocab.txt" in head.replace("\n", "") for name in names)
    for number in range(6):
        assert f"number-{number}-of-six/" in body
    assert "a/long" not in body


def test_differences_on_a_narrow_console_say_where(folder):
    text = call("compare", "ru.txt", "--diff", "-t", "gpt2", "-t", "o200k_base", cwd=folder, env={"COLUMNS": "40"}).text
    assert "\n  gpt2: " in text
    assert "\n  as in: " in text


def test_labels_are_names(folder):
    for label, name in (("one token words", "one_token_words"), ("tokens/word", "fertility"), ("MB/s", None)):
        if name:
            by_label, by_name = (call("compare", "ru.txt", "--metric", each, cwd=folder) for each in (label, name))
            assert by_label == by_name
            assert label.split("/")[0].split()[0] in by_label.text
        assert call("compare", "ru.txt", "-t", "gpt2", "--fail-if", f"any: {label} > 0.0001", cwd=folder).status == 1
    for metric in METRICS.values():
        usual = {"bytes/token", "characters/token", "mean bytes/token", "tokens/word", "MB/s"}
        assert metric.label in usual or metric.label.casefold().replace("é", "e").replace(" ", "_") == metric.name


def test_an_interval_is_never_rounded_away(tmp_path):
    lines = ["Straße " * 20 + str(number * 7919) for number in range(400)]
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    text = call("compare", "a.txt", "--lines", "-t", "gpt2", "-t", "o200k_base", cwd=tmp_path).text
    low, high = re.search(r"\[(\S+), (\S+)\]", text).groups()
    assert low != high
    assert len(low) == len(high) > len("0.00")
    assert re.search(rf" \d\.\d{{{len(low) - 2}}} \[", text)


def test_a_name_that_is_no_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/na\xffme.txt"
    with open(path, "wb") as file:
        file.write(b"abc")
    name = os.fsdecode(path)
    for options in ((), ("--csv",), ("--markdown",)):
        text = call("compare", name, "-t", "gpt2", *options).text
        assert "na\\xffme.txt" in text or "na&#92;xffme&#46;txt" in text
        assert "udcff" not in text
    assert json.loads(call("compare", name, "--json").out)["inputs"][0]["name"] == {"bytes": path.hex()}


def test_documents_that_are_all_empty(folder):
    (folder / "none.txt").write_bytes(b"")
    (folder / "lines.txt").write_bytes(b"\n\n")
    none, lines = (call("compare", name, "--lines", cwd=folder).text for name in ("none.txt", "lines.txt"))
    assert call("compare", "none.txt", cwd=folder).text.startswith("none.txt: 1 document (empty), 0 bytes, ")
    assert lines.startswith("lines.txt: 2 documents (all empty), ")
    assert none.startswith("none.txt: 0 documents, ")


@pytest.mark.parametrize("size", ["1", "3", "1000"])
def test_documents_that_are_not_empty(folder, size):
    (folder / "some.txt").write_text("\n\nthé\n\nthe\n", encoding="utf-8")
    asked = ("compare", "some.txt", "--lines", "-t", "few/vocab.txt", "--block-size", size)
    assert call(*asked, cwd=folder).text.startswith("some.txt: 5 documents (2 of them not empty), ")
    row = json.loads(call(*asked, "--json", cwd=folder).out)["total"]
    assert (row["document_count"], row["empty_document_count"]) == (5, 3)
    assert (row["results"][0]["failed_round_trips"], row["results"][0]["failed_share"]) == (1, 0.5)


def test_the_vocabulary_is_what_its_share_is_of(folder):
    report = json.loads(call("compare", "ru.txt", "-t", "cl100k_base", "--json", cwd=folder).out)
    (tokenizer,), (result,) = report["tokenizers"], report["total"]["results"]
    assert tokenizer["vocabulary"] < tokenizer["vocab_size"]  # there are ids that no token has
    assert result["vocabulary_used"] == result["used_ids"] / tokenizer["vocabulary"]
    assert f"{tokenizer['vocabulary']:,}" in call("compare", "ru.txt", "-t", "cl100k_base", cwd=folder).text


def test_one_tokenizer_has_no_ratio_to_itself(folder):
    for options in ((), ("--markdown",)):
        assert "ratio" not in call("compare", "ru.txt", "-t", "gpt2", *options, cwd=folder).text
    assert ">ratio<" not in call("compare", "ru.txt", "-t", "gpt2", "--html", "-", cwd=folder).text
    assert "ratio" in call("compare", "ru.txt", "-t", "gpt2", "--metric", "ratio", cwd=folder).text


def test_colour_in_a_file_only_when_asked(folder):
    for color, has in (("always", True), ("auto", False), ("never", False)):
        call("compare", "ru.txt", "--color", color, "-o", "out.txt", cwd=folder)
        assert (b"\x1b[" in (folder / "out.txt").read_bytes()) is has


def test_a_token_of_no_text_is_shown(folder):
    text = call("compare", "-T", "the a∅b", "--diff", "-t", "gpt2", "-t", "few/vocab.txt", cwd=folder).text
    assert "||" not in text


def test_metrics_whose_names_say_little_are_explained(folder):
    shown = call("compare", "ru.txt", "-t", "gpt2", "--metric", "coverage_rank", "--metric", "tokens", cwd=folder).text
    assert "\ncoverage rank: how many of the most frequent ids together make up 95% of the tokens\n" in shown
    assert "\ntokens: " not in shown
    everything = call("compare", "ru.txt", "-t", "gpt2", "--metric", "all", cwd=folder).text
    assert "coverage rank: how" not in everything
    for metric in METRICS.values():
        assert "the same" not in metric.meaning, "it stands alone"


def test_files_of_reports_have_every_input(tmp_path):
    (tmp_path / "in").mkdir()
    names = [f"in/{number:02}.txt" for number in range(25)]
    for name in names:
        (tmp_path / name).write_text(f"{name}\n")
    line = ("compare", "in", "-t", "gpt2", "-t", "p50k_base")
    short, full = (call(*line, *more, cwd=tmp_path).text for more in ((), ("--full",)))
    assert [name for name in names if name not in short] == names[20:]
    assert "\nand 5 more inputs; --full shows all\n" in short
    assert [name for name in names if name not in full] == []
    assert "--full" not in full
    for text, more in ((short, ()), (full, ("--full",))):
        assert call(*line, *more, "-o", "report.txt", cwd=tmp_path).status == 0
        assert (tmp_path / "report.txt").read_text() == text
    for form in ("--json", "--csv", "--markdown", "--html=-"):
        whole = call(*line, form, cwd=tmp_path).text
        assert [name for name in names if name not in whole] == []
        assert call(*line, form, "--full", cwd=tmp_path).text == whole


def test_full_markdown_has_every_input(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(102):
        (tmp_path / "in" / f"{number}.txt").write_text(f"{number}\n")
    line = ("compare", "in", "-t", "gpt2", "--markdown")
    short, full = (call(*line, *more, cwd=tmp_path).text for more in ((), ("--full",)))
    assert "and 2 more inputs" in short
    assert re.findall(r"^\| `in/(\d+).txt` ", full, re.MULTILINE) == sorted(map(str, range(102)))


def test_the_fewest_tokens_of_a_file_are_compared(tmp_path):
    assert call("convert", "gpt2", "-o", "a-long-name-of-gpt2.json", "-q", cwd=tmp_path).status == 0
    line = ("compare", "-T", "wxyzabc qwertzu", "-t", "a-long-name-of-gpt2.json", "--fewest")
    for form in ((), ("--markdown",), ("--html=-",)):
        shown = call(*line, *form, cwd=tmp_path).text
        assert shown.count("above the fewest tokens that its vocabulary allows") == 1, form


def test_many_languages_and_files_of_words(tmp_path):
    names = [f"l{number:02}" for number in range(25)]
    (tmp_path / "many.jsonl").write_text(json.dumps({name: f"{name} text" for name in names}) + "\n")
    for name in names:
        (tmp_path / f"{name}.words").write_text("a b c\n")
    words = [word for name in names for word in ("--words", f"{name}.words")]
    line = ("compare", "-t", "gpt2", "--parallel", "many.jsonl", *words)
    short, full, markdown = (call(*line, *more, cwd=tmp_path).text for more in ((), ("--full",), ("--markdown",)))
    tables = re.findall(r"^ (l\d\d) ", short, re.MULTILINE)
    assert tables == [*names[:20], *names[1:21]]  # the second has no pivot
    assert short.count("and 5 more languages; --full shows all\n") == 1
    assert short.count("and 4 more languages; --full shows all\n") == 1
    assert " Gini " in short
    assert re.findall(r"^ (l\d\d) ", full, re.MULTILINE) == [*names, *names[1:]]
    assert re.findall(r"^Given words: (l\d\d)", short, re.MULTILINE) == names[:20]
    assert "and 5 more files; --full shows all\n" in short
    assert re.findall(r"^Given words: (l\d\d)", full, re.MULTILINE) == names
    assert "--full" not in full + markdown
    assert [name for name in names if f"{name}.words" not in markdown] == []
