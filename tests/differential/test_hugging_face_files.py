"""Real tokenizer.json files against what Hugging Face's library gives for them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from bpe_cli.formats import load
from bpe_cli.postprocess import affixes
from bpe_cli.tokenizer import Tokenizer
from tests.differential.texts import suite

FILES = ("clip", "falcon", "hf-llama3", "hf-qwen2_5", "phi-3-mini", "roberta-base", "t5-small", "whisper-tiny")


@cache
def tokenizer_of(folder: Path) -> Tokenizer:
    return load(folder / "tokenizer.json")


def expected(shared: Path, name: str) -> dict:
    return json.loads((shared / "expected" / "hf-tokenizers" / f"{name}.json").read_bytes())


def character_span(text: str, start: int, end: int) -> list[int]:
    """Give the characters that a byte span lies in."""
    data = text.encode("utf-8", "surrogatepass")
    first = len(data[:start].decode("utf-8", "ignore"))
    return [first, len(data[:end].decode("utf-8", "ignore")) + (not _at_border(data, end))]


def _at_border(data: bytes, offset: int) -> bool:
    return offset >= len(data) or data[offset] & 0xC0 != 0x80


@pytest.fixture(params=FILES)
def case(request, shared):
    folder = shared / "vocabs" / request.param
    if not (folder / "tokenizer.json").is_file():
        pytest.skip(f"needs ../shared/vocabs/{request.param}, which is not there")
    return tokenizer_of(folder), expected(shared, request.param), suite(shared)


def test_ids(case):
    tokenizer, reference, texts = case
    wrong = {
        name: (tokenizer.encode(texts[name], "all"), result["ids"])
        for name, result in reference["cases"].items()
        if tokenizer.encode(texts[name], "all") != result["ids"]
    }
    assert not wrong


def test_ids_with_special_tokens(case):
    tokenizer, reference, texts = case
    before, after = affixes(tokenizer.post_processor)
    for name, result in reference["cases"].items():
        ids = [*before, *tokenizer.encode(texts[name], "all"), *after]
        assert ids == result.get("with_special", result["ids"]), name


def test_offsets(case):
    """Byte spans, turned into characters, are Hugging Face's offsets, which leave blanks of byte-level
    tokens out where the file says so (``trim_offsets``)."""
    tokenizer, reference, texts = case
    trims = '"trim_offsets":true' in (tokenizer.post_processor or "").replace(" ", "")
    for name, result in reference["cases"].items():
        text = texts[name]
        found = [character_span(text, token.start, token.end) for token in tokenizer.tokens(text, "all")]
        wanted = result["offsets"]
        if trims:
            found = [_without_blanks(text, span) for span in found]
            wanted = [_without_blanks(text, span) for span in wanted]
        assert found == wanted, name


def _without_blanks(text: str, span: list[int]) -> list[int]:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [start, end] if start < end else [0, 0]


def test_decoded(case):
    """Where bytes are not UTF-8 ours are exact, and Hugging Face's are replaced by U+FFFD."""
    tokenizer, reference, texts = case
    for name, result in reference["cases"].items():
        decoded = tokenizer.decode(result["ids"]).decode("utf-8", "replace")
        assert decoded == result.get("decoded", texts[name]), name
