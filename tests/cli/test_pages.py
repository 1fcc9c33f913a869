"""Pages and pictures from the command line."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from tests.cli_runner import call, error
from tests.unit.views.page.reading import Page

GPT2 = ("-t", "gpt2")
TEXT = "naïve 谁 <b>\n"


def test_a_page_and_a_picture(tmp_path):
    result = call("inspect", *GPT2, "-T", TEXT, "--html", "out.html", "--svg", "out.svg", cwd=tmp_path)
    assert result == (0, b"", "wrote out.html\nwrote out.svg\n")
    assert Page((tmp_path / "out.html").read_text(encoding="utf-8")).texts == [TEXT.encode()]
    assert ElementTree.parse(tmp_path / "out.svg").getroot().get("aria-label") == "9 tokens by gpt2"


def test_stdout_takes_one():
    result = call("inspect", *GPT2, "-T", TEXT, "--html", "-")
    assert (result.status, result.err) == (0, "")
    assert Page(result.text).texts == [TEXT.encode()]
    assert ElementTree.fromstring(call("inspect", *GPT2, "-T", TEXT, "--svg", "-").out).tag.endswith("svg")
    assert call("inspect", *GPT2, "-T", TEXT, "--html", "-", "--svg", "-") == (
        2, b"", error("--html and --svg would both be written to stdout", "name a file each"),
    )  # fmt: skip
    assert call("compare", "-T", TEXT, "--json", "--html", "-") == (
        2, b"", error("--json and --html would both be written to stdout", "name a file each"),
    )  # fmt: skip


def test_warnings_stand_on_the_page():
    page = call("inspect", *GPT2, "-T", "<|endoftext|> <b>x</b>", "--html", "-").text
    assert '<ul class="warnings"><li><strong>Warning:</strong>' in page
    assert "&lt;|endoftext|&gt;" in page
    assert "<b>x" not in page
    assert "Warning" not in call("inspect", *GPT2, "-T", "plain", "--html", "-").text


def test_each_line_is_a_section(tmp_path):
    call("inspect", *GPT2, "--lines", "-", "--html", "out.html", input=b"one\ntwo\n\nfour", cwd=tmp_path)
    page = Page((tmp_path / "out.html").read_text(encoding="utf-8"))
    assert page.texts == [b"one", b"two", b"four"]
    assert [name for name, _ in page.elements].count("section") == 4


def test_json_beside_a_page(tmp_path):
    result = call("inspect", *GPT2, "-T", "a", "--html", "out.html", "--json", "-q", cwd=tmp_path)
    assert json.loads(result.out)["token_count"] == 1
    assert (tmp_path / "out.html").exists()
    result = call("compare", "-T", "a", "--html", "c.html", "--json", "-q", cwd=tmp_path)
    assert json.loads(result.out)["schema"].startswith("bpe.compare/")
    assert Page((tmp_path / "c.html").read_text(encoding="utf-8")).texts == [b"a"] * 3


def test_a_check_still_fails(tmp_path):
    options = ("--html", "c.html", "--fail-if", "tokens > 0", "-q")
    result = call("compare", *GPT2, "-T", "a", *options, cwd=tmp_path)
    assert result.status == 1
    assert (tmp_path / "c.html").exists()


@pytest.mark.parametrize("command", ["inspect", "compare"])
@pytest.mark.parametrize(
    ("target", "reason"), [(".", "it is a folder"), ("missing/out.html", "no such folder {}/missing")]
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(command, target, reason, tmp_path):
    result = call(command, *GPT2, "nowhere.txt", "--html", tmp_path / target)
    assert result.status == 2
    assert reason.format(tmp_path) in result.err


def test_a_page_is_whole_or_not_there(tmp_path):
    (tmp_path / "out.html").write_text("before")
    bad = b'{"text": "a"}\n{"text": '
    result = call("inspect", *GPT2, "--jsonl", "-", "--html", "out.html", input=bad, cwd=tmp_path)
    assert result.status == 2
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    assert (tmp_path / "out.html").read_text() == "before"


def test_what_has_no_page_is_refused(tmp_path):
    tokenizer = tmp_path / "gpt2.tiktoken"
    assert call("convert", "gpt2", "-o", tokenizer, "--format", "tiktoken", "-q").status == 0
    refused = call("inspect", tokenizer, "--html", tmp_path / "x.html")
    assert refused.err == error("--html needs a text, and none is given", "give one with -T TEXT")
    refused = call("inspect", *GPT2, "-T", "a", "--nbest", "2", "--svg", tmp_path / "x.svg")
    assert refused.err == error("--nbest and --svg are different views of a text", "ask for one at a time")
    assert not (tmp_path / "x.html").exists()


def test_the_picture_in_the_documentation_is_what_is_drawn(repository):
    text = 'Tokenizers split 谁, naïve and 12345 differently:\n\tif x == "café":  # 😀'
    drawn = call("inspect", *GPT2, "--ids", "--svg", "-", "-T", text).out
    assert (repository / "docs" / "example.svg").read_bytes() == drawn
