"""The calls do what the jobs and the operations do, and refuse what would harm."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from pathlib import Path

import pytest

import bpe_cli
from bpe_cli import surgery
from bpe_cli.errors import UsageError
from bpe_cli.stages import SpecialToken
from tests.cli_runner import call

GPT2 = bpe_cli.load("gpt2")
TEXT = "hello world\nnaïve 你好\n\nhello\n"


@pytest.fixture(autouse=True)
def text(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("text.txt")
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["ids", "tokens", "jsonl", "npy", "bin", "count"])
def test_files_are_those_of_the_command(kind, text):
    call("encode", text, "-t", "gpt2", "--lines", "--eot", "auto", "--to", kind, "-o", f"command.{kind}", "-q")
    done = bpe_cli.encode_files(GPT2, text, f"call.{kind}", to=kind, documents="lines", eot="auto", threads=1)
    assert Path(f"call.{kind}").read_bytes() == Path(f"command.{kind}").read_bytes()
    assert (done.documents, done.tokens) == (4, GPT2.count(TEXT) - TEXT.count("\n") + 4) or kind == "count"


@pytest.mark.parametrize("kind", ["ids", "jsonl", "npy", "bin"])
@pytest.mark.parametrize("output", [Path, str])
def test_there_and_back(kind, output, text):
    bpe_cli.encode_files("gpt2", [text], output(f"x.{kind}"), to=kind)
    back = io.BytesIO()
    bpe_cli.decode_files(GPT2, f"x.{kind}", back, format=kind)
    assert back.getvalue() == TEXT.encode()


@pytest.mark.parametrize("same", ["text.txt", Path("text.txt"), "./text.txt"])
def test_no_input_is_replaced(same, text):
    with pytest.raises(UsageError, match="would replace"):
        bpe_cli.encode_files(GPT2, text, same)
    assert text.read_text(encoding="utf-8") == TEXT


def test_a_tokenizer_by_its_path_is_not_replaced(text):
    GPT2.save("own.txt", "bpe.json")
    with pytest.raises(UsageError, match="would replace the tokenizer"):
        bpe_cli.encode_files(Path("own.txt"), text, "own.txt")
    bpe_cli.encode_files("own.txt", text, "ids.txt")
    with pytest.raises(UsageError, match="would replace the tokenizer"):
        bpe_cli.decode_files("own.txt", "ids.txt", "own.txt")


def test_no_files_are_an_error_and_not_stdin():
    with pytest.raises(UsageError, match="files is empty"):
        bpe_cli.encode_files(GPT2, [], "x.npy")


def test_a_listener_hears_of_all(text):
    class Heard:
        def __init__(self) -> None:
            self.tasks: list[tuple[str, int | None, int]] = []

        def note(self, message: str) -> None:
            raise AssertionError(message)

        @contextmanager
        def task(self, what, total, unit="B"):
            amounts: list[int] = []
            yield amounts.append
            self.tasks.append((what, total, sum(amounts)))

    heard, size = Heard(), len(TEXT.encode())
    bpe_cli.encode_files(GPT2, text, "x.npy", listener=heard)
    bpe_cli.prune(GPT2, text, 1000, listener=heard)
    assert [(what, total) for what, total, _ in heard.tasks] == [
        ("encoding", size), ("counting", size), ("pruning", 50257 - 1000),
    ]  # fmt: skip
    assert [done for _, _, done in heard.tasks[:2]] == [size, size]


def test_changes_are_those_of_surgery(text):
    by_call = bpe_cli.add_tokens("gpt2", ["<a>", b"<b>", SpecialToken(b"<c>", 7)])
    tokens = [SpecialToken(each, 0, special=False, normalized=True) for each in (b"<a>", b"<b>")]
    assert by_call == surgery.add_tokens(GPT2, [*tokens, SpecialToken(b"<c>", 7)])
    assert bpe_cli.merge("gpt2", "p50k_base") == surgery.merge(GPT2, bpe_cli.load("p50k_base"))
    assert bpe_cli.prune(GPT2, text, 1000) == bpe_cli.prune(GPT2, TEXT, 1000)
    call(
        "convert",
        "gpt2",
        "-o",
        "longer.bpe.json",
        "--extend",
        text,
        "--vocab-size",
        "50258",
        "-q",
        "--format",
        "bpe.json",
    )
    extended = bpe_cli.extend(GPT2, text, 50258)
    assert bpe_cli.dump(extended.tokenizer, "bpe.json")[""] == Path("longer.bpe.json").read_bytes()
    assert json.loads(extended.id_map()) == json.loads(Path("longer.bpe.json.ids.json").read_bytes())
