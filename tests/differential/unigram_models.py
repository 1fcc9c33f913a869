"""Unigram models of the rivals, as this project's core takes them."""

from __future__ import annotations

import struct
from array import array
from typing import Any

from bpe_cli import _core
from bpe_cli.stages import Unigram
from bpe_cli.stages.component_json import core_model
from bpe_cli.stages.vocabulary import Vocabulary
from tests.differential.protocol_buffers import fields

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def pipeline(model: Unigram) -> _core.Encoder:
    """Compile a model without any stages before it."""
    vocabulary = model.vocabulary
    return _core.Encoder(
        _core.Stages("{}"),
        core_model(model),
        (vocabulary.blob, vocabulary.ends),
        scores=model.scores,
        kinds=model.kinds or None,
    )


def encode(compiled: _core.Encoder, text: bytes) -> list[int]:
    """Return the ids of one text."""
    return list(memoryview(compiled.encode(text, array("Q", [len(text)]), None, 1)[0]))


def of_processor(processor: Any) -> Unigram:
    """Read a SentencePiece model piece by piece."""
    pieces = [piece_of(content) for number, content in fields(processor.serialized_model_proto()) if number == 1]
    kinds = bytes(kind for _, _, kind in pieces)
    return Unigram(
        Vocabulary.from_tokens(b"" if kind in (UNKNOWN, CONTROL) else text for text, _, kind in pieces),
        scores=array("d", (score for _, score, _ in pieces)),
        unk_id=processor.unk_id(),
        byte_fallback=BYTE in kinds,
        single_precision=True,
        kinds=kinds,
    )


def piece_of(message: bytes) -> tuple[bytes, float, int]:
    """Return a piece's text, score and type."""
    content = dict(fields(message))
    score = struct.unpack("<f", content.get(2, bytes(4)))[0]
    return content[1], score, int.from_bytes(content.get(3, b"\x01"), "little")
