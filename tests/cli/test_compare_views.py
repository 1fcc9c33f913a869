"""What ``bpe compare`` shows of tokenizers that lose text, with long names, on narrow consoles and in files."""

from __future__ import annotations

import json

import pytest

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
    said = f"{lost} bytes became unknown tokens; that its tokens are few is no merit"
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


def test_a_probe_without_inputs_stands_alone(folder):
    three = ("-t", "gpt2", "-t", "few/vocab.txt")
    for options, heading in (
        (("--markdown",), "#### Languages: the same 40 lines"),
        (("--html", "-"), "<h2>Languages: the same 40 lines"),
    ):
        text = call("compare", "--probe", "languages", "--overlap", *three, *options, cwd=folder).text
        assert heading in text
        assert "0 inputs" not in text
        assert "<details>" not in text
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
