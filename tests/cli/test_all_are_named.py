"""What is wrong with several values of an option is said of all of them at once."""

from __future__ import annotations

import pytest

from tests.cli_runner import call, error

TEXT = ("-T", "hi")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("encode", *TEXT, "--special", "<a>", "--special", "<b>"), ("'<a>'", "'<b>'")),
        (("encode", *TEXT, "--add-special", "a", "--add-special", "b"), ("'a'", "'b'")),
        (("encode", *TEXT, "--to", "jsonl", "--with", "tokens,words,bytes"), ("words", "bytes")),
        (("compare", *TEXT, "--metric", "tokns", "--metric", "bites"), ("'tokns'", "'bites'")),
        (("compare", *TEXT, "-t", "nosuch.json", "-t", "neither.json"), ("nosuch.json", "neither.json")),
        (("compare", *TEXT, "--fail-if", "tokns < 1", "--fail-if", "bites < 1"), ("tokns", "bites")),
        (("compare", *TEXT, "--fail-if", "x: tokens < 1", "--fail-if", "y: tokens < 1"), ("'x'", "'y'")),
        (("compare", *TEXT, "--max-regression", "a", "--max-regression", "b"), ("'a'", "'b'")),
        (("convert", "gpt2", "-o", "x.tiktoken", "--allow-loss", "one,two"), ("'one'", "'two'")),
        (("train", *TEXT, "-a", "bpe", "-s", "9", "--normalizer", "nfx,nfc,low"), ("'nfx'", "'low'")),
        (("train", *TEXT, "-a", "bpe", "-s", "9", "--pre-tokenizer", "bart,digits,x"), ("'bart'", "'x'")),
        (("train", *TEXT, "-a", "bpe", "-s", "9", "--set", "a=1", "--set", "b=2"), ("'a'", "'b'")),
    ],
    ids=lambda value: " ".join(value),
)
def test_all_are_named(tmp_path, arguments, told):
    result = call(*arguments, cwd=tmp_path)
    assert (result.status, result.out) == (2, b"")
    first = result.err.split("\n")[0]
    assert all(name in first for name in told), first
    assert list(tmp_path.iterdir()) == []


def test_special_tokens_that_are_none():
    result = call("encode", *TEXT, "-t", "gpt2", "--special", "<|endoftxt|>", "--special", "<b>")
    assert result.err == error("'<|endoftxt|>', '<b>' are not special tokens of this tokenizer", "it has <|endoftext|>")
