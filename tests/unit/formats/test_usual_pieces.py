"""The pieces of a ``.model`` as its library writes them are read all at once: what comes is what one by one gives."""

from __future__ import annotations

import random

import pytest

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.formats import sentencepiece as wire
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.formats.sentencepiece.model import usual_pieces
from bpe_cli.stages.spelling import CONTROL, NORMAL, UNKNOWN
from tests.thorough import more

TEXTS = (b"a", b"ab", "\u2581the".encode(), "日本".encode(), b"x" * 110, b"y" * 118, b"z" * 120, b"", b"\xe6\x97")


def plainly(data: bytes, monkeypatch: pytest.MonkeyPatch) -> object:
    """Read a model one piece at a time."""
    with monkeypatch.context() as patched:
        patched.setattr(sentencepiece_model, "usual_pieces", lambda _: ([], 0))
        return outcome(data)


def outcome(data: bytes) -> object:
    """Return the tokenizer, or why there is none."""
    try:
        return sentencepiece_model.loads(data)
    except FormatError as error:
        return error.message


def piece(chance: random.Random, number: int, *, odd: float) -> bytes:
    """Write a piece: as the library does, or in another way that means the same, or something else."""
    content = chance.choice(TEXTS[:3]) + str(number).encode()
    kind = chance.choice((NORMAL, NORMAL, CONTROL))
    if chance.random() < odd:
        content, kind = chance.choice(TEXTS), chance.choice((0, 4, 5, 6, 7, 127, 128, 300))
    parts = [wire.bytes_field(1, content), wire.float_field(2, chance.choice((0.0, -1.5, -1e30)))]
    if number == 0 or kind != NORMAL:
        parts.append(wire.varint_field(3, kind if number else UNKNOWN))
    if chance.random() < odd:
        match chance.randrange(5):
            case 0:
                parts.pop(chance.randrange(len(parts)))
            case 1:
                chance.shuffle(parts)
            case 2:
                parts.append(chance.choice(parts))
            case 3:
                parts.append(wire.varint_field(9, 1))
            case _:
                parts[1] = wire.varint_field(2, 1)
    return wire.bytes_field(1, b"".join(parts))


def test_any_file_gives_what_it_gives_one_piece_at_a_time(monkeypatch):
    chance = random.Random(3)
    loaded = refused = whole = in_part = 0
    for _ in range(more(500, 50_000)):
        odd = chance.choice((0.0, 0.0, 0.05))
        data = b"".join(piece(chance, number, odd=odd) for number in range(chance.randint(1, 12)))
        end = len(data)
        data += chance.choice((b"", wire.bytes_field(2, wire.varint_field(3, 2)), wire.varint_field(77, 1)))
        if chance.random() < 0.3:
            changed = bytearray(data)
            changed[chance.randrange(len(data))] = chance.choice((0, 10, 0x15, 0x18, 0x7F, 0x80, 255))
            data = bytes(changed)[: chance.choice((len(data), chance.randrange(len(data))))]
        read, begin = usual_pieces(data)
        values = [value for _, value in wire.fields(data[:begin], "x")]
        plain = [sentencepiece_model.read_piece(value, "x", 0) for value in values if isinstance(value, bytes)]
        assert repr(read) == repr(plain), "NaN is not equal to itself"
        assert len(read) == len(values)
        found = outcome(data)
        assert found == plainly(data, monkeypatch)
        loaded, refused = loaded + (not isinstance(found, str)), refused + isinstance(found, str)
        whole, in_part = whole + (begin >= end), in_part + (0 < begin < end)
    assert min(loaded, refused, whole, in_part) > 100, (loaded, refused, whole, in_part)


def test_an_error_is_at_its_byte_in_the_file():
    good = b"".join(piece(random.Random(1), number, odd=0) for number in range(3))
    assert usual_pieces(good)[1] == len(good)
    with pytest.raises(FormatError, match=f"x: field 1 at byte {len(good)} is 100 bytes long, past the end"):
        sentencepiece_model.loads(good + b"\x0a\x64", "x")


def test_no_more_are_read_than_a_vocabulary_may_have(monkeypatch):
    monkeypatch.setattr(_core, "MAX_TOKENS", 5)
    data = b"".join(piece(random.Random(1), number, odd=0) for number in range(9))
    assert len(usual_pieces(data)[0]) == 5
    with pytest.raises(FormatError, match="x has more than 5 pieces"):
        sentencepiece_model.loads(data, "x")
