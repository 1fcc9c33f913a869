"""``bpe compare`` in CI: conditions, stored reports, regressions, and the files that it writes."""

from __future__ import annotations

import csv
import io
import json

import pytest

from bpe_cli.reports.comparison.comparison import METRICS
from tests.cli_runner import call, check_golden, error

HELLO = ("compare", "-T", "hello world", "-t", "gpt2", "-t", "o200k_base")
TWO = ("compare", "en.txt", "de.txt")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "en.txt").write_text("The quick brown fox jumps over the lazy dog.\n", encoding="utf-8")
    (tmp_path / "de.txt").write_text("Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich.\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def stored(folder):
    """Store what gpt2 makes of the two files."""
    assert call(*TWO, "-t", "gpt2", "--json", "-o", "base.json", cwd=folder) == (0, b"", "")
    return folder


def test_conditions():
    table = call(*HELLO).out
    assert call(*HELLO, "--fail-if", "tokens > 2", "--fail-if", "bytes_per_token<5.5") == (0, table, "")
    assert call(*HELLO, "--fail-if", "tokens > 2", "--fail-if", "ratio<=1") == (
        1, table, error("gpt2: ratio 1 <= 1; o200k_base: ratio 1 <= 1"),
    )  # fmt: skip
    assert call(*HELLO, "--fail-if", "text: tokens == 2", "-q").err == error(
        "gpt2 on text: tokens 2 == 2; o200k_base on text: tokens 2 == 2"
    )


def test_any_is_each_input_and_not_all_together(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("hello world")
    both = ("compare", "a.txt", "b.txt", "-t", "gpt2", "-q", "--fail-if")
    assert call(*both, "any: tokens > 3", cwd=tmp_path).status == 0
    assert call(*both, "tokens > 3", cwd=tmp_path).err == error("gpt2: tokens 4 > 3")
    assert call(*both, "any: tokens > 1", cwd=tmp_path).err == error(
        "gpt2 on a.txt: tokens 2 > 1; gpt2 on b.txt: tokens 2 > 1"
    )


def test_conditions_are_in_the_json():
    result = call(*HELLO, "--json", "--fail-if", "tokens == 2", "--fail-if", "tokens == 3")
    assert result.status == 1
    checks = json.loads(result.out)["checks"]
    assert [(check["value"], check["passed"], len(check["failures"])) for check in checks] == [
        ("tokens == 2", False, 2), ("tokens == 3", True, 0),
    ]  # fmt: skip


def test_many_failures_are_counted():
    arguments = [word for name in ("gpt2", "p50k_base", "cl100k_base", "o200k_base") for word in ("-t", name)]
    result = call("compare", "-T", "a", *arguments, "--fail-if", "any: tokens == 1", "--fail-if", "tokens == 1")
    assert result.status == 1
    assert result.err == error(
        "gpt2 on text: tokens 1 == 1; p50k_base on text: tokens 1 == 1; cl100k_base on text: tokens 1 == 1; "
        "o200k_base on text: tokens 1 == 1; gpt2: tokens 1 == 1; and 3 more"
    )


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (("--fail-if", "nothing"), "'nothing' is not a condition",
         "write METRIC < NUMBER, as in 'bytes_per_token < 4' or 'any: bytes_per_token < 4'; there are <= >= < > == !="),
        (("--fail-if", "byte_per_token < 4"), "there is no metric 'byte_per_token'", None),
        (("--fail-if", "tokens < -4"),
         "'tokens < -4' is not a condition: no metric is below 0, so numbers have no sign", ""),
        (("--fail-if", "tex: tokens < 4"), "'tex: tokens < 4': there is no input 'tex'", "did you mean text?"),
        (("--metric", "token"), "there is no metric 'token'", None),
        (("--json", "--csv"), "--json and --csv cannot be used together", ""),
        (("--markdown", "--csv"), "--markdown and --csv cannot be used together", ""),
        (("--max-regression", "1"), "'1' is not a limit in per cent", "write 1%, or 'total: 1%'"),
        (("--against", "missing.json"), "cannot read missing.json: no such file", None),
        (("-o", "missing/out"), None, None),
        (("--baseline", "gpt-9"), None, None),
    ],
)  # fmt: skip
def test_wrong_options_are_said_before_the_work(options, message, hint, folder):
    result = call(*HELLO, *options, cwd=folder)
    assert (result.status, result.out) == (2, b"")
    if message is not None:
        assert result.err.startswith(f"error: {message}\n")
    if hint is not None:
        assert result.err.endswith(f"hint: {hint}\n" if hint else f"{message}\n")


def test_no_second_tokenizer_to_compare_with(folder):
    result = call(*TWO, "-t", "gpt2", "--max-regression", "1%", cwd=folder)
    assert result == (
        2, b"", error(
            "--max-regression has nothing to compare with",
            "--against REPORT names a stored report, or a second tokenizer is compared with the first",
        ),
    )  # fmt: skip


def test_nothing_has_changed(stored):
    result = call(*TWO, "-t", "gpt2", "--against", "base.json", "--max-regression", "0%", cwd=stored)
    assert (result.status, result.err) == (0, "")
    check_golden("compare-against-same.txt", result.out)


def test_something_has_become_worse(stored):
    assert call("train", "en.txt", "-s", "270", "-o", "gpt2", "-q", cwd=stored).status == 0  # a file of that name
    result = call(*TWO, "-t", "./gpt2", "--against", "base.json", "--max-regression", "5%", cwd=stored)
    assert result.status == 1
    assert result.err == error(
        "gpt2 on en.txt: tokens 11 -> 30, 173% worse, more than 5%; gpt2: tokens 34 -> 85, 150% worse, more than 5%; "
        "gpt2 on de.txt: tokens 23 -> 55, 139% worse, more than 5%"
    )
    check_golden("compare-against-worse.txt", result.out)
    markdown = call(*TWO, "-t", "./gpt2", "--against", "base.json", "--max-regression", "5%", "--markdown", cwd=stored)
    assert (markdown.status, markdown.err) == (1, result.err)
    check_golden("compare-against-worse.md", markdown.out)
    passed = call(*TWO, "-t", "./gpt2", "--against", "base.json", cwd=stored)  # shown, not judged
    assert (passed.status, passed.out) == (0, result.out)


def test_a_stored_report_is_not_replaced_by_what_is_held_against_it(stored):
    before = (stored / "base.json").read_bytes()
    result = call(*TWO, "--against", "base.json", "--json", "-o", "./base.json", cwd=stored)
    assert (result.status, (stored / "base.json").read_bytes()) == (2, before)
    assert result.err.startswith("error: -o would replace the report of --against")


def test_a_stored_report_from_a_pipe(stored):
    data = (stored / "base.json").read_bytes()
    result = call(*TWO, "-t", "gpt2", "--against", "-", "--max-regression", "0%", input=data, cwd=stored)
    assert (result.status, result.err) == (0, "")
    assert "Changes since stdin" in result.text
    assert call("compare", "-t", "gpt2", "--against", "-", input=data) == (
        2, b"", error(
            "the input and the report of --against would both be read from stdin, which can be read only once",
            "name a file for one of them",
        ),
    )  # fmt: skip
    no_input = call("compare", "--probe", "code", "--against", "-", input=data)
    assert no_input == (2, b"", error("--against needs inputs", "name files, or - for stdin"))


def test_more_metrics_are_judged(stored):
    options = ("--against", "base.json", "--max-regression", "total: 1%", "--metric", "bytes_per_token", "--json")
    report = json.loads(call(*TWO, "-t", "o200k_base", *options, cwd=stored).out)
    assert {change["metric"] for change in report["changes"]["changes"]} == {"bytes_per_token"}
    assert {change["verdict"] for change in report["changes"]["changes"]} == {"better"}


def test_a_changed_corpus_is_an_error(stored):
    (stored / "de.txt").write_text("Zwölf Boxkämpfer jagen Viktor quer über den Sylter Teich.\n", encoding="utf-8")
    result = call(*TWO, "-t", "gpt2", "--against", "base.json", "--max-regression", "1%", cwd=stored)
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("error: de.txt is not the text that base.json was made from (other bytes)\n\nhint: ")
    assert call("compare", "en.txt", "-t", "gpt2", "--against", "base.json", cwd=stored).status == 0


def test_what_is_not_compared_is_noted(stored):
    result = call("compare", "en.txt", "-t", "gpt2", "-t", "o200k_base", "--against", "base.json", "--max-regression",
                  "1%", "--csv", cwd=stored)  # fmt: skip
    assert result.status == 0
    assert result.err == (
        "note: not in the report, so not compared: o200k_base\n"
        "note: only in the report, so not compared: de.txt\n"
        "note: all inputs together are not compared: they are others than in the report\n"
    )


def test_other_tokenizers_than_the_baseline(folder):
    result = call(*TWO, "-t", "o200k_base", "-t", "gpt2", "--max-regression", "20%", cwd=folder)
    assert (result.status, result.err.count("worse")) == (1, 2)  # de.txt, and both together
    assert call(*TWO, "-t", "gpt2", "-t", "o200k_base", "--max-regression", "0%", cwd=folder).status == 0
    assert call(*TWO, "-t", "gpt2", "-t", "o200k_base", "--baseline", "o200k_base", "--max-regression", "0%",
                cwd=folder).status == 1  # fmt: skip


def test_the_baseline_comes_first(folder):
    def names(*options):
        report = json.loads(call(*TWO, *options, "--json", cwd=folder).out)
        return [each["name"] for each in report["tokenizers"]]

    assert names("-t", "gpt2", "-t", "o200k_base", "--baseline", "o200k_base") == ["o200k_base", "gpt2"]
    assert names("-t", "gpt2", "-t", "gpt-4o", "--baseline", "o200k_base") == ["o200k_base", "gpt2"]
    assert names("-t", "gpt2", "--baseline", "cl100k_base") == ["cl100k_base", "gpt2"]


@pytest.mark.parametrize("form", [(), ("--json",), ("--markdown",), ("--csv",)])
def test_a_file_holds_what_stdout_would(form, folder):
    shown = call(*TWO, *form, cwd=folder)
    assert (shown.status, shown.err) == (0, "")
    assert call(*TWO, *form, "-o", "out", cwd=folder) == (0, b"", "")
    assert (folder / "out").read_bytes() == shown.out
    assert call(*TWO, *form, "--color", "always", "-o", "out", cwd=folder).status == 0
    assert ((folder / "out").read_bytes() == shown.out) is bool(form)  # tables are in colour then
    failed = call(*TWO, *form, "-o", "out", "--fail-if", "tokens > 1", cwd=folder)
    assert (failed.status, failed.out) == (1, b"")
    assert (folder / "out").exists()  # what failed is what one wants to read


def test_csv(folder):
    (folder / "=1+1.txt").write_text("a\n")
    result = call("compare", "en.txt", "=1+1.txt", "-t", "gpt2", "-t", "o200k_base", "--csv", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(result.text, newline="")))
    assert [(row["input"], row["tokenizer"], row["tokens"]) for row in rows] == [
        ("en.txt", "gpt2", "11"), ("en.txt", "o200k_base", "10"),
        ("'=1+1.txt", "gpt2", "2"), ("'=1+1.txt", "o200k_base", "2"),
        ("total", "gpt2", "13"), ("total", "o200k_base", "12"),
    ]  # fmt: skip
    assert set(METRICS) <= set(rows[0])


def test_metrics(folder):
    table = call(*TWO, "-t", "gpt2", "-t", "o200k_base", "--metric", "bytes_per_token", "--metric", "tokens",
                 cwd=folder).text  # fmt: skip
    assert "Bytes/token by input" in table
    assert "Tokens by input" in table
    assert "ratio" not in table
    everything = call(*TWO, "-t", "gpt2", "--metric", "all", cwd=folder).text
    shown = [metric for metric in METRICS.values() if metric.kind != "speed"]
    assert all(metric.label.split("/")[0].split()[0] in everything for metric in shown)
    assert "MB/s" not in everything


def test_speed(folder):
    table = call("compare", "en.txt", "-t", "gpt2", "--speed", cwd=folder).text
    assert "MB/s" in table
    assert "tokens" in table
    assert "speed is by the clock of this machine, so it differs from run to run" in table
    # A condition on speed measures it; with a limit that every machine keeps.
    assert call("compare", "en.txt", "-t", "gpt2", "--fail-if", "megabytes_per_second > 0", cwd=folder).status == 1
    report = json.loads(call("compare", "en.txt", "-t", "gpt2", "--json", cwd=folder).out)
    assert report["total"]["results"][0]["megabytes_per_second"] is None


def test_hostile_reports(folder):
    for data, message in (
        (b"", "bad.json is not JSON"),
        (b"[" * 10**6, "bad.json is not JSON"),
        (b'{"schema": "bpe.compare/1"}', "bad.json has the schema 'bpe.compare/1', not 'bpe.compare/2'"),
        (b'{"schema": "bpe.compare/2"}', "bad.json: tokenizers is missing"),
    ):
        (folder / "bad.json").write_bytes(data)
        result = call(*TWO, "-t", "gpt2", "--against", "bad.json", cwd=folder)
        assert (result.status, result.out) == (2, b"")
        assert result.err.startswith(f"error: {message}")


def test_threads_and_blocks_change_no_file(corpora, tmp_path):
    """The JSON has all of the report, which is what the other forms are made of."""
    texts = [tmp_path / name for name in ("hi.txt", "en.txt")]
    for text in texts:  # their beginnings, for a block of one byte takes as long as one of thousands
        text.write_bytes(b"".join((corpora / "languages" / text.name).read_bytes().splitlines(keepends=True)[:12]))
    arguments = ("compare", *texts, "--lines", "--json")
    results = {
        call(*arguments, "--block-size", size, "-j", threads)
        for size, threads in (("1", "1"), ("7", "4"), ("1000000", "1"))
    }
    assert len(results) == 1
    assert results.pop().status == 0


def test_a_missing_value_is_not_the_same(stored):
    report = json.loads((stored / "base.json").read_text())
    for row in (*report["inputs"], report["total"]):
        row["results"][0]["tokens"] = None
    del report["inputs"][0]["results"][0]["tokens"]
    report["inputs"][1]["results"][0]["tokens"] = 23
    (stored / "lie.json").write_text(json.dumps(report))
    options = ("-t", "gpt2", "--against", "lie.json", "--max-regression", "1%")
    result = call(*TWO, *options, cwd=stored)
    assert (result.status, result.err) == (1, error(
        "gpt2 on en.txt: tokens no value -> 11, cannot be compared; gpt2: tokens no value -> 34, cannot be compared"
    ))  # fmt: skip
    assert result.text.count("cannot be compared") == 2
    assert "1 value as before" in result.text
    changes = json.loads(call(*TWO, *options, "--json", cwd=stored).out)["changes"]["changes"]
    assert [change["verdict"] for change in changes] == ["unknown", "same", "unknown"]
    assert call(*TWO, *options, "--markdown", cwd=stored).text.count("**cannot be compared**") == 2


def test_a_condition_on_nothing_fails(folder):
    (folder / "empty.txt").write_bytes(b"")
    condition = ("--fail-if", "bytes_per_token < 4")
    assert call("compare", "empty.txt", "-t", "gpt2", *condition, "-q", cwd=folder).err == error(
        "gpt2: bytes_per_token has no value: there are no tokens"
    )
    assert call("compare", "empty.txt", "-t", "gpt2", *condition, cwd=folder).status == 1
    both = ("compare", "empty.txt", "en.txt", "-t", "gpt2", "--fail-if")
    assert call(*both, "any: bytes_per_token < 2", cwd=folder).status == 0
    assert call(*both, "empty.txt: bytes_per_token < 2", cwd=folder).status == 1


def test_where_neither_has_a_value_nothing_is_worse(folder):
    (folder / "empty.txt").write_bytes(b"")
    options = ("empty.txt", "-t", "gpt2", "--metric", "bytes_per_token")
    assert call("compare", *options, "--json", "-o", "old.json", cwd=folder).status == 0
    result = call("compare", *options, "--against", "old.json", "--max-regression", "1%", cwd=folder)
    assert (result.status, result.err) == (0, "")
    assert "2 values missing before and now" in result.text


def test_the_page_holds_changes_and_checks(stored):
    assert call("train", "en.txt", "-s", "270", "-o", "gpt2", "-q", cwd=stored).status == 0  # a file of that name
    options = ("--against", "base.json", "--max-regression", "5%", "--fail-if", "tokens < 1")
    result = call(*TWO, "-t", "./gpt2", *options, "--html", "-", cwd=stored)
    assert result.status == 1
    for part in (
        "<code>--max-regression &#39;5%&#39;</code>: <strong>failed</strong>",
        "<li>gpt2 on en.txt: tokens 11 -&gt; 30, 173% worse, more than 5%</li>",
        "<code>--fail-if &#39;tokens &lt; 1&#39;</code>: passed",
        "<h2>Changes since base.json</h2>",
        "<td>11</td><td>30</td><td>+172.73%</td><td><strong>worse</strong></td>",
    ):
        assert part in result.text
    notes = call("compare", "en.txt", "-t", "gpt2", "--against", "base.json", "--html", "x.html", cwd=stored)
    assert (notes.status, notes.err.splitlines()) == (0, [
        "wrote x.html",
        "note: only in the report, so not compared: de.txt",
        "note: all inputs together are not compared: they are others than in the report",
    ])  # fmt: skip


def test_the_page_shows_the_metrics_that_were_asked_for(folder):
    page = call(*TWO, "-t", "gpt2", "--metric", "fertility", "--html", "-", cwd=folder).text
    assert (">tokens/word</th>" in page, ">bytes/token</th>" in page) == (True, False)
    assert ">bytes/token</th>" in call(*TWO, "-t", "gpt2", "--html", "-", cwd=folder).text
