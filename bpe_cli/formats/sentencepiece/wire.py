"""Read and write the wire format of protocol buffers, without any schema.

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
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bpe_cli.errors import FormatError

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


def fields(data: bytes, where: str) -> Iterator[tuple[int, int | bytes]]:
    r"""Yield (field number, value) of a message: an int for a varint, bytes for all others.

    >>> list(fields(b"\x08\x96\x01\x12\x02hi", "test"))
    [(1, 150), (2, b'hi')]

    Raises:
        FormatError: as for ``placed_fields``.
    """
    for number, value, _, _, _ in _scan(data, where):
        yield number, value


def placed_fields(data: bytes, where: str) -> Iterator[Field]:
    """Yield the fields of a message with their places.

    Raises:
        FormatError: if it is cut, or a length lies; names the byte.
    """
    return map(Field._make, _scan(data, where))


def _scan(data: bytes, where: str) -> Iterator[tuple[int, int | bytes, int, int, int]]:
    """Yield what ``Field`` has."""
    place = 0
    size = len(data)
    while place < size:
        start = place
        key = data[place]  # nearly all keys and lengths are one byte
        key, place = (key, place + 1) if key < 0x80 else _varint(data, place, where)
        number, kind = key >> 3, key & 7
        if not 0 < number <= MAX_NUMBER:
            raise FormatError(f"{where}: field {number} at byte {start} is no field")
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

    Args:
        data: The message.
        changes: Field number -> the field as it is to be written. It takes the place of the last of that
            number, for that is the one that counts; a new one goes before the first with a higher number.
        where: What to call the message in errors.

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
