"""``bpe inspect``: a text token by token, and a tokenizer by itself."""

from __future__ import annotations

import json
import os

import pytest

from tests.cli_runner import call, check_golden, error, run, run_in_terminal
from tests.thorough import more

GPT2 = ("-t", "gpt2")
TEXT = "naïve  你是谁\t<|endoftext|>\n"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("text", ()),
        ("text-special", ("--special", "all")),
        ("text-ids", ("--ids",)),
        ("text-color", ("--color", "always")),
        ("text-ids-color", ("--color", "always", "--ids")),
        ("text-notes", ("--ids", "--spans")),
        ("text-table", ("--table",)),
        ("text-stages", ("--stages",)),
        ("text-stages-json", ("--stages", "--json")),
        ("text-json", ("--json",)),
    ],
)
def test_a_text(name, options):
    result = call("inspect", *GPT2, "-T", TEXT, *options)
    assert (result.status, result.err) == (0, "")
    check_golden(f"inspect-{name}.txt", result.out)


def test_json_of_a_text():
    report = json.loads(call("inspect", *GPT2, "-T", "a 你", "--json").out)
    assert list(report) == [
        "schema", "tokenizer", "token_count", "byte_count", "character_count", "bytes_per_token",
        "characters_per_token", "round_trip", "differs_at", "tokens", "split", "warnings",
    ]  # fmt: skip
    assert report["schema"] == "bpe.inspect.text/1"
    assert [(token["id"], token["bytes"]) for token in report["tokens"]] == [
        (64, [0, 1]), (220, [1, 2]), (19526, [2, 4]), (254, [4, 5]),
    ]  # fmt: skip
    assert report["split"] == [{"text": "你", "tokens": [2, 4], "contents": ["e4bd", "a0"]}]


@pytest.mark.parametrize("options", [(), ("--section=all",), ("--full",), ("--json",)])
def test_a_tokenizer(options, tmp_path):
    trained = ("--pattern", "gpt2", "--special", "<s>", "-s", "262", "-o", "t.json", "-q")
    assert call("train", *trained, input=b"low lower lowest newest " * 3, cwd=tmp_path) == (0, b"", "")
    result = call("inspect", "-t", "t.json", *options, cwd=tmp_path)
    assert (result.status, result.err) == (0, "")
    check_golden(f"inspect-tokenizer{''.join(options).replace('--', '-').replace('=', '-')}.txt", result.out)


def test_a_tokenizer_where_a_text_would_be(tmp_path):
    trained = ("--pattern", "gpt2", "-s", "262", "-o", "t.json", "-q")
    assert call("train", *trained, input=b"low lower lowest newest " * 3, cwd=tmp_path) == (0, b"", "")
    named = call("inspect", "-t", "t.json", cwd=tmp_path)
    assert run("inspect", "t.json", input=b"", cwd=tmp_path) == named, "an empty stdin is not text"
    assert run("inspect", "t.json", input=b"a text", cwd=tmp_path) == named
    as_text = call("inspect", "t.json", "-t", "gpt2", cwd=tmp_path)
    assert as_text.status == 0
    assert as_text.out != named.out
    (tmp_path / "notes.txt").write_text("low lower")
    assert call("inspect", "notes.txt", cwd=tmp_path).text.startswith("low|·lower")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.json", b'{"version":"1.0","trunc'),
        ("notes.txt", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"),
        ("notes", b"GGUF\x03\0\0\0"),
        ("folder/tokenizer.json", b"not this"),
        *((name, b"low lower") for name in ("x.model", "x.gguf", "x.tiktoken", "x.bpe", "x.bin", "merges.txt")),
        *((name, b"") for name in ("tokenizer.json", "tokenizer_v2.json", "vocab.json", "tekken.json")),
        ("broken.json", b'{"version": "1.0", "added_tokens": [{"id": 1'),
    ],
)
def test_a_broken_tokenizer_is_not_shown_as_a_text(name, content, tmp_path):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    path = name.partition("/")[0]
    result = call("inspect", path, cwd=tmp_path)
    assert (result.status, result.out) == (2, b"")
    assert name in result.err
    assert "to see it as text, name a tokenizer with -t\n" in result.err
    assert call("inspect", path, "-t", "gpt2", cwd=tmp_path).status == 0


@pytest.mark.parametrize("first", ['"id": 7, ', ""])
def test_json_lines_are_not_taken_for_a_tokenizer(first, tmp_path):
    """GPT-2's vocabulary is an object of numbers, too."""
    (tmp_path / "x.jsonl").write_text(f'{{{first}"de": "Uhr"}}\n{{{first}"de": "neu"}}\n', "utf-8")
    done = call("inspect", "x.jsonl", cwd=tmp_path)
    assert (done.status, done.err.split(" which")[0]) == (2, "error: x.jsonl holds JSON lines,")
    for named in ((), ("-t", "o200k_base")):
        done = call("inspect", "x.jsonl", "--jsonl", "--field", "de", *named, cwd=tmp_path)
        assert (done.status, done.text.split("\n")[:2]) == (0, ["==> x.jsonl:1 <==", "U|hr"])


def test_texts_are_shown_whatever_they_are_about(tmp_path):
    (tmp_path / "texts").mkdir()
    for name, content in {"a.json": b'{"version": "1.0"}', "b.txt": b'{"version": "2', "texts/c.txt": b"low"}.items():
        (tmp_path / name).write_bytes(content)
        assert call("inspect", name.partition("/")[0], cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    "name",
    [None, *more([], ["gpt2", "p50k_edit", "cl100k_base", "r50k_base", "p50k_base", "o200k_harmony"])],
)
def test_named_tokenizers(name):
    """Without a name, and with nobody who feeds stdin, it is the usual one."""
    result = run("inspect", "--json") if name is None else call("inspect", "-t", name, "--json")
    assert (result.status, result.err) == (0, "")
    report = json.loads(result.out)
    assert (report["schema"], report["name"]) == ("bpe.inspect.tokenizer/1", name or "o200k_base")
    assert report["bytes_without_token"] == []
    assert [pattern["fast"] for pattern in report["patterns"]] == [True]


def test_a_pipe_is_a_text():
    assert run("inspect", *GPT2, input=b"hi") == call("inspect", *GPT2, "-T", "hi")
    assert run("inspect", *GPT2, input=b"").text == "\n0 tokens, 0 characters\n0 bytes, round trip ok\n"


def test_a_pipe_with_a_name_is_read_once():
    """Whether there are ids in it is not asked: what is read for that would be missing in the text."""
    reading, writing = os.pipe()
    os.write(writing, b"hello world")
    os.close(writing)
    shown = call("inspect", f"/dev/fd/{reading}", *GPT2)
    os.close(reading)
    assert shown == call("inspect", *GPT2, "-T", "hello world")


def test_every_document(tmp_path):
    assert call("inspect", *GPT2, "--lines", "-", input=b"a\n\nb\n").text == (
        "==> stdin:1 <==\n"
        "a\n\n64\n\n1 token, 1 character\n1 byte, 1.00 bytes/token, 1.00 characters/token, round trip ok\n\n"
        "==> stdin:2 <== empty\n\n"
        "==> stdin:3 <==\n"
        "b\n\n65\n\n1 token, 1 character\n1 byte, 1.00 bytes/token, 1.00 characters/token, round trip ok\n"
    )
    (tmp_path / "x.txt").write_bytes(b"x")
    (tmp_path / "y.txt").write_bytes(b"y")
    both = ("inspect", *GPT2, "x.txt", "y.txt")
    titles = [line for line in call(*both, cwd=tmp_path).text.split("\n") if line.startswith("==>")]
    assert titles == ["==> x.txt <==", "==> y.txt <=="]
    texts = json.loads(call(*both, "--json", cwd=tmp_path).out)["texts"]
    assert [(text["input"], text["document"]) for text in texts] == [("x.txt", 1), ("y.txt", 1)]
    texts = json.loads(call("inspect", *GPT2, "--lines", "-", "--json", input=b"a\nb").out)["texts"]
    assert [(text["input"], text["document"]) for text in texts] == [("stdin", 1), ("stdin", 2)]
    assert "<h2>y.txt</h2>" in call(*both, "--html", "-", cwd=tmp_path).text
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.dat").write_bytes(b"\0")
    (tmp_path / "in" / "b.txt").write_bytes(b"a")
    result = call("inspect", *GPT2, "in", cwd=tmp_path)
    assert result.err == "note: in/a.dat skipped: it looks binary (NUL at byte 0)\n"
    assert result.text.startswith("a\n\n64\n")
    assert call("inspect", *GPT2, "in", "-q", cwd=tmp_path).err == ""


def test_what_is_added_and_what_is_asked_for(tmp_path):
    added = ("--add-special", "<x>=50300", "--special", "<x>")
    assert "50300" in call("inspect", *GPT2, "-T", "<x>", *added).text
    assert call("train", "-T", "low", "-s", "257", "--special", "<s>", "-o", "t.json", "-q", cwd=tmp_path).status == 0
    assert json.loads(call("inspect", "t.json", *added[:2], "--json", cwd=tmp_path).out)["special_count"] == 2


def test_refusing_is_for_encode():
    assert call("inspect", *GPT2, "-T", "a", "--special", "error") == (
        2, b"", error("--special error is for encode: inspect shows where special tokens would be"),
    )  # fmt: skip


def test_too_long_a_text(tmp_path):
    with (tmp_path / "long").open("wb") as file:
        file.truncate((16 << 20) + 1)
    assert call("inspect", *GPT2, "-q", "long", cwd=tmp_path) == (
        2, b"", error(
            "the text is longer than the 16 MiB that can be shown",
            "show a part of it (head -c 100000), or use bpe encode or bpe compare",
        ),
    )  # fmt: skip


def test_hostile_text_moves_no_cursor():
    result = call("inspect", *GPT2, "-T", "\x1b[2J\u202eevil\r\x07", "--color", "never")
    assert result.status == 0
    assert not set(result.text) & set("\x1b\u202e\r\x07")


def test_tokens_from_the_right_keep_their_place_on_terminals_only():
    text = ("inspect", "-t", "o200k_base", "-T", "שלום עולם")
    status, shown = run_in_terminal(*text, env={"TERM": "dumb"})
    assert status == 0
    assert shown.startswith("\u200eשלום\u200e|·עולם\n")
    assert call(*text).text.startswith("שלום|·עולם\n")


@pytest.mark.parametrize("option", ["--ids", "--spans", "--scores", "--table", "--stages"])
def test_options_that_need_a_text(option):
    assert call("inspect", *GPT2, option) == (
        2, b"", error(f"{option} needs a text, and none is given", "give one with -T TEXT"),
    )  # fmt: skip


def test_no_id_is_cut_off():
    """A number that is wider than the screen goes over its edge."""
    shown = call("inspect", "-t", "o200k_base", "-T", " 东京", "--ids", env={"COLUMNS": "4"}).text
    assert shown.splitlines()[:2] == ["·东", "164007"]


def test_no_character_of_two_columns_is_left_out():
    """Not even where there is one column; the warning names them, too."""
    one, many = (call("inspect", *GPT2, "-T", "东 京", env={"COLUMNS": each}).text for each in ("1", "1000"))
    for character in "东京":
        assert one.count(character) == many.count(character) == 2


def test_notes_that_there_are_not():
    assert call("inspect", *GPT2, "-T", "a", "--scores") == (
        2, b"", error(
            "tokens have scores in unigram models and in SentencePiece's BPE, and this is bpe-ranks",
            "leave out --scores; the ids of merges (--ids) say which came first",
        ),
    )  # fmt: skip
    assert call("inspect", *GPT2, "-T", "a", "--nbest", "2", "--stages").err == error(
        "--nbest and --stages are different views of a text", "ask for one at a time"
    )


@pytest.mark.parametrize("command", ["inspect", "compare"])
def test_the_help_offers_no_special_that_is_refused(command):
    assert "all|error|TEXT" not in call(command, "--help", "--all").text
    assert "all|error|TEXT" in call("encode", "--help").text
    assert call(command, "-t", "gpt2", "-T", "a", "--special", "error").status == 2


def test_stages_of_a_long_text_are_refused_first(monkeypatch):
    from bpe_cli.reports.text.segmentation import TextReader

    monkeypatch.setattr(TextReader, "segment", lambda *_: pytest.fail("the work began"))
    result = call("inspect", *GPT2, "--stages", "-", input=b"a" * ((1 << 20) + 1))
    assert result.err == error(
        "the text is longer than the 1 MiB whose stages can be shown", "show a part of it (head -c 100000)"
    )


def test_of_a_long_text_the_first_tokens_and_all_totals():
    shown = call("inspect", *GPT2, "-", input=b"ab " * 3000).text
    assert "and 2,001 more tokens\n" in shown
    assert "\n3,001 tokens, 9,000 characters\n9,000 bytes, 3.00 bytes/token" in shown
    page = call("inspect", *GPT2, "-", "--html", "-", input=b"ab " * 3000).text
    assert "and 2,001 more tokens; --full shows all" in page
    picture = call("inspect", *GPT2, "-", "--svg", "-", input=b"ab " * 3000).text
    assert "3,001 tokens by gpt2" in picture
    assert len(json.loads(call("inspect", *GPT2, "-", "--json", input=b"ab " * 3000).out)["tokens"]) == 3001
    assert "more token" not in call("inspect", *GPT2, "-", "--full", input=b"ab " * 3000).text


def test_a_boundary_before_a_combining_mark_shows_the_mark():
    shown = call("inspect", "-T", "รัก e\u0301 谁", "-t", "cl100k_base").text
    assert shown.startswith("รั⟨ร|◌ั⟩|ก|·e\u0301⟨e|◌\u0301⟩|·谁⟨e8|b0|81⟩\n")
    assert call("inspect", "-T", "◌\u0301", "-t", "cl100k_base").text.startswith("\\◌")
