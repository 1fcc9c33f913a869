"""Read SentencePiece's ``.model``: pieces, how text is normalized, and what was trained.

The message is that of ``sentencepiece_model.proto``. Its normalizer becomes the stages ``Charsmap``
and ``SpaceMarks``; unigram, BPE, word and character models become ``Unigram``, ``ScoredBpe``,
``WordLevel`` behind a cut before each mark, and ``Unigram`` over characters. The file itself is carried
along, so that writing one again changes nothing that was not changed (``writing``).
"""

from __future__ import annotations

import base64
from array import array
from collections.abc import Mapping
from pathlib import Path

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import dialects, features
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.features import check_scores
from bpe_cli.formats.huggingface import companions
from bpe_cli.formats.huggingface.classes import check_beside_model
from bpe_cli.formats.read_file import read, refuse_pattern
from bpe_cli.formats.sentencepiece import BPE, CHAR, UNIGRAM, UNK_SURFACE, WORD
from bpe_cli.formats.sentencepiece import writing as sentencepiece_writing
from bpe_cli.formats.sentencepiece.writing import overlapping, usual_pieces
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
from bpe_cli.stages.spelling import BYTE, CONTROL, MARK, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, has_runs
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Fact, Origin, Usage

NAME = "sentencepiece"
FILES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "*.model", "*.model.v*")
MODELS = frozenset({"bpe-scores", "bpe-characters", "unigram", "word-level"})
HOLDS = frozenset(
    {"ids", "normalizer", "decoder", "special-tokens", "pattern", "pre-tokenizer", "sentencepiece-edges", "roles"}
)
ROLES = dict.fromkeys(wire.ROLES)
"""The roles that special tokens of any text can have; the unknown one only its own."""

WORDS = Split(MARK, "MergedWithNext", literal=True)
"""How a word model cuts: every mark begins a piece."""


_SCORE, _TYPE = b"\x15", b"\x18"
"""How the members of a piece begin that stand behind its text."""

_MESSAGES = (b"\n", b"\x12", b"\x1a", b"\x22", b"\x2a")
"""How the messages of a model begin, the first of which is a piece."""


def sniff(head: bytes) -> bool:
    """Return whether a file begins like a ``.model``: with a piece.

    A score, a type or the end of the piece follows its text. Empty lines at the beginning of a text do not look so.
    """
    if not head.startswith(b"\n") or len(head) < 4 or head[1] >= 0x80 or head[2:3] != b"\n":
        return False
    end_of_text, end = 4 + head[3], 2 + head[1]
    following = head[end_of_text : end_of_text + 1]
    if end_of_text == end:
        return following in (*_MESSAGES, b"")
    return end_of_text < end and following in (_SCORE, _TYPE)


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a ``.model``, with Hugging Face's companion files.

    Raises:
        FormatError: if it is broken, or a class or setting beside it changes text or ids.
    """
    refuse_pattern(pattern, path, "says itself how text is split")
    tokenizer, beside = loads(read(path), str(path)), companions.find(path.parent)
    marks = any(isinstance(stage, SpaceMarks) and stage.add_dummy_prefix for stage in tokenizer.normalizer)
    check_beside_model(beside.config, puts_space=marks)
    return companions.apply(tokenizer, beside, str(path))


def loads(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the content of a ``.model``."""
    pieces, begin = usual_pieces(data)
    settings: dict[int, bytes] = {}
    facts: list[tuple[str, Fact]] = []
    for number, value in wire.fields(data, source, begin):
        if number == 1:
            pieces.append(read_piece(_message(value, source, "a piece"), source, len(pieces)))
        elif number in wire.TOP:
            message = _message(value, source, "a message of settings")
            settings[number] = settings.get(number, b"") + message
            facts += wire.facts(message, number, source)
        if len(pieces) > _core.MAX_TOKENS:
            raise FormatError(f"{source} has more than {_core.MAX_TOKENS:,} pieces")
    if not pieces:
        raise FormatError(f"{source} has no pieces")
    trainer, normalizer = (dict(wire.fields(settings.get(number, b""), source)) for number in (2, 3))
    carried = ((sentencepiece_writing.WHOLE, data),)
    origin = Origin(NAME, tuple(facts), carried, wire.trained(facts))
    return assemble(pieces, trainer, normalizer, source, origin)


def _message(value: int | bytes, source: str, what: str) -> bytes:
    if isinstance(value, int):
        raise FormatError(f"{source}: {what} is a number, not a message")
    return value


def read_piece(data: bytes, source: str, number: int) -> sentencepiece_writing.Piece:
    """Read one piece."""
    text, score, kind = sentencepiece_writing.parsed_piece(data, source)
    if not NORMAL <= kind <= BYTE:
        raise FormatError(f"{source}: piece {number} is of a type that is not known ({kind})")
    try:
        text.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{source}: piece {number} is not UTF-8: {quote(text)}") from None
    if not text:
        raise FormatError(f"{source}: piece {number} is empty")
    return text, score, kind


def check_characters(pieces: list[sentencepiece_writing.Piece], source: str) -> None:
    """Refuse pieces of several characters that a char model never gives where a search over pieces does."""
    for number, (text, _, kind) in enumerate(pieces):
        if kind in (NORMAL, UNUSED) and len(text.decode()) > 1:
            raise FormatError(
                f"{source}: this is a char model, and piece {number}, {quote(text)}, is several characters"
            )
    if (both := overlapping(pieces)) is not None:
        first, second = (quote(pieces[number][0]) for number in both)
        which = (
            f"its user-defined piece {first} can overlap with itself"
            if both[0] == both[1]
            else (f"its user-defined pieces {first} and {second} can overlap")
        )
        raise FormatError(
            f"{source}: a char model is not run if {which}", hint="a unigram or bpe model with such pieces is"
        )


def assemble(
    pieces: list[sentencepiece_writing.Piece],
    trainer: Mapping[int, int | bytes],
    normalizer: Mapping[int, int | bytes],
    source: str,
    origin: Origin,
) -> Tokenizer:
    """Make a tokenizer of pieces and settings, as SentencePiece does; settings that are absent have their defaults."""
    unknown = _only_unknown(pieces, source)
    size = len(pieces)
    while pieces[size - 1][2] == CONTROL:  # as tokens that are added behind the others: those are in no model
        size -= 1
    vocabulary = Vocabulary.from_tokens(b"" if kind in (UNKNOWN, CONTROL) else text for text, _, kind in pieces[:size])
    setting = wire.number
    suffix = bool(setting(trainer, 24, 0))
    marks = SpaceMarks(
        add_dummy_prefix=bool(setting(normalizer, 3, 1)),
        remove_extra_whitespaces=bool(setting(normalizer, 4, 1)),
        escape_whitespaces=bool(setting(normalizer, 5, 1)),
        treat_whitespace_as_suffix=suffix,
    )
    charsmap = normalizer.get(2, b"")
    tables: tuple[Normalizer, ...] = ()
    given = tuple(text.decode() for text, _, kind in pieces if kind == USER_DEFINED)
    if isinstance(charsmap, bytes) and (charsmap or has_runs(given)):
        tables = (Charsmap(base64.b64encode(charsmap).decode(), given),)
    surface = wire.text(trainer, 44, UNK_SURFACE)
    model = _model(pieces[:size], vocabulary, unknown, trainer, source)
    # Also where marks are at the ends of words: it is so in the library.
    cuts: tuple[PreTokenizer, ...] = (WORDS,) if isinstance(model, WordLevel) else ()
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
                unk_surface=surface.decode("utf-8", "replace"),
            ),
        ),
        usage=Usage(roles=wire.roles(trainer, {text: (n, kind) for n, (text, _, kind) in enumerate(pieces)})),
        origin=origin,
    )


def _only_unknown(pieces: list[sentencepiece_writing.Piece], source: str) -> int:
    """Check pieces together, and return the number of the unknown one."""
    ids: dict[bytes, int] = {}
    for number, (text, _, _) in enumerate(pieces):
        if text in ids:
            raise FormatError(f"{source}: the piece {quote(text)} appears twice, as {ids[text]} and {number}")
        ids[text] = number
    check_scores([score for _, score, _ in pieces], lambda number: pieces[number][0], source, single=True)
    unknown = [number for number, (_, _, kind) in enumerate(pieces) if kind == UNKNOWN]
    if len(unknown) != 1:
        raise FormatError(f"{source} has {len(unknown)} unknown pieces; it is to have one")
    return unknown[0]


def _model(
    pieces: list[sentencepiece_writing.Piece],
    vocabulary: Vocabulary,
    unknown: int,
    trainer: Mapping[int, int | bytes],
    source: str,
) -> Model:
    """Make a model of the type that the trainer's settings name."""
    scores = array("d", (score for _, score, _ in pieces))
    kinds = bytes(kind for _, _, kind in pieces)
    model_type = wire.number(trainer, 3, UNIGRAM)
    byte_fallback = bool(wire.number(trainer, 35, 0))
    if byte_fallback and kinds.count(BYTE) != 256:
        raise FormatError(f"{source} has byte_fallback, and {kinds.count(BYTE)} byte pieces; it is to have 256")
    if model_type == CHAR:
        check_characters(pieces, source)
    if model_type in (UNIGRAM, CHAR):
        return Unigram(vocabulary, scores, unknown, byte_fallback, single_precision=True, kinds=kinds)
    if model_type == BPE:
        return ScoredBpe(vocabulary, scores, unknown, kinds, byte_fallback)
    if model_type != WORD:
        raise FormatError(f"{source}: the model is of a type that is not known ({model_type!r})")
    if byte_fallback or UNUSED in kinds:
        what = "with byte_fallback" if byte_fallback else f"whose piece {kinds.index(UNUSED)} is unused"
        raise FormatError(f"{source}: a word model {what} is not run", hint="unigram and bpe models with it are")
    return WordLevel(vocabulary, unknown, fuse_unk=True)


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Write a tokenizer as a ``.model`` that SentencePiece loads, translated from Hugging Face's terms if necessary."""
    if tokenizer.model.kind not in MODELS:
        raise features.other_model(tokenizer.model, MODELS, "a SentencePiece model", dialects.HINT)
    translated, edges = dialects.to_sentencepiece(tokenizer)
    content = sentencepiece_writing.write(translated)
    features.refuse_losses(features.losses(translated, HOLDS) | edges, allow_loss, "a SentencePiece model")
    return {"": content}
