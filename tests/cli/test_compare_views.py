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
