"""Scores that no model can add, or no file can tell apart: refused in every format, by the token's name."""

from __future__ import annotations

import json
import math
import struct
from array import array
from collections.abc import Callable

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.formats import dump, features, gguf, load, rehearse
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.gguf.container import ARRAY, F32, I32, STRING, encode, write
from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.formats.sentencepiece import llama2c, model, vocab
from bpe_cli.stages import ScoredBpe, Unigram
from bpe_cli.stages.spelling import BYTE_TEXTS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.every_format import put

PIECES = (b"<unk>", b"a", b"b", b"ab")


def as_model(score: float, *, kind: int) -> Tokenizer:
    written = b""
    for number, text in enumerate(PIECES):
        piece = wire.bytes_field(1, text) + wire.float_field(2, score if number == 3 else -float(number))
        written += wire.bytes_field(1, piece + (wire.varint_field(3, 2) if not number else b""))
    return model.loads(written + wire.bytes_field(2, wire.varint_field(3, kind)))


def as_vocab(score: float) -> Tokenizer:
    return vocab.loads(b"<unk>\t0\na\t-1\nb\t-2\nab\t%s\n" % f"{score:.17g}".encode())


def as_gguf(score: float, *, kind: bytes) -> Tokenizer:
    tokens = [*PIECES, *BYTE_TEXTS]
    return gguf.loads(
        write(
            [
                ("tokenizer.ggml.model", encode(STRING, kind)),
                ("tokenizer.ggml.tokens", encode(ARRAY, tokens, STRING)),
                ("tokenizer.ggml.scores", encode(ARRAY, array("f", [0, -1, -2, score] + [0] * 256), F32)),
                ("tokenizer.ggml.token_type", encode(ARRAY, array("i", [2, 1, 1, 1] + [6] * 256), I32)),
                ("tokenizer.ggml.unknown_token_id", encode(4, 0)),
                ("tokenizer.ggml.add_bos_token", encode(7, False)),
                ("tokenizer.ggml.add_eos_token", encode(7, False)),
            ]
        )
    )


def as_json(score: float | str, kind: str = "Unigram", **more: object) -> Tokenizer:
    vocabulary = [["<unk>", 0], ["a", -1], ["b", -2], ["ab", "SCORE"]]
    content = {"model": {"type": kind, "unk_id": 0, "vocab": vocabulary, **more}, "added_tokens": [
        {"id": 0, "content": "<unk>", "special": True}]}  # fmt: skip
    return tokenizer_json.loads(json.dumps(content).replace('"SCORE"', str(score)).encode())


def as_llama2c(score: float) -> Tokenizer:
    head = [b"<unk>", b"\n<s>\n", b"\n</s>\n", *BYTE_TEXTS]
    out = struct.pack("<i", 6)
    for text, number in [(text, 0.0) for text in head] + [(b"a", -1.0), (b"b", -2.0), (b"ab", score)]:
        out += struct.pack("<fi", number, len(text)) + text
    return llama2c.loads(out)


READERS: dict[str, Callable[[float], Tokenizer]] = {
    "unigram .model": lambda score: as_model(score, kind=1),
    "BPE .model": lambda score: as_model(score, kind=2),
    ".vocab": as_vocab,
    "llama GGUF": lambda score: as_gguf(score, kind=b"llama"),
    "t5 GGUF": lambda score: as_gguf(score, kind=b"t5"),
    "tokenizer.bin": as_llama2c,
}


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("name", READERS)
def test_what_is_not_finite_is_refused_by_the_tokens_name(name, score):
    with pytest.raises(FormatError, match=r'"ab",? is .*not a finite number'):
        READERS[name](score)


@pytest.mark.parametrize(
    "score", ["1e999", "-1e999", "1" + "0" * 400, "NaN", "Infinity", "-Infinity", '"1"', "null", "true"]
)
@pytest.mark.parametrize("kind", ["Unigram", "ScoredBpe"])
def test_json_has_no_such_numbers(kind, score):
    with pytest.raises(FormatError):
        as_json(score, kind)


def test_numbers_that_single_precision_has_no_room_for():
    for read in (as_vocab, lambda score: as_json(score, single_precision=True)):
        with pytest.raises(FormatError, match=r'"ab",? is .*too large for single precision'):
            read(1e300)


ODD = [0.0, -0.0, 1e-45, -1e-45, 1.1754942e-38, -3.4e38, 3.4e38, -0.1, 16777217.0, -1e6, -1234567.0, 2.0**-126]


@pytest.mark.parametrize("score", ODD)
@pytest.mark.parametrize("name", [*READERS, "tokenizer.json", "ScoredBpe"])
def test_other_numbers_run_and_are_written_back_exactly_or_refused(name, score, tmp_path):
    readers = READERS | {"tokenizer.json": as_json, "ScoredBpe": lambda score: as_json(score, "ScoredBpe")}
    tokenizer = readers[name](score)
    texts = ["ab", "abab", "a b", "ba", "aab", "abb x"]
    expected = [tokenizer.encode(text) for text in texts]
    written = 0
    for format_name in ("bpe.json", "tokenizer.json", "sentencepiece", "sentencepiece-vocab", "gguf", "llama2c"):
        try:
            files = dump(tokenizer, format_name)
        except FormatError:
            continue
        again = load(put(files, tmp_path / format_name))
        assert [again.encode(text) for text in texts] == expected, format_name
        assert rehearse(again, format_name) == files  # which are verified
        if format_name == "bpe.json":
            assert isinstance(again.model, (ScoredBpe, Unigram))
            assert list(map(math.copysign, [1.0] * 4, again.model.scores)) == list(
                map(math.copysign, [1.0] * 4, tokenizer.model.scores)
            )
            assert again.model.scores == tokenizer.model.scores
        written += 1
    assert written, "no format holds it"


def test_scores_that_single_precision_makes_equal():
    vocabulary = Vocabulary.from_tokens([b"", b"a", b"b", b"ab", b"ba"])
    close = ScoredBpe(vocabulary, array("d", [0, -1, -2, -3.00000001, -3.00000002]), 0)
    with pytest.raises(FormatError, match=r'those of "ba" \(id 4\) and "ab" \(id 3\) are equal') as caught:
        features.check_order(close, "a GGUF file")
    assert "bpe.json" in str(caught.value.hint)
    features.check_order(ScoredBpe(vocabulary, array("d", [0, -1, -2, -3.1, -3.2]), 0), "a GGUF file")
    features.check_order(ScoredBpe(vocabulary, array("d", [0, -1, -2, -3.1, -3.1]), 0), "a GGUF file")
    with pytest.raises(FormatError, match="too large for single precision"):
        features.check_order(ScoredBpe(vocabulary, array("d", [0, -1, -2, -3e300, -3]), 0), "a GGUF file")
