"""Read and write messages of protocol buffers: the wire format, and the settings that SentencePiece writes in it.

Source: the encoding section of the protocol buffers documentation. Google's library of that name would be
the usual choice. It is not used for three reasons: it writes unknown fields behind the known ones, wherever
they stood, so a file that was only read and written is another file; it says of a broken file that it is
broken, and not where; and it wants generated classes that fit its version, which would be larger than all
this. What tokenizers need of the format is four kinds of fields. Where both can read a message, a test
holds this to that library.

As there, of several values of one field the last counts, and a message that stands in parts is the parts
one after the other; a field of another kind than it should have is as good as unknown.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bpe_cli.errors import FormatError
from bpe_cli.stages.spelling import CONTROL, UNKNOWN
from bpe_cli.tokenizer.usage import Fact, roles_in_order

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

MAX_NUMBER = (1 << 29) - 1
"""The highest number that a field can have."""


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        number: Its number.
        value: An int for a varint (below 2^64), bytes for all others.
        start: Where it begins in the message.
        end: Where it ends.
        kind: How it is written: ``VARINT``, ``BYTES``, ...
    """

    number: int
    value: int | bytes
    start: int
    end: int
    kind: int


def fields(data: bytes, where: str, begin: int = 0) -> Iterator[tuple[int, int | bytes]]:
    r"""Yield (field number, value) of a message from a byte on: an int for a varint, bytes for all others.

    >>> list(fields(b"\x08\x96\x01\x12\x02hi", "test"))
    [(1, 150), (2, b'hi')]
    """
    for number, value, _, _, _ in _scan(data, where, begin):
        yield number, value


def placed_fields(data: bytes, where: str, begin: int = 0) -> Iterator[Field]:
    """Yield the fields of a message from a byte on, with their places."""
    return map(Field._make, _scan(data, where, begin))


def _scan(data: bytes, where: str, place: int = 0) -> Iterator[tuple[int, int | bytes, int, int, int]]:
    """Yield what ``Field`` has."""
    size = len(data)
    while place < size:
        start = place
        key = data[place]  # nearly all keys and lengths are one byte
        key, place = (key, place + 1) if key < 0x80 else _varint(data, place, where)
        number, kind = key >> 3, key & 7
        if not 0 < number <= MAX_NUMBER:
            raise FormatError(f"{where}: field {number} at byte {start} is not a field")
        if kind == VARINT:
            value, place = _varint(data, place, where)
            yield number, value, start, place, kind
            continue
        if kind == BYTES:
            length, place = _varint(data, place, where)
        elif kind in (FIXED32, FIXED64):
            length = 4 if kind == FIXED32 else 8
        else:
            raise FormatError(f"{where}: field {number} at byte {start} is of a kind that is not known ({kind})")
        end = place + length
        if end > size:
            raise FormatError(f"{where}: field {number} at byte {start} is {length:,} bytes long, past the end")
        yield number, data[place:end], start, end, kind
        place = end


def edited(data: bytes, changes: Mapping[int, bytes], where: str) -> bytes:
    r"""Change fields of a message and leave all others where they are, byte for byte.

    Each change is the field as it is to be written. It takes the place of the last of that number, for that is the one
    that counts; a new one goes before the first with a higher number.

    >>> edited(b"\x08\x01\x18\x03", {1: varint_field(1, 2), 2: varint_field(2, 2)}, "test")
    b'\x08\x02\x10\x02\x18\x03'
    """
    there = list(placed_fields(data, where))
    last = {field.number: place for place, field in enumerate(there)}
    inserted: dict[int, bytes] = {}
    for number in sorted(changes):
        if number not in last:
            place = next((place for place, field in enumerate(there) if field.number > number), len(there))
            inserted[place] = inserted.get(place, b"") + changes[number]
    out = []
    for place, field in enumerate(there):
        out.append(inserted.get(place, b""))
        changed = field.number in changes and last[field.number] == place
        out.append(changes[field.number] if changed else data[field.start : field.end])
    return b"".join([*out, inserted.get(len(there), b"")])


def signed(value: int) -> int:
    """Read a varint as a signed number.

    >>> signed(2**64 - 1), signed(5)
    (-1, 5)
    """
    return value - (1 << 64) if value >= 1 << 63 else value


def _varint(data: bytes, place: int, where: str) -> tuple[int, int]:
    if place < len(data) and data[place] < 0x80:
        return data[place], place + 1
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise FormatError(f"{where}: the message is cut short at byte {place}")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place
    raise FormatError(f"{where}: a number at byte {place} has too many bytes")


def varint_field(number: int, value: int) -> bytes:
    """Write a number below 2^64, or a negative one as its complement."""
    return _write_varint(number << 3 | VARINT) + _write_varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def bytes_field(number: int, value: bytes) -> bytes:
    """Write bytes, a text in UTF-8, or a message."""
    return _write_varint(number << 3 | BYTES) + _write_varint(len(value)) + value


def float_field(number: int, value: float) -> bytes:
    """Write an f32."""
    return _write_varint(number << 3 | FIXED32) + struct.pack("<f", value)


def _write_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# --------------------------------------------------------------------------------------------------
# Read the settings that a SentencePiece model states of itself, in the words of ``sentencepiece_model.proto``.
#
# Source: the field numbers and names of TrainerSpec and NormalizerSpec; a test holds each to a model that the
# library trained with that very option.


UNIGRAM, BPE, WORD, CHAR = 1, 2, 3, 4

UNK_SURFACE = " ⁇ "
"""What an unknown token reads as, unless a file says otherwise."""

TRAINER = {
    1: "input", 2: "model_prefix", 3: "model_type", 4: "vocab_size", 5: "accept_language",
    6: "self_test_sample_size", 7: "input_format", 10: "character_coverage", 11: "input_sentence_size",
    12: "mining_sentence_size", 13: "training_sentence_size", 14: "seed_sentencepiece_size",
    15: "shrinking_factor", 16: "num_threads", 17: "num_sub_iterations", 18: "max_sentence_length",
    19: "shuffle_input_sentence", 20: "max_sentencepiece_length", 21: "split_by_unicode_script",
    22: "split_by_whitespace", 23: "split_by_number", 24: "treat_whitespace_as_suffix", 25: "split_digits",
    26: "allow_whitespace_only_pieces", 30: "control_symbols", 31: "user_defined_symbols",
    32: "vocabulary_output_piece_score", 33: "hard_vocab_limit", 34: "use_all_vocab", 35: "byte_fallback",
    36: "required_chars", 40: "unk_id", 41: "bos_id", 42: "eos_id", 43: "pad_id", 44: "unk_surface",
    45: "unk_piece", 46: "bos_piece", 47: "eos_piece", 48: "pad_piece", 49: "train_extremely_large_corpus",
    50: "enable_differential_privacy", 51: "differential_privacy_noise_level",
    52: "differential_privacy_clipping_threshold", 53: "pretokenization_delimiter",
    54: "seed_sentencepieces_file", 55: "auto_character_coverage",
}  # fmt: skip
"""TrainerSpec: number -> name."""

NORMALIZER = {
    1: "name", 2: "precompiled_charsmap", 3: "add_dummy_prefix", 4: "remove_extra_whitespaces",
    5: "escape_whitespaces", 6: "normalization_rule_tsv",
}  # fmt: skip
"""NormalizerSpec: number -> name; that of decoding (denormalizer_spec) has the same."""

REPEATED = frozenset((1, 5, 30, 31))
"""Fields of the trainer that can stand several times: input, accept_language, control and user-defined symbols."""

BOOLEANS = frozenset((
    "shuffle_input_sentence", "split_by_unicode_script", "split_by_whitespace", "split_by_number",
    "treat_whitespace_as_suffix", "split_digits", "allow_whitespace_only_pieces", "vocabulary_output_piece_score",
    "hard_vocab_limit", "use_all_vocab", "byte_fallback", "train_extremely_large_corpus",
    "enable_differential_privacy", "auto_character_coverage", "add_dummy_prefix", "remove_extra_whitespaces",
    "escape_whitespaces",
))  # fmt: skip

MODEL_TYPES = {UNIGRAM: "UNIGRAM", BPE: "BPE", WORD: "WORD", CHAR: "CHAR"}

ROLES = {"unk": (40, 45, "<unk>"), "bos": (41, 46, "<s>"), "eos": (42, 47, "</s>"), "pad": (43, 48, "<pad>")}
"""Role -> the fields of its id and of its piece, and the piece if the file names none."""

TOP = {2: TRAINER, 3: NORMALIZER, 5: NORMALIZER}
"""The settings of a model: field -> what is in it."""

PREFIXES = {2: "", 3: "normalizer_spec.", 5: "denormalizer_spec."}


def facts(message: bytes, place: int, where: str) -> Iterator[tuple[str, Fact]]:
    """Yield what settings state that stand in a field of the model, in the file's order, by name."""
    for field in placed_fields(message, where):
        name = TOP[place].get(field.number)
        value = None if name is None else _fact(name, field)
        if value is None:  # a field that a younger version has, or of another kind than it should be
            size = f"{field.end - field.start} bytes" if isinstance(field.value, bytes) else signed(field.value)
            yield f"{PREFIXES[place]}{name or f'field {field.number}'}", size
        else:
            yield f"{PREFIXES[place]}{name}", value


def _fact(name: str, field: Field) -> Fact | None:
    value = field.value
    if isinstance(value, int):
        if name == "model_type":
            return MODEL_TYPES.get(value)
        return bool(value) if name in BOOLEANS else signed(value)
    if name == "precompiled_charsmap":
        return f"{len(value):,} bytes"
    if field.kind == FIXED32:
        return float(struct.unpack("<f", value)[0])
    return value.decode("utf-8", "replace") if field.kind == BYTES else None


def trained(facts: Iterable[tuple[str, Fact]]) -> tuple[tuple[str, Fact], ...]:
    """Return what facts say of the training: all that is known but the table, which is no setting of a training."""
    known = {*TRAINER.values(), *(PREFIXES[3] + name for name in NORMALIZER.values())}
    return tuple((name, value) for name, value in facts if name in known and not name.endswith("precompiled_charsmap"))


def fields_of(facts: Iterable[tuple[str, Fact]], prefix: str = "") -> dict[int, bytes]:
    """Write facts as fields of ``TrainerSpec`` (or of ``NormalizerSpec``, whose names have a prefix), by number.

    What has no such name is left out.
    """
    numbers = {name: field for field, name in (NORMALIZER if prefix else TRAINER).items()}
    fields: dict[int, bytes] = {}
    for name, value in facts:
        field = numbers.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if field is not None:
            fields[field] = (fields.get(field, b"") if field in REPEATED else b"") + _field(field, name, value)
    return fields


def _field(field: int, name: str, value: Fact) -> bytes:
    if name == "model_type":
        value = next((kind for kind, text in MODEL_TYPES.items() if text == value), UNIGRAM)
    if isinstance(value, float):
        return float_field(field, value)
    return varint_field(field, value) if isinstance(value, int) else bytes_field(field, value.encode())


def number(settings: Mapping[int, int | bytes], field: int, default: int) -> int:
    """Return a setting that is a number; one of another kind counts as absent, as in the library."""
    value = settings.get(field, default)
    return signed(value) if isinstance(value, int) else default


def text(settings: Mapping[int, int | bytes], field: int, default: str) -> bytes:
    """Return a setting that is a text; one of another kind counts as absent, as in the library."""
    value = settings.get(field)
    return value if isinstance(value, bytes) else default.encode()


def roles(trainer: Mapping[int, int | bytes], kind_of: Mapping[bytes, tuple[int, int]]) -> tuple[tuple[str, int], ...]:
    """Return the roles of special pieces: of the unknown piece, and of the control pieces that the settings name.

    ``kind_of`` has of each piece its id and its type. The ids among the settings were wishes of the
    training; the library goes by the pieces.
    """
    ids = {}
    unknown = [token_id for token_id, kind in kind_of.values() if kind == UNKNOWN]
    if unknown:
        ids["unk"] = unknown[0]
    for role, (_, field, default) in ROLES.items():
        token_id, kind = kind_of.get(text(trainer, field, default), (-1, 0))
        if kind == CONTROL and role != "unk":
            ids[role] = token_id
    return roles_in_order(ids)
