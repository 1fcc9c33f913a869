"""Unigram models of the rivals, as this project's core takes them."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from typing import Any

from bpe_cli import _core
from bpe_cli.stages import Unigram
from bpe_cli.stages.component_json import core_model
from bpe_cli.vocabulary import Vocabulary

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def pipeline(model: Unigram) -> _core.Pipeline:
    """Compile a model without any stages before it."""
    vocabulary = model.vocabulary
    return _core.Pipeline(
        _core.Stages("{}"),
        core_model(model),
        blob=vocabulary.blob,
        ends=vocabulary.ends,
        scores=model.scores,
        kinds=model.kinds or None,
    )


def encode(compiled: _core.Pipeline, text: bytes) -> list[int]:
    """Give the ids of one text."""
    return list(memoryview(compiled.encode(text, array("Q", [len(text)]), None, 1)[0]))


def of_processor(processor: Any) -> Unigram:
    """Read a SentencePiece model piece by piece."""
    pieces = [_piece(content) for number, content in _fields(processor.serialized_model_proto()) if number == 1]
    kinds = bytes(kind for _, _, kind in pieces)
    return Unigram(
        Vocabulary.from_tokens(b"" if kind in (UNKNOWN, CONTROL) else text for text, _, kind in pieces),
        scores=array("d", (score for _, score, _ in pieces)),
        unk_id=processor.unk_id(),
        byte_fallback=BYTE in kinds,
        single_precision=True,
        kinds=kinds,
    )


def _piece(message: bytes) -> tuple[bytes, float, int]:
    """Give a piece's text, score and type."""
    content = dict(_fields(message))
    score = struct.unpack("<f", content.get(2, bytes(4)))[0]
    return content[1], score, int.from_bytes(content.get(3, b"\x01"), "little")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a protocol buffer: numbers and contents, a varint as little-endian bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
            yield key >> 3, value.to_bytes((value.bit_length() + 7) // 8 or 1, "little")
            continue
        length = {1: 8, 2: None, 5: 4}[key & 7]
        if length is None:
            length = varint()
        yield key >> 3, message[at : at + length]
        at += length
