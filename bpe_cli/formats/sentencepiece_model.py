"""Read and write SentencePiece's ``.model``: pieces, how text is normalized, and what was trained.

The message is that of ``sentencepiece_model.proto``. Its normalizer becomes the stages ``Charsmap``
and ``SpaceMarks``; unigram, BPE, word and character models become ``Unigram``, ``ScoredBpe``,
``WordLevel`` behind a cut before each mark, and ``Unigram`` over characters.
"""

from __future__ import annotations

import base64
import struct
from array import array
from pathlib import Path

from bpe_cli import _core
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import wire
from bpe_cli.formats.checked import quote, read
from bpe_cli.stages import (
    Charsmap,
    Model,
    Normalizer,
    PreTokenizer,
    ScoredBpe,
    SpaceMarks,
    SpaceMarksDecoder,
    SpecialToken,
    Split,
    Unigram,
    WordLevel,
)
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.vocabulary import Vocabulary

NAME = "sentencepiece"
FILES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "*.model")
MODELS = frozenset({"bpe-scores", "unigram", "word-level"})
HOLDS = frozenset({"normalizer", "decoder", "special-tokens", "pattern", "pre-tokenizer"})

MARK = "▁"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4

UNK_SURFACE = " ⁇ "

WORDS = Split(MARK, "MergedWithNext", literal=True)
"""How a word model cuts: every mark begins a piece."""


# -- reading -----------------------------------------------------------------------------------


def sniff(head: bytes) -> bool:
    """Tell whether a file begins like a ``.model``: with a piece."""
    if not head.startswith(b"\n") or len(head) < 4 or head[1] >= 0x80:
        return False
    return head[2:3] == b"\n" and head[3] <= head[1]


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a ``.model``.

    Raises:
        InputError: The file cannot be read.
        FormatError: It is broken.
        UsageError: A pattern is given; the file has its own rules.
    """
    if pattern is not None:
        raise UsageError(f"{path} says itself how text is split; no pattern can be given with it")
    return loads(read(path), str(path))


def loads(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the content of a ``.model``.

    Raises:
        FormatError: As for ``load``.
    """
    pieces: list[tuple[bytes, float, int]] = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    for number, value in wire.fields(data, source):
        if number == 1:
            pieces.append(_read_piece(_message(value, source, "a piece"), source, len(pieces)))
        elif number == 2:
            trainer = dict(wire.fields(_message(value, source, "the trainer's settings"), source))
        elif number == 3:
            normalizer = dict(wire.fields(_message(value, source, "the normalizer's settings"), source))
        if len(pieces) > _core.MAX_TOKENS:
            raise FormatError(f"{source} has more than {_core.MAX_TOKENS:,} pieces")
    if not pieces:
        raise FormatError(f"{source} has no pieces")
    return _assemble(pieces, trainer, normalizer, source)


def _message(value: int | bytes, source: str, what: str) -> bytes:
    if isinstance(value, int):
        raise FormatError(f"{source}: {what} is a number, not a message")
    return value


def _read_piece(data: bytes, source: str, number: int) -> tuple[bytes, float, int]:
    text, score, kind = b"", 0.0, NORMAL
    for field, value in wire.fields(data, source):
        if field == 1 and isinstance(value, bytes):
            text = value
        elif field == 2 and isinstance(value, bytes) and len(value) == 4:
            (score,) = struct.unpack("<f", value)
        elif field == 3 and isinstance(value, int):
            kind = value
    if not NORMAL <= kind <= BYTE:
        raise FormatError(f"{source}: piece {number} is of a type that is not known ({kind})")
    try:
        text.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{source}: piece {number} is not UTF-8: {quote(text)}") from None
    if not text:
        raise FormatError(f"{source}: piece {number} is empty")
    return text, score, kind


def _assemble(
    pieces: list[tuple[bytes, float, int]],
    trainer: dict[int, int | bytes],
    normalizer: dict[int, int | bytes],
    source: str,
) -> Tokenizer:
    seen: dict[bytes, int] = {}
    for number, (text, _, _) in enumerate(pieces):
        if text in seen:
            raise FormatError(f"{source}: the piece {quote(text)} stands twice, as {seen[text]} and {number}")
        seen[text] = number
    unknown = [number for number, (_, _, kind) in enumerate(pieces) if kind == UNKNOWN]
    if len(unknown) != 1:
        raise FormatError(f"{source} has {len(unknown)} unknown pieces; it is to have one")
    vocabulary = Vocabulary.from_tokens(b"" if kind in (UNKNOWN, CONTROL) else text for text, _, kind in pieces)
    scores = array("d", (score for _, score, _ in pieces))
    kinds = bytes(kind for _, _, kind in pieces)
    suffix = bool(trainer.get(24, 0))
    marks = SpaceMarks(
        add_dummy_prefix=bool(normalizer.get(3, 1)),
        remove_extra_whitespaces=bool(normalizer.get(4, 1)),
        escape_whitespaces=bool(normalizer.get(5, 1)),
        treat_whitespace_as_suffix=suffix,
    )
    charsmap = normalizer.get(2, b"")
    tables: tuple[Normalizer, ...] = ()
    if isinstance(charsmap, bytes) and charsmap:
        given = tuple(text.decode() for text, _, kind in pieces if kind == USER_DEFINED)
        tables = (Charsmap(base64.b64encode(charsmap).decode(), given),)
    surface = trainer.get(44, UNK_SURFACE.encode())
    model_type = trainer.get(3, UNIGRAM)
    byte_fallback = bool(trainer.get(35, 0))
    cuts: tuple[PreTokenizer, ...] = ()
    model: Model
    if model_type in (UNIGRAM, CHAR):
        model = Unigram(vocabulary, scores, unknown[0], byte_fallback, single_precision=True, kinds=kinds)
    elif model_type == BPE:
        model = ScoredBpe(vocabulary, scores, unknown[0], kinds, byte_fallback)
    elif model_type == WORD:
        model = WordLevel(vocabulary, unknown[0], fuse_unk=True)
        cuts = (WORDS,)  # also where marks are at the ends of words: it is so in the library
    else:
        raise FormatError(f"{source}: the model is of a type that is not known ({model_type!r})")
    return Tokenizer(
        model,
        cuts,
        tuple(SpecialToken(text, n) for n, (text, _, kind) in enumerate(pieces) if kind in (UNKNOWN, CONTROL)),
        normalizer=(*tables, marks),
        decoder=(
            SpaceMarksDecoder(
                add_dummy_prefix=marks.add_dummy_prefix,
                remove_extra_whitespaces=marks.remove_extra_whitespaces,
                treat_whitespace_as_suffix=suffix,
                unk_surface=surface.decode("utf-8", "replace") if isinstance(surface, bytes) else UNK_SURFACE,
            ),
        ),
    )


# -- writing -----------------------------------------------------------------------------------


def dump(
    tokenizer: Tokenizer,
    allow_loss: frozenset[str] = frozenset(),  # noqa: ARG001  # it loses nothing
) -> dict[str, bytes]:
    """Write a tokenizer as a ``.model`` that SentencePiece loads.

    Raises:
        FormatError: The tokenizer is none that SentencePiece could have made.
    """
    model = tokenizer.model
    if not isinstance(model, (Unigram, ScoredBpe, WordLevel)) or model.unk_id is None:
        raise FormatError(
            f"a SentencePiece model cannot hold {model.kind}",
            hint="it holds what --compat sentencepiece trains",
        )
    charsmap, marks = _split_normalizer(tokenizer)
    specials = {token.token_id: token.content for token in tokenizer.special_tokens}
    kinds = getattr(model, "kinds", b"")
    parts = []
    for number in range(model.vocabulary.size):
        text = model.vocabulary.token(number)
        kind = kinds[number] if kinds else NORMAL
        if not text:
            if number not in specials:
                raise FormatError(f"id {number} has no token, and SentencePiece's ids have no gaps")
            text, kind = specials[number], UNKNOWN if number == model.unk_id else CONTROL
        score = 0.0 if isinstance(model, WordLevel) else model.scores[number]
        fields = wire.bytes_field(1, text) + wire.float_field(2, score)
        parts.append(wire.bytes_field(1, fields + (wire.varint_field(3, kind) if kind != NORMAL else b"")))
    decoder = tokenizer.decoder[0] if tokenizer.decoder else None
    surface = decoder.unk_surface if isinstance(decoder, SpaceMarksDecoder) else UNK_SURFACE
    return {"": b"".join(parts) + _trainer_settings(tokenizer, marks, surface) + _normalizer_settings(charsmap, marks)}


def _split_normalizer(tokenizer: Tokenizer) -> tuple[bytes, SpaceMarks]:
    """Give the table and the rules for blanks that a tokenizer's normalizer consists of."""
    stages = list(tokenizer.normalizer)
    marks = stages.pop() if stages else None
    table = stages.pop() if stages else Charsmap("")
    if stages or not isinstance(marks, SpaceMarks) or not isinstance(table, Charsmap):
        raise FormatError(
            "a SentencePiece model normalizes by one table and by rules for blanks, and this tokenizer otherwise",
            hint="train with --compat sentencepiece",
        )
    return base64.b64decode(table.precompiled_charsmap), marks


def _trainer_settings(tokenizer: Tokenizer, marks: SpaceMarks, surface: str) -> bytes:
    model = tokenizer.model
    kind = UNIGRAM if isinstance(model, Unigram) else BPE if isinstance(model, ScoredBpe) else WORD
    ids = {token.content: token.token_id for token in tokenizer.special_tokens}
    unk_id = getattr(model, "unk_id", None)
    settings = wire.varint_field(3, kind) + wire.varint_field(4, model.vocabulary.size)
    if marks.treat_whitespace_as_suffix:
        settings += wire.varint_field(24, 1)
    if getattr(model, "byte_fallback", False):
        settings += wire.varint_field(35, 1)
    settings += wire.varint_field(40, unk_id or 0)
    for field, text in ((41, b"<s>"), (42, b"</s>"), (43, b"<pad>")):
        settings += wire.varint_field(field, ids.get(text, -1))
    unknown = next((token.content for token in tokenizer.special_tokens if token.token_id == unk_id), b"<unk>")
    settings += wire.bytes_field(44, surface.encode()) + wire.bytes_field(45, unknown)
    return wire.bytes_field(2, settings)


def _normalizer_settings(charsmap: bytes, marks: SpaceMarks) -> bytes:
    settings = wire.bytes_field(2, charsmap)
    for field, value in (
        (3, marks.add_dummy_prefix),
        (4, marks.remove_extra_whitespaces),
        (5, marks.escape_whitespaces),
    ):
        settings += wire.varint_field(field, int(value))
    return wire.bytes_field(3, settings)
