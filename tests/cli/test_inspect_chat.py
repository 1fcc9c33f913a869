"""``bpe inspect --chat``."""

from __future__ import annotations

import json

import pytest

from tests.cli_runner import call, error
from tests.unit.views.page.reading import Page

TALK = '[{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi <|im_end|> <b>"}]'
CHAT = ("inspect", "--chat", "-T", TALK, "-t", "gpt-3.5-turbo")


def test_message_by_message():
    assert call(*CHAT).text.split("\n") == [
        "message 0  system  7 tokens: 2 of its text, 2 special",
        "⟦<\\|im_start\\|>⟧|system|⏎|",
        "be|·brief|⟦<\\|im_end\\|>⟧|⏎",
        "",
        "message 1  user  14 tokens: 9 of its text, 2 special",
        "⟦<\\|im_start\\|>⟧|user|⏎|",
        "hi|·<\\||im|_end|\\||>|·<|b|>|⟦<\\|im_end\\|>⟧|⏎",
        "",
        "generation prompt  3 tokens: 1 special",
        "⟦<\\|im_start\\|>⟧|assistant|⏎",
        "",
        "24 tokens: 11 of the messages' text, 13 of the layout gpt-3.5; 5 special, 105 bytes",
        "",
    ]


def test_json_and_several(tmp_path):
    report = json.loads(call(*CHAT, "--json", "--no-generation-prompt").out)
    assert report["schema"] == "bpe.inspect.chat/1"
    assert [part["kind"] for part in report["parts"]] == ["messages", "messages"]
    assert report["token_count"] == sum(len(part["tokens"]) for part in report["parts"]) == 21
    assert [token["special"] for token in report["parts"][0]["tokens"]].count(True) == 2
    (tmp_path / "talks.jsonl").write_text(f"{TALK}\n\n{TALK}\n")
    several = ("inspect", "--chat", "--jsonl", "talks.jsonl", "-t", "gpt-3.5-turbo")
    reports = json.loads(call(*several, "--json", cwd=tmp_path).out)
    assert reports["schema"] == "bpe.inspect.chats/1"
    assert [(each["input"], each["document"], each["token_count"]) for each in reports["texts"]] == [
        ("talks.jsonl", 1, 24), ("talks.jsonl", 3, 24),
    ]  # fmt: skip
    shown = call(*several, cwd=tmp_path).text
    assert "==> talks.jsonl:1 <==\n" in shown
    assert "\n==> talks.jsonl:3 <==\n" in shown


def test_a_name_is_shown_as_it_is(tmp_path):
    """What looks like the code of an emoji is none."""
    name = ":bug: [bold].jsonl"
    (tmp_path / name).write_text('[{"role": "user", "content": "hi"}]\n' * 2)
    shown = call("inspect", "--chat", "--jsonl", name, "-t", "gpt-4", cwd=tmp_path).text
    assert [line for line in shown.splitlines() if line.startswith("==>")] == [
        f"==> {name}:{number} <==" for number in (1, 2)
    ]


def test_as_many_as_encode_counts():
    counted = call("encode", "--chat", "-T", TALK, "-t", "gpt-3.5-turbo", "--to", "jsonl")
    ids = json.loads(counted.out)["ids"]
    report = json.loads(call(*CHAT, "--json").out)
    assert [token["id"] for part in report["parts"] for token in part["tokens"]] == ids


def test_nothing():
    done = call("inspect", "--chat", "-T", "[]", "-t", "gpt-3.5-turbo", "--no-generation-prompt")
    assert done == (0, b"0 tokens: 0 of the messages' text, 0 of the layout gpt-3.5; 0 special, 0 bytes\n", "")


def test_a_page(tmp_path):
    done = call(*CHAT, "--html", "chat.html", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, b"", "wrote chat.html\n")
    text = (tmp_path / "chat.html").read_text(encoding="utf-8")
    page = Page(text)
    assert [name for name, _ in page.elements].count("section") == 3
    assert b"".join(page.texts).startswith(b"<|im_start|>system\nbe brief")
    assert "message 1  user" in text
    assert "<b>" not in text.partition("<main>")[2].partition("</main>")[0].replace('<b class="', "")


def test_hostile_roles():
    talk = json.dumps([{"role": "\x1b[2J<b>", "content": "x"}])
    options = ("-t", "gpt-3.5-turbo", "--chat-template", "gpt-3.5")
    done = call("inspect", "--chat", "-T", talk, *options)
    assert "\x1b" not in done.text
    page = call("inspect", "--chat", "-T", talk, *options, "--html", "-").text
    assert "\x1b" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize("option", ["--steps", "--stages", "--table", "--nbest 3", "--svg x.svg"])
def test_other_views_are_refused(option, tmp_path):
    name = option.split()[0]
    assert call(*CHAT, *option.split(), cwd=tmp_path) == (
        2, b"", error(f"{name} is not for conversations", "bpe encode --chat --to text writes their text"),
    )  # fmt: skip


def test_options_of_conversations_need_them():
    told = "--chat-template, --generation-prompt, --tools and --date are for conversations only"
    assert call("inspect", "-T", "a", "-t", "gpt2", "--chat-template", "chatml") == (
        2, b"", error(told, "--chat reads them"),
    )  # fmt: skip
    done = call("inspect", "--chat", "-T", "hello", "-t", "gpt-3.5-turbo")
    assert done.status == 2
    assert "invalid JSON" in done.err
