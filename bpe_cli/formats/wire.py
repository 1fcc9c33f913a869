"""Read and write the wire format of protocol buffers, without any schema.

Source: the encoding section of the protocol buffers documentation. The library of that name reads
messages by generated classes, which would be larger than all this and be code of others in the house;
what tokenizers need of it is four kinds of fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from bpe_cli.errors import FormatError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def fields(data: bytes, where: str) -> Iterator[tuple[int, int | bytes]]:
    r"""Yield (field number, value) of a message: an int for a varint, bytes for all others.

    >>> list(fields(b"\x08\x96\x01\x12\x02hi", "test"))
    [(1, 150), (2, b'hi')]

    Raises:
        FormatError: It is cut, or a length lies; names the byte.
    """
    place = 0
    while place < len(data):
        start = place
        key, place = _varint(data, place, where)
        number, kind = key >> 3, key & 7
        if not number:
            raise FormatError(f"{where}: field 0 at byte {start} is no field")
        if kind == VARINT:
            value, place = _varint(data, place, where)
            yield number, value
            continue
        if kind == BYTES:
            length, place = _varint(data, place, where)
        elif kind in (FIXED32, FIXED64):
            length = 4 if kind == FIXED32 else 8
        else:
            raise FormatError(f"{where}: field {number} at byte {start} is of a kind that is not known ({kind})")
        if length > len(data) - place:
            raise FormatError(f"{where}: field {number} at byte {start} is {length:,} bytes long, past the end")
        yield number, data[place : place + length]
        place += length


def _varint(data: bytes, place: int, where: str) -> tuple[int, int]:
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
