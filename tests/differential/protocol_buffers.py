"""Protocol Buffers as SentencePiece's files have them, written and read for tests: no code of ``formats``."""

from __future__ import annotations

from collections.abc import Iterator


def varint(value: int) -> bytes:
    """Write a number."""
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def field(number: int, content: bytes) -> bytes:
    """Write a field of bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a message: numbers and contents, a varint as little-endian bytes."""
    at = 0

    def read() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = read()
        if key & 7 == 0:
            value = read()
            yield key >> 3, value.to_bytes((value.bit_length() + 7) // 8 or 1, "little")
            continue
        length = read() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
        yield key >> 3, message[at : at + length]
        at += length
