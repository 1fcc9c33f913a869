"""``bpe compare --probe``, ``--parallel``, ``--pairs``, ``--overlap`` and ``--diff``."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call, check_golden, error

TWO = ("-t", "gpt2", "-t", "o200k_base")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "en.txt").write_text("Tea is hot.\nBread is warm.\n", encoding="utf-8")
    (tmp_path / "de.txt").write_text("Tee ist heiß.\nBrot ist warm.\n", encoding="utf-8")
    (tmp_path / "main.py").write_text("def f(x):\n    if x:\n        return 12345\n", encoding="utf-8")
    return tmp_path


def test_all_probes():
    result = call("compare", "--probe", "all", "--overlap", *TWO, env={"COLUMNS": "80"})
    assert (result.status, result.err) == (0, "")
    check_golden("compare-probes.txt", result.out)


def test_differences(folder):
    result = call("compare", "en.txt", "de.txt", "main.py", "--diff", *TWO, cwd=folder, env={"COLUMNS": "80"})
    assert (result.status, result.err) == (0, "")
    check_golden("compare-diff.txt", result.out)


def test_no_input_is_read_where_none_is_needed():
    report = json.loads(call("compare", "--probe", "numbers", "--json", *TWO, input=b"not read").out)
    assert (report["inputs"], list(report["probes"])) == ([], ["numbers"])
    report = json.loads(call("compare", "--probe", "numbers", "-", "--json", *TWO, input=b"read").out)
    assert report["inputs"][0]["byte_count"] == 4
    smaller = ("-t", "gpt2", "-t", "p50k_base")
    report = json.loads(call("compare", "--overlap", "--diff", "--json", *smaller, input=b"read").out)
    assert report["disagreements"][0]["byte_count"] == 4
    assert report["overlaps"][0]["weighted"] == [1, 1]


def test_all_is_every_probe():
    report = json.loads(call("compare", "--probe", "all", "--json", "-t", "gpt2").out)
    assert list(report["probes"]) == ["languages", "code", "data", "numbers"]
    assert report["probes"]["languages"]["line_count"] == 40


def test_parallel_texts_of_your_own(folder):
    by_file = call("compare", "--parallel", "en=en.txt", "--parallel", "de=de.txt", "--json", *TWO, cwd=folder)
    (folder / "both.tsv").write_text("en\tde\nTea is hot.\tTee ist heiß.\nBread is warm.\tBrot ist warm.\n", "utf-8")
    (folder / "both.jsonl").write_text(
        '{"en": "Tea is hot.", "de": "Tee ist heiß."}\n{"en": "Bread is warm.", "de": "Brot ist warm."}\n', "utf-8"
    )
    for name in ("both.tsv", "both.jsonl"):
        assert call("compare", "--parallel", name, "--json", *TWO, cwd=folder) == by_file
    marked = ("--parallel", "en=marked.txt", "--parallel", "de=de.txt")
    (folder / "marked.txt").write_bytes(b"\xef\xbb\xbf" + (folder / "en.txt").read_bytes())
    assert call("compare", *marked, "--json", *TWO, cwd=folder) == by_file
    assert call("compare", *marked, "--json", "--plain", *TWO, cwd=folder) != by_file
    languages = json.loads(by_file.out)["probes"]["languages"]
    assert (languages["languages"], languages["pivot"], languages["line_count"]) == (["en", "de"], "en", 2)
    for name, cost in zip(("en", "de"), languages["results"][0]["costs"], strict=True):
        counts = call("encode", f"{name}.txt", "--lines", "-t", "gpt2", "--to", "count", cwd=folder).text.split()
        assert cost["token_count"] == sum(map(int, counts))
    turned = json.loads(call("compare", "--parallel", "both.tsv", "--pivot", "de", "--json", *TWO, cwd=folder).out)
    premiums = [each["probes"]["languages"]["results"][0]["costs"] for each in (json.loads(by_file.out), turned)]
    assert premiums[0][1]["premium"] * premiums[1][0]["premium"] == pytest.approx(1)


def test_code_of_your_own(folder):
    shown = call("compare", "main.py", "--probe", "code", *TWO, cwd=folder).text
    assert "Code: the inputs, 1 file, 41 bytes" in shown


def test_pairs_of_your_own(folder):
    (folder / "a.json").write_text('{"k": 1}')
    (folder / "a.yaml").write_text("k: 1\n")
    (folder / "b.json").write_text("no pair")
    report = json.loads(call("compare", "--pairs", ".", "--json", *TWO, cwd=folder).out)
    assert report["probes"]["data"]["names"] == ["a"]
    counts = report["probes"]["data"]["results"][0]["token_counts"]
    for name, layout in (("a.json", "json"), ("a.yaml", "yaml")):
        assert call("encode", name, "-t", "gpt2", "--to", "count", cwd=folder).text == f"{counts[layout]}\n"


@pytest.mark.parametrize("options", [("--diff", "--overlap"), ("--diff", "--lines"), ("--probe", "all")])
def test_threads_and_blocks_change_nothing(options, corpora, tmp_path):
    text = tmp_path / "hi.txt"
    text.write_bytes(b"".join((corpora / "languages" / "hi.txt").read_bytes().splitlines(keepends=True)[:12]))
    paths = (text, corpora / "misc" / "special.txt", corpora / "code" / "Makefile")
    two = ("-t", "gpt2", "-t", "cl100k_base")  # of all tokens that they share, each run finds which
    results = {
        call("compare", *paths, *options, *two, "--json", "--block-size", size, "-j", threads)
        for size, threads in (("7", "4"), ("512", "2"), ("1000000", "1"))
    }
    assert len(results) == 1
    assert results.pop().status == 0


def test_special_tokens_are_cut_as_asked():
    found = json.loads(call("compare", "-T", "a<|endoftext|>", "--diff", "--special", "all", "--json", *TWO).out)
    assert found["disagreements"][0]["boundaries"] == [1, 1]
    found = json.loads(call("compare", "-T", "a<|endoftext|>", "--diff", "--json", *TWO).out)
    assert found["disagreements"][0]["boundaries"] == [7, 7]


def test_special_tokens_in_code_are_those_that_are_asked_for(folder):
    (folder / "x.py").write_text("a<|endoftext|>b\n")
    for special in ((), ("--special", "all")):
        report = json.loads(call("compare", "x.py", "--probe", "code", "--json", *special, *TWO, cwd=folder).out)
        probed = [result["token_count"] for result in report["probes"]["code"]["results"]]
        assert probed == [result["tokens"] for result in report["total"]["results"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--probe", "numbers", "--lines"), "there are no inputs: --lines would do nothing"),
        (
            ("--overlap", "--metric", "fertility", "--speed", "--special", "all", *TWO),
            "there are no inputs: --metric, --speed, --special would do nothing",
        ),
        (("--probe", "numbers", "--plain"), "there are no inputs: --plain would do nothing"),
        (("--diff", "-T", "x", "-t", "gpt2"), "--diff compares tokenizers with the first, but there is only one"),
        (("--overlap", "-t", "gpt2"), "--overlap compares tokenizers with the first, but there is only one"),
        (("--pivot", "en", "-T", "x"), "--pivot is for --probe languages and --parallel"),
        (("--probe", "languages", "--pivot", "xx"), "the pivot 'xx' is not among the languages"),
        (("--probe", "numbers", "--fail-if", "tokens > 1"), "--fail-if needs inputs"),
        (("--parallel", "missing.tsv"), "cannot read missing.tsv: no such file"),
        (("--parallel", "en=en.txt"), "premiums compare languages, and there are not two"),
        (("--parallel", "en=en.txt", "--parallel", "py=main.py"), "en.txt has 2 lines and main.py has 3: line 3 of py"),
        (("--pairs", "."), ". has no NAME.json with a NAME.yaml beside it"),
        (("--pairs", "missing"), "cannot read missing: no such file"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message, folder):
    result = call("compare", *arguments, cwd=folder)
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith(f"error: {message}")


def test_an_unknown_probe_is_refused():
    result = call("compare", "--probe", "poetry")
    assert (result.status, result.out) == (2, b"")
    assert "poetry" in result.err


def test_json_that_is_none(folder):
    (folder / "a.json").write_text("{")
    (folder / "a.yaml").write_text("k: 1\n")
    result = call("compare", "--pairs", ".", cwd=folder)
    assert result.err.startswith("error: ./a.json is not JSON: ")
    assert result.err != error("")


# -- given words -----------------------------------------------------------------------------------


def test_given_words(tmp_path):
    (tmp_path / "zh.txt").write_text("我 喜欢 北京 大学\n他 是 学生\n", encoding="utf-8")
    (tmp_path / "th.txt").write_text("ฉัน\u200bรัก\u200bไทย\n", encoding="utf-8")
    two = ("compare", "-t", "gpt2", "-t", "o200k_base", "--words", "zh.txt", "--words", "th.txt")
    shown = call(*two, cwd=tmp_path).text
    assert "Given words: zh.txt, 7 words in 2 texts" in shown
    assert "Given words: th.txt, 3 words in 1 text" in shown
    report = json.loads(call(*two, "--json", cwd=tmp_path).out)
    probe = report["probes"]["words"]
    assert (probe["names"], probe["text_counts"], probe["byte_counts"]) == (["zh.txt", "th.txt"], [2, 1], [33, 27])
    chinese = probe["results"][1][0]
    assert (chinese["word_count"], chinese["token_count"], chinese["fertility"], chinese["f1"]) == (7, 7, 1.0, 1.0)
    assert report["inputs"] == []
    assert "Given words" in call(*two, "--markdown", cwd=tmp_path).text
    assert "Given words" in call(*two, "--html", "-", cwd=tmp_path).text


def test_given_words_beside_inputs(tmp_path):
    (tmp_path / "zh.txt").write_text("我 喜欢\n", encoding="utf-8")
    report = json.loads(call("compare", "-T", "hi", "-t", "gpt2", "--words", "zh.txt", "--json", cwd=tmp_path).out)
    assert (len(report["inputs"]), report["probes"]["words"]["names"]) == (1, ["zh.txt"])
    kept = call("compare", "-t", "gpt2", "--words", "zh.txt", "--html", "zh.txt", cwd=tmp_path)
    assert "--html would replace the words of --words" in kept.err
    (tmp_path / "none.txt").write_text("\n")
    none = call("compare", "-t", "gpt2", "--words", "none.txt", cwd=tmp_path)
    assert none.status == 2
    assert none.err.startswith("error: none.txt has no words")
