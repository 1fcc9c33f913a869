"""Read and write the ``tokenizer.bin`` of llama2.c: the pieces and scores of a Llama model, for a C program.

Layout: i32 length of the longest token, then per id an f32 score, an i32 length and so many bytes, all
little-endian. Blanks are blanks here, not marks. The file says nothing else: that the first ids are
``<unk>``, the beginning, the end and 256 bytes, that one blank is put before a text and that nothing is
normalized stands in the program (``run.c``), and so in what is read.
"""

from __future__ import annotations

import struct

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import dialects, features
from bpe_cli.formats.read_file import reader_of
from bpe_cli.formats.sentencepiece import BPE
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.formats.sentencepiece import writing as sentencepiece_writing
from bpe_cli.stages import SpaceMarks
from bpe_cli.stages.spelling import BYTE, CONTROL, MARK, NORMAL, UNKNOWN, byte_text
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin

NAME = "llama2c"
FILES = ("tokenizer.bin",)
MODELS = frozenset({"bpe-scores", "bpe-characters"})
HOLDS = frozenset({"ids", "normalizer", "decoder", "special-tokens", "sentencepiece-edges", "roles"})
ROLES = {"unk": "<unk>", "bos": "<s>", "eos": "</s>"}
"""The roles that the first three tokens have."""

NAMES = ((b"<unk>", b"<unk>", UNKNOWN), (b"\n<s>\n", b"<s>", CONTROL), (b"\n</s>\n", b"</s>", CONTROL))
"""The first pieces: as they are written, as the model has them, and their types."""

NORMALIZER = SpaceMarks(remove_extra_whitespaces=False)
"""What the program does to text."""

_HEAD = struct.Struct("<i")
_ENTRY = struct.Struct("<fi")


def sniff(head: bytes) -> bool:
    """Return whether a file begins like a ``tokenizer.bin``: with a length, and the three pieces of each."""
    place = _HEAD.size
    for written, _, _ in NAMES:
        if len(head) < place + _ENTRY.size:
            return False
        _, length = _ENTRY.unpack_from(head, place)
        place += _ENTRY.size + len(written)
        if length != len(written) or head[place - length : place] != written:
            return False
    return True


def loads(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the content of a ``tokenizer.bin``."""
    if len(data) < _HEAD.size:
        raise FormatError(f"{source}: cut short at byte {len(data)}")
    (longest,) = _HEAD.unpack_from(data)
    place = _HEAD.size
    pieces: list[sentencepiece_writing.Piece] = []
    while place < len(data):
        number = len(pieces)
        if number >= _core.MAX_TOKENS:
            raise FormatError(f"{source} has more than {_core.MAX_TOKENS:,} tokens")
        if len(data) - place < _ENTRY.size:
            raise FormatError(f"{source}: token {number} is cut short at byte {len(data)}")
        score, length = _ENTRY.unpack_from(data, place)
        place += _ENTRY.size
        if not 0 < length <= min(longest, len(data) - place):
            raise FormatError(
                f"{source}: token {number} at byte {place} is said to have {length:,} bytes; "
                f"{len(data) - place:,} are left, and the longest is said to have {longest:,}"
            )
        pieces.append(_piece(number, data[place : place + length], score, source))
        place += length
    if len(pieces) < len(NAMES) + 256:
        raise FormatError(f"{source} has {len(pieces)} tokens, fewer than three and one for each byte")
    origin = Origin(NAME, (("max_token_length", longest),))
    return sentencepiece_model.assemble(pieces, {3: BPE, 35: 1}, {4: 0}, source, origin)


load = reader_of(loads, "is for text that is not split")


def _piece(number: int, text: bytes, score: float, source: str) -> sentencepiece_writing.Piece:
    """Read a piece by its place."""
    kind = NORMAL
    if number < len(NAMES) + 256:
        named = number < len(NAMES)
        expected, given, kind = NAMES[number] if named else (byte_text(number - 3), byte_text(number - 3), BYTE)
        if text != expected:
            raise FormatError(f"{source}: token {number} is {quote(text)}, and llama2.c has {quote(expected)} there")
        return given, score, kind
    try:
        return text.decode().replace(" ", MARK).encode(), score, kind
    except UnicodeDecodeError:
        raise FormatError(f"{source}: token {number} is not UTF-8: {quote(text)}") from None


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer as a ``tokenizer.bin``, as llama2.c's own exporter does."""
    if tokenizer.model.kind not in MODELS:
        hint = "it holds what Llama 2 has: SentencePiece's BPE with tokens for all bytes"
        raise features.other_model(tokenizer.model, MODELS, "a tokenizer.bin of llama2.c", hint)
    translated, edges = dialects.to_sentencepiece(tokenizer)
    lost = features.losses(translated, HOLDS) | edges
    if translated.normalizer != (NORMALIZER,):
        lost["normalizer"] = "a normalizer that does more or less than put one blank before the text"
    pieces = sentencepiece_writing.pieces_of(translated)
    first = [(given, kind) for _, given, kind in NAMES] + [(byte_text(byte), BYTE) for byte in range(256)]
    for number, ((text, _, kind), (expected, _)) in enumerate(zip(pieces, first, strict=False)):
        if (text, kind) != first[number]:
            raise FormatError(
                f"a tokenizer.bin of llama2.c has {quote(expected)} as token {number}, and this tokenizer {quote(text)}"
            )
    if len(pieces) < len(first):
        raise FormatError("a tokenizer.bin of llama2.c needs <unk>, <s>, </s> and a token for each byte")
    others = [text for text, _, kind in pieces[len(first) :] if kind != NORMAL]
    if others:
        lost["special-tokens"] = f"types of further tokens ({len(others)}: {', '.join(map(quote, others[:3]))})"
    features.refuse_losses(lost, allow_loss, "a tokenizer.bin of llama2.c")
    written = [text for text, _, _ in NAMES]
    written += [text.decode().replace(MARK, " ").encode() for text, _, _ in pieces[len(NAMES) :]]
    out = [_HEAD.pack(max(map(len, written)))]
    for text, (_, score, _) in zip(written, pieces, strict=True):
        out += (_ENTRY.pack(score, len(text)), text)
    return {"": b"".join(out)}
