r"""Read and write SentencePiece's ``.vocab``: a piece, a tab and its score on each line, the id is the line's number.

It lies beside each ``.model`` for people to look at. It has neither the types of pieces nor how text is
normalized, so what is read goes by conventions, and says so (``bpe inspect`` shows them): whole numbers as
scores mean BPE; the pieces ``<0x00>`` to ``<0xFF>`` are bytes if all are there; another piece with the
score 0 is a control piece; and text is not normalized but for SentencePiece's usual handling of blanks.
Scores have six digits. Where the ``.model`` is at hand nothing of this need be assumed, so if it lies
beside the file it is not passed over.
"""

from __future__ import annotations

import math
import re
from array import array
from pathlib import Path

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import dialects, features
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.read_file import read, refuse_pattern
from bpe_cli.formats.sentencepiece import BPE, UNIGRAM
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.formats.sentencepiece import writing as sentencepiece_writing
from bpe_cli.stages import ScoredBpe, SpaceMarks, SpaceMarksDecoder, Unigram
from bpe_cli.stages.spelling import BYTE, BYTE_TEXT, CONTROL, NORMAL, UNKNOWN
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin

NAME = "sentencepiece-vocab"
FILES = ("*.vocab",)
MODELS = frozenset({"bpe-scores", "bpe-characters", "unigram", "word-level"})
HOLDS = frozenset({"ids", "normalizer", "decoder", "special-tokens", "sentencepiece-edges", "roles"})
ROLES = {role: text for role, (_, _, text) in wire.ROLES.items()}
"""The roles that pieces have by their texts."""

UNKNOWN_PIECE = b"<unk>"

_LINE = re.compile(rb"[^\n]+\t-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan)")


def sniff(head: bytes) -> bool:
    """Return whether a file begins like a ``.vocab``: pieces with scores, ``<unk>`` with 0 among the first."""
    lines = head.split(b"\n")[:16]
    whole = lines[:-1] if len(lines) < 16 and len(head) >= 1 << 16 else lines
    unknown = any(line in (UNKNOWN_PIECE + b"\t0", UNKNOWN_PIECE + b"\t-0") for line in whole)
    return unknown and all(_LINE.fullmatch(line) for line in whole if line)


def load(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a ``.vocab`` that lies alone."""
    refuse_pattern(pattern, path, "is for text that is not split")
    model = path.with_suffix(".model")
    if model != path and model.is_file():
        raise FormatError(
            f"{path} lists the pieces of {model.name}, which also says what they are and how text is normalized",
            hint=f"read {model}",
        )
    return loads(read(path), str(path))


def loads(data: bytes, source: str = NAME) -> Tokenizer:
    """Read the content of a ``.vocab``."""
    entries: list[tuple[bytes, float]] = []
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
        if not _LINE.fullmatch(line):
            raise FormatError(
                f"{source}:{number}: {quote(line)} is not a piece, a tab and a score",
                hint=None if b"\t" in line else "without scores nobody can tell how text becomes pieces",
            )
        piece, _, score = line.rpartition(b"\t")
        try:
            piece.decode()
        except UnicodeDecodeError:
            raise FormatError(f"{source}:{number}: the piece {quote(piece)} is not UTF-8") from None
        entries.append((piece, float(score)))
        if not math.isfinite(entries[-1][1]):
            raise FormatError(f"{source}:{number}: the score of {quote(piece)} is not a finite number")
        if number > _core.MAX_TOKENS:
            raise FormatError(f"{source} has more than {_core.MAX_TOKENS:,} pieces")
    spelt = {piece for piece, score in entries if score == 0 and BYTE_TEXT.fullmatch(piece)}
    bytes_there = len(spelt) == 256
    pieces = [(piece, score, _kind(piece, score, bytes_there)) for piece, score in entries]
    if not any(kind == UNKNOWN for _, _, kind in pieces):
        raise FormatError(f"{source} has no piece <unk>")
    model_type = _model_type(pieces)
    origin = Origin(
        NAME,
        (
            ("model_type", f"{'BPE' if model_type == BPE else 'UNIGRAM'}, by the scores"),
            ("byte_fallback", bytes_there),
            ("normalization", "none: the file does not say"),
        ),
    )
    return sentencepiece_model.assemble(pieces, {3: model_type, 35: int(bytes_there)}, {}, source, origin)


def _kind(piece: bytes, score: float, bytes_there: bool) -> int:
    """Return the type of a piece, as far as a line shows it."""
    if piece == UNKNOWN_PIECE:
        return UNKNOWN
    if score == 0 and math.copysign(1, score) > 0:
        return BYTE if bytes_there and BYTE_TEXT.fullmatch(piece) else CONTROL
    return NORMAL


def _model_type(pieces: list[sentencepiece_writing.Piece]) -> int:
    """Return the type of a model by the scores of its ordinary pieces; the first that BPE makes has -0."""
    return BPE if all(math.isfinite(s) and s.is_integer() for _, s, kind in pieces if kind == NORMAL) else UNIGRAM


def dump(tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
    r"""Write a tokenizer as a ``.vocab``, as SentencePiece's trainer and ``spm_export_vocab`` do."""
    if tokenizer.model.kind not in MODELS:
        raise features.other_model(tokenizer.model, MODELS, "a .vocab", dialects.HINT)
    translated, edges = dialects.to_sentencepiece(tokenizer)
    lost = features.losses(translated, HOLDS) | edges
    if translated.normalizer != (SpaceMarks(),):
        lost["normalizer"] = "how text is normalized"
    marks = translated.normalizer[-1]
    if isinstance(marks, SpaceMarks):
        usual = SpaceMarksDecoder(
            marks.add_dummy_prefix, marks.remove_extra_whitespaces, marks.treat_whitespace_as_suffix
        )
        if translated.decoder != (usual,):
            lost["decoder"] = "how tokens are decoded"
    pieces = sentencepiece_writing.pieces_of(translated, sentencepiece_writing.kept_pieces(translated))
    _check_type(translated, pieces)
    for text, _, _ in pieces:
        if b"\n" in text:
            raise FormatError(f"the piece {quote(text)} has a line end, and a .vocab has one piece a line")
    features.refuse_losses(lost, allow_loss, "a .vocab")
    # Who agrees that text is normalized otherwise gets what SentencePiece writes, which is six digits.
    six_digits = "normalizer" in allow_loss and not isinstance(translated.model, ScoredBpe)
    lines = [
        f"{text.decode()}\t{score:g}\n" if six_digits else f"{text.decode()}\t{_written(score)}\n"
        for text, score, _ in pieces
    ]
    return {"": "".join(lines).encode()}


def _check_type(tokenizer: Tokenizer, pieces: list[sentencepiece_writing.Piece]) -> None:
    """Refuse scores by which a reader would take BPE for a unigram model, or the reverse."""
    pieces = [(text, score, _kind(text, score, bytes_there=True)) for text, score, _ in pieces]
    read_as = _model_type(pieces)
    if isinstance(tokenizer.model, ScoredBpe) and read_as != BPE:
        text, score = next((text, score) for text, score, kind in pieces if kind == NORMAL and not score.is_integer())
        raise FormatError(
            f"a .vocab is read as BPE only if all scores are whole numbers, and that of {quote(text)} is {score:g}",
            hint='write a .model, which says what it is (`format="sentencepiece"`)',
        )
    if isinstance(tokenizer.model, Unigram) and read_as == BPE:
        raise FormatError(
            "a .vocab whose scores are all whole numbers is read as BPE, and this is a unigram model",
            hint='write a .model, which says what it is (`format="sentencepiece"`)',
        )


def _written(score: float) -> str:
    """Format a score with six digits, as SentencePiece does, or with as many as it needs.

    >>> _written(-2.5), _written(-1234567.0), _written(-0.1)
    ('-2.5', '-1234567', '-0.1')
    """
    written = f"{score:g}"
    same = array("f", (float(written),)) == array("f", (score,))
    return written if same else f"{score:.9g}"
