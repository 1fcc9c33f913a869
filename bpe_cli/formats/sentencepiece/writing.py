"""Write SentencePiece's ``.model``: anew, or by changing the file that a tokenizer was read from.

Of such a file everything stays where it is and as it is that the tokenizer does not say otherwise: fields
that no stage stands for, fields of extensions and of younger versions, and the bytes of what is said alike.
"""

from __future__ import annotations

import base64
import contextlib
import struct
from array import array
from bisect import bisect
from collections.abc import Collection, Mapping, Sequence

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.features import check_order
from bpe_cli.formats.sentencepiece import (
    BPE,
    CHAR,
    PREFIXES,
    ROLES,
    UNIGRAM,
    UNK_SURFACE,
    WORD,
    fields_of,
    number,
    roles,
    text,
)
from bpe_cli.stages import ALGORITHMS, Charsmap, ScoredBpe, SpaceMarks, SpaceMarksDecoder, Unigram, WordLevel
from bpe_cli.stages.spelling import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Fact

WHOLE = "file"
"""Where ``Origin.carried`` has the file."""

FORMAT = "sentencepiece"

Piece = tuple[bytes, float, int]
"""Text, score and type."""

Settings = Mapping[int, int | bytes]
"""Field number -> value."""

_PIECE, _TEXT, _SCORE, _KIND = b"\x0a\x0a\x15\x18"
"""The keys of a piece, and of what it has: its number, and how it is written."""

_F32 = struct.Struct("<f")


def write(tokenizer: Tokenizer) -> bytes:
    """Write a tokenizer that is in SentencePiece's terms."""
    charsmap, marks = _split_normalizer(tokenizer)
    carried = tokenizer.origin.kept(FORMAT, WHOLE) if tokenizer.origin else None
    if carried is None:
        content = pieces_of(tokenizer)
        written = b"".join(wire.bytes_field(1, _write_piece(piece)) for piece in content)
        trained = tokenizer.origin.trained if tokenizer.origin else ()
        return (
            written
            + _trainer_settings(tokenizer, marks, content, trained)
            + _normalizer_settings(charsmap, marks, trained)
        )
    return _changed(carried, tokenizer, charsmap, marks)


def pieces_of(tokenizer: Tokenizer, kept: Mapping[bytes, Piece] | None = None) -> list[Piece]:
    """Return the pieces of a tokenizer, by id.

    ``kept`` are those of the file that it was read from, by text: a word model has no scores and types, and no model
    those of the control pieces behind all others.
    """
    model = tokenizer.model
    if not isinstance(model, (Unigram, ScoredBpe, WordLevel)) or model.unk_id is None:
        raise FormatError(
            f"a SentencePiece model cannot hold {ALGORITHMS[model.kind]}"
            + ("" if tokenizer.has_bytes else " without an unknown token"),
            hint='it holds what `compat="sentencepiece"` trains',
        )
    if isinstance(model, ScoredBpe):
        check_order(model, "a SentencePiece model")
    specials = {token.token_id: token.content for token in tokenizer.special_tokens}
    size = model.vocabulary.size
    kinds = b"" if isinstance(model, WordLevel) else model.kinds
    scores = None if isinstance(model, WordLevel) else model.scores
    tokens = [*model.vocabulary.tokens()]
    content = []
    for token_id in range(max(size, max(specials, default=-1) + 1)):
        piece = tokens[token_id] if token_id < size else b""
        kind = kinds[token_id] if token_id < len(kinds) else NORMAL
        score = scores[token_id] if scores is not None and token_id < len(scores) else 0.0
        if token_id in specials and (not piece or kind == NORMAL):
            piece, kind = specials[token_id], UNKNOWN if token_id == model.unk_id else CONTROL
        if not piece:
            raise FormatError(f"id {token_id} has no token, and SentencePiece's ids have no gaps")
        if token_id == model.unk_id and kind != UNKNOWN:
            raise FormatError(f"{quote(piece)} is the unknown token and an ordinary piece: a piece is one or the other")
        if (scores is None or token_id >= len(scores)) and kept and piece in kept:
            _, score, old = kept[piece]
            kind = kind if kind in (UNKNOWN, CONTROL) or old in (UNKNOWN, CONTROL) else old
        content.append((piece, score, kind))
    return content


def kept_pieces(tokenizer: Tokenizer) -> dict[bytes, Piece]:
    """Return the pieces of the ``.model`` that a tokenizer was read from, by text."""
    file = tokenizer.origin.kept(FORMAT, WHOLE) if tokenizer.origin else None
    return _by_text(file or b"", *usual_pieces(file or b""))


def _by_text(file: bytes, usual: Sequence[Piece], begin: int) -> dict[bytes, Piece]:
    """Return the pieces of a file by text: usual ones, and those from a byte on."""
    values = (value for number, value in wire.fields(file, FORMAT, begin) if number == 1)
    others = (parsed_piece(value) for value in values if isinstance(value, bytes))
    return {piece[0]: piece for piece in (*usual, *others)}


def _split_normalizer(tokenizer: Tokenizer) -> tuple[bytes, SpaceMarks]:
    """Return the table and the rules for blanks that a tokenizer's normalizer consists of."""
    stages = list(tokenizer.normalizer)
    marks = stages.pop() if stages else None
    table = stages.pop() if stages else Charsmap("")
    if stages or not isinstance(marks, SpaceMarks) or not isinstance(table, Charsmap):
        raise FormatError(
            "a SentencePiece model normalizes by one table and by rules for blanks, and this tokenizer does not",
            hint='train with `compat="sentencepiece"`',
        )
    return base64.b64decode(table.precompiled_charsmap), marks


def _surface(tokenizer: Tokenizer) -> str:
    decoder = tokenizer.decoder[0] if tokenizer.decoder else None
    return decoder.unk_surface if isinstance(decoder, SpaceMarksDecoder) else UNK_SURFACE


def _write_piece(piece: Piece) -> bytes:
    content, score, kind = piece
    written = wire.bytes_field(1, content) + wire.float_field(2, score)
    return written + (wire.varint_field(3, kind) if kind != NORMAL else b"")


LONGEST_OVERLAP = 1 << 12
"""Bytes of the longest overlap of pieces that is looked for."""


def overlapping(content: Sequence[Piece]) -> tuple[int, int] | None:
    """Return two user-defined pieces, or one twice, of which one can begin inside the other and end behind it.

    A char model takes the first of them in a text, and a search for the highest score may take the other.

    >>> overlapping([(b"aa", 0.0, USER_DEFINED)]), overlapping([(b"ab", 0.0, USER_DEFINED)])
    ((0, 0), None)
    """
    given = sorted((piece, place) for place, (piece, _, kind) in enumerate(content) if kind == USER_DEFINED)
    first_bytes = {piece[:1] for piece, _ in given}
    for piece, place in given:
        for start in range(max(1, len(piece) - LONGEST_OVERLAP), len(piece)):
            if piece[start : start + 1] in first_bytes:
                end = piece[start:]
                behind = bisect(given, (end, len(content)))  # the first that is longer, if any begins so
                if behind < len(given) and given[behind][0].startswith(end):
                    return place, given[behind][1]
    return None


# -- anew --------------------------------------------------------------------------------------


def _trainer_settings(
    tokenizer: Tokenizer, marks: SpaceMarks, content: Sequence[Piece], trained: Sequence[tuple[str, Fact]]
) -> bytes:
    """Write the settings of the training as far as they are known; the tokenizer's own settings take precedence."""
    model = tokenizer.model
    kind = UNIGRAM if isinstance(model, Unigram) else BPE if isinstance(model, ScoredBpe) else WORD
    if (
        kind == UNIGRAM
        and ("model_type", "CHAR") in trained
        and all(len(piece.decode()) == 1 for piece, _, each in content if each == NORMAL)
        and overlapping(content) is None
    ):
        kind = CHAR
    said = fields_of(trained)
    said |= {3: wire.varint_field(3, kind), 4: wire.varint_field(4, len(content))}
    for field, switch in ((24, marks.treat_whitespace_as_suffix), (35, model.byte_fallback)):
        if switch or field in said:
            said[field] = wire.varint_field(field, int(switch))
    ids = {piece: token_id for token_id, (piece, _, _) in enumerate(content)}
    named = _named_roles(tokenizer, content)
    texts = dict(trained)
    for role, (field, place, default) in ROLES.items():
        usual = str(texts.get(f"{role}_piece", default)).encode()
        piece = named.get(role, usual)
        said[field] = wire.varint_field(field, ids.get(piece, -1))
        if role == "unk" or piece != default.encode() or place in said:
            said[place] = wire.bytes_field(place, piece)
    said[44] = wire.bytes_field(44, _surface(tokenizer).encode())
    return wire.bytes_field(2, b"".join(said[field] for field in sorted(said)))


def _named_roles(tokenizer: Tokenizer, content: Sequence[Piece]) -> dict[str, bytes]:
    """Return the pieces of the roles that SentencePiece knows, as far as they are of the type that it takes."""
    named = {}
    for role, token_id in tokenizer.usage.roles:
        if role in ROLES and role != "unk" and content[token_id][2] == CONTROL:
            named[role] = content[token_id][0]
    unknown = tokenizer.model.unk_id
    return named | {"unk": content[unknown or 0][0]}


def _normalizer_settings(charsmap: bytes, marks: SpaceMarks, trained: Sequence[tuple[str, Fact]]) -> bytes:
    said = fields_of(trained, PREFIXES[3])
    said |= {2: wire.bytes_field(2, charsmap)}
    said |= {field: wire.varint_field(field, int(value)) for field, value in _switches(marks).items()}
    return wire.bytes_field(3, b"".join(said[field] for field in sorted(said)))


def _switches(marks: SpaceMarks) -> dict[int, bool]:
    return {3: marks.add_dummy_prefix, 4: marks.remove_extra_whitespaces, 5: marks.escape_whitespaces}


# -- by changing a file ------------------------------------------------------------------------


def _changed(file: bytes, tokenizer: Tokenizer, charsmap: bytes, marks: SpaceMarks) -> bytes:
    """Rewrite a file with the values in which the tokenizer differs."""
    usual, begin = usual_pieces(file)
    kept = _by_text(file, usual, begin)
    content = pieces_of(tokenizer, kept)
    if not _begin_with(content, usual):
        usual, begin = [], 0
    there = list(wire.placed_fields(file, FORMAT, begin))
    old = {}
    for field in there:
        if field.number == 1 and isinstance(field.value, bytes):
            piece = parsed_piece(field.value)
            old[piece[0]] = piece, field.value

    def settings(number: int, stated: bytes, last_part: bytes) -> bytes:
        """Write settings with what is to be said otherwise in their last part; nothing if nothing is."""
        fields = dict(wire.fields(stated, FORMAT))
        if number == 2:
            changes = _trainer_changes(fields, tokenizer, marks, content, kept)
        else:
            changes = _normalizer_changes(fields, charsmap, marks)
        return wire.bytes_field(number, wire.edited(last_part, changes, FORMAT)) if changes else b""

    waiting = iter(content[len(usual) :])
    last = {field.number: place for place, field in enumerate(there)}
    out = [file[:begin]]
    if 1 not in last:
        out += [_kept_piece(piece, old, None, b"") for piece in waiting]
    for place, field in enumerate(there):
        as_it_was = file[field.start : field.end]
        if field.number == 1:
            one = next(waiting, None)
            out.append(b"" if one is None else _kept_piece(one, old, field, as_it_was))
            if place == last[1]:
                out += [_kept_piece(piece, old, None, b"") for piece in waiting]
        elif field.number in (2, 3) and place == last[field.number]:
            parts = [each.value for each in there if each.number == field.number and isinstance(each.value, bytes)]
            message = field.value if isinstance(field.value, bytes) else b""
            out.append(settings(field.number, b"".join(parts), message) or as_it_was)
        else:
            out.append(as_it_was)
    out += [settings(number, b"", b"") for number in (2, 3) if number not in last]
    return b"".join(out)


def _begin_with(content: Sequence[Piece], usual: Sequence[Piece]) -> bool:
    """Return whether pieces are those with which a file begins, and others with other texts."""
    if content[: len(usual)] != usual or _signs(content[: len(usual)]) != _signs(usual):
        return False
    others = {text for text, _, _ in content[len(usual) :]}
    return not others or others.isdisjoint(text for text, _, _ in usual)


def _signs(pieces: Sequence[Piece]) -> bytes:
    """Return the scores with their signs: -0 is equal to 0, and written otherwise."""
    return array("d", (score for _, score, _ in pieces)).tobytes()


def usual_pieces(data: bytes) -> tuple[list[Piece], int]:
    """Read the pieces with which a file begins, as the library writes them; return where the first of another form is.

    Nearly all are a text of a few bytes, a score, and perhaps a type, in this order. Field by field, reading them takes
    more than twice as long.
    """
    pieces: list[Piece] = []
    begin = 0
    with contextlib.suppress(IndexError, struct.error):  # it is cut short
        while data[begin] == _PIECE and len(pieces) < _core.MAX_TOKENS:
            length, size = data[begin + 1], data[begin + 3]
            scored = begin + 4 + size
            if not 0 < size < length < 0x80 or data[begin + 2] != _TEXT or data[scored] != _SCORE:
                break
            kind = NORMAL
            if length == size + 9:
                kind = data[scored + 6]
                if data[scored + 5] != _KIND or not NORMAL <= kind <= BYTE:
                    break
            elif length != size + 7:
                break
            (score,) = _F32.unpack_from(data, scored + 1)
            pieces.append((data[begin + 4 : scored], score, kind))
            begin += 2 + length
    try:
        b"\n".join(text for text, _, _ in pieces).decode()
    except UnicodeDecodeError:  # which the plain way says the place of
        return [], 0
    return pieces, begin


def parsed_piece(message: bytes, where: str = FORMAT) -> Piece:
    """Read a piece; missing fields, and fields of another kind, have their defaults."""
    content, score, kind = b"", 0.0, NORMAL
    for field, value in wire.fields(message, where):
        if field == 1 and isinstance(value, bytes):
            content = value
        elif field == 2 and isinstance(value, bytes) and len(value) == 4:
            (score,) = struct.unpack("<f", value)
        elif field == 3 and isinstance(value, int):
            kind = value
    return content, score, kind


def _kept_piece(
    piece: Piece, old: Mapping[bytes, tuple[Piece, bytes]], field: wire.Field | None, as_it_was: bytes
) -> bytes:
    """Write a piece: with the bytes that it had, or with its score and type changed in them, or anew."""
    parsed, message = old.get(piece[0], (None, b""))
    if parsed is None:
        return wire.bytes_field(1, _write_piece(piece))
    changes = {}
    if wire.float_field(2, piece[1]) != wire.float_field(2, parsed[1]):
        changes[2] = wire.float_field(2, piece[1])
    if piece[2] != parsed[2]:
        changes[3] = wire.varint_field(3, piece[2])
    if not changes and field is not None and field.value == message:
        return as_it_was
    return wire.bytes_field(1, wire.edited(message, changes, FORMAT))


def _trainer_changes(
    settings: Settings,
    tokenizer: Tokenizer,
    marks: SpaceMarks,
    content: Sequence[Piece],
    old: Collection[bytes],
) -> dict[int, bytes]:
    """Return the fields of the trainer's settings that differ from the tokenizer; ``old`` are the file's pieces."""
    model = tokenizer.model
    changes = {}

    def say(field: int, value: int, default: int) -> None:
        if number(settings, field, default) != value:
            changes[field] = wire.varint_field(field, value)

    kind = UNIGRAM if isinstance(model, Unigram) else BPE if isinstance(model, ScoredBpe) else WORD
    longer = (piece for piece, _, kind in content if kind == NORMAL and piece not in old and len(piece.decode()) > 1)
    was_char = number(settings, 3, UNIGRAM) == CHAR
    if kind == UNIGRAM and was_char and next(longer, None) is None and overlapping(content) is None:
        kind = CHAR
    say(3, kind, UNIGRAM)
    if len(content) != len(old):
        say(4, len(content), 8000)
    for field, switch in ((24, marks.treat_whitespace_as_suffix), (35, model.byte_fallback)):
        if bool(number(settings, field, 0)) != switch:
            say(field, int(switch), 0)
    surface = _surface(tokenizer)
    if text(settings, 44, UNK_SURFACE).decode("utf-8", "replace") != surface:
        changes[44] = wire.bytes_field(44, surface.encode())
    there = dict(roles(settings, {piece: (token_id, kind) for token_id, (piece, _, kind) in enumerate(content)}))
    named = _named_roles(tokenizer, content)
    names = {*named.values()}
    for token_id, piece in ((token_id, piece) for token_id, (piece, _, _) in enumerate(content) if piece in names):
        for role in (role for role, name in named.items() if name == piece and there.get(role) != token_id):
            changes[ROLES[role][0]] = wire.varint_field(ROLES[role][0], token_id)
            changes[ROLES[role][1]] = wire.bytes_field(ROLES[role][1], piece)
    return changes


def _normalizer_changes(settings: Settings, charsmap: bytes, marks: SpaceMarks) -> dict[int, bytes]:
    """Return the fields of the normalizer's settings that differ from the tokenizer."""
    changes = {
        field: wire.varint_field(field, int(value))
        for field, value in _switches(marks).items()
        if bool(number(settings, field, 1)) != value
    }
    if text(settings, 2, "") != charsmap:
        changes[2] = wire.bytes_field(2, charsmap)
    return changes
