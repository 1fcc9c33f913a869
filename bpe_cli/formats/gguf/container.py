"""Hold, read and write the metadata of GGUF files: keys with typed values, without the tensors.

Source: docs/gguf.md of ggml-org/ggml. Versions 2 and 3, in either byte order; version 1, which had other
lengths, is refused by name. What is written is version 3, little-endian, with no tensors.

The PyPI library `gguf` (0.19) reads and writes these files too, and is the judge in the tests. It is not
used here: its ``GGUFReader`` makes several numpy arrays of each string, so that Qwen 2's vocabulary (151,936
tokens, 151,387 merges) takes 8.1 s and 525 MB of memory, where this module takes 0.03 s and 50 MB. It also
maps the tensors, and ends in a RecursionError or an IndexError where a file is hostile or cut.
"""

from __future__ import annotations

import stat
import struct
import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError
from bpe_cli.support.messages import cannot_read, quote, show_path

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

    A key that is absent gives None; one whose value is of another type than is asked for, or a text that is not UTF-8,
    raises a FormatError that names it.

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
        """Return a string."""
        value = self._scalar(key, (STRING,), "a string")
        try:
            return value.decode() if isinstance(value, bytes) else None
        except UnicodeDecodeError:
            raise FormatError(f"{self.source}: {key} is not UTF-8") from None

    def boolean(self, key: str, default: bool) -> bool:
        """Return true or false; ``default`` if the key is absent."""
        value = self._scalar(key, (BOOL,), "true or false")
        return default if value is None else bool(value)

    def integer(self, key: str) -> int | None:
        """Return a whole number."""
        value = self._scalar(key, (U8, I8, U16, I16, U32, I32, U64, I64), "a whole number")
        return None if value is None else int(value)

    def texts(self, key: str) -> list[bytes] | None:
        """Return an array of strings, as bytes."""
        field = self._array(key, (STRING,), "an array of strings")
        return None if field is None else self._strings(field)

    def written_merges(self, tokens: str, merges: str, absent: list[int]) -> _core.WrittenMerges | None:
        """Take tokens and merges, arrays of strings, in the core; None if it leaves them to the plain way.

        Args:
            tokens: The key of the tokens.
            merges: The key of the merges.
            absent: The ids of texts that are no tokens.
        """
        listed = self._array(tokens, (STRING,), "an array of strings")
        joined = self._array(merges, (STRING,), "an array of strings")
        if listed is None or joined is None:
            return None
        view = memoryview(self._data)
        texts = view[listed.start : listed.stop]
        return _core.WrittenMerges.listed(texts, view[joined.start : joined.stop], self.byte_order == ">", absent)

    def numbers(self, key: str, *elements: int) -> array[Any] | None:
        """Return an array of numbers of one of these types."""
        field = self._array(key, elements, "an array of " + " or ".join(TYPE_NAMES[kind] for kind in elements))
        return None if field is None else self._numbers(field)

    def encoded(self, key: str) -> bytes | None:
        """Return a value with its type as a little-endian file has it; None for an array of arrays."""
        field = self.fields[key]
        if field.kind != ARRAY:
            return encode(field.kind, self._read(field))
        if field.element == ARRAY:
            return None
        value: Value = self._strings(field) if field.element == STRING else self._numbers(field)
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

    def _array(self, key: str, elements: tuple[int, ...], what: str) -> Field | None:
        field = self.fields.get(key)
        if field is not None and (field.kind != ARRAY or field.element not in elements):
            raise self._wrong(key, field, what)
        return field

    def _read(self, field: Field) -> bool | int | float | bytes:
        if field.kind == STRING:
            return self._data[field.start + 8 : field.stop]
        (value,) = struct.unpack_from(self.byte_order + CODES[field.kind], self._data, field.start)
        return bool(value) if field.kind == BOOL else value

    def _strings(self, field: Field) -> list[bytes]:
        return _core.counted_texts(memoryview(self._data)[field.start : field.stop], self.byte_order == ">")

    def _numbers(self, field: Field) -> array[Any]:
        values: array[Any] = array(CODES[field.element])
        values.frombytes(self._data[field.start : field.stop])
        if (self.byte_order == "<") != (sys.byteorder == "little"):
            values.byteswap()
        return values

    def _wrong(self, key: str, field: Field, what: str) -> FormatError:
        kind = TYPE_NAMES[field.kind] + (f" of {TYPE_NAMES[field.element]}" if field.kind == ARRAY else "")
        return FormatError(f"{self.source}: {key} must be {what}, not {kind}")


def write(fields: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the content of a file without tensors, of (key, value with its type, of ``encode``) in order."""
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


# --------------------------------------------------------------------------------------------------
# Read the metadata of GGUF files that may be broken, hostile, or forty gigabytes long.
#
# A file of a model has gigabytes of tensors behind some megabytes of metadata, so it is read step by step
# and no further than the last key. Every count and length is held against the size of the file, and against
# ``MAX_METADATA_BYTES``, before anything is read or allocated for it; values stay where they are in what was
# read until somebody asks for them.


MAX_METADATA_BYTES = 64 << 20
"""Most metadata that is read (64 MiB; the largest in use have about 20 MB)."""

MAX_STRINGS = 1 << 22
"""Most strings in all arrays together (twice the tokens that a tokenizer may have)."""

MAX_KEYS = 1 << 16
MAX_ARRAYS = 1 << 16
"""Most arrays in arrays; in the files in use there are none."""

MAX_DEPTH = 4
"""How deep arrays may lie in arrays."""

_CHUNK = 1 << 20


def read(path: Path) -> Metadata:
    """Read a file's metadata, and nothing behind it."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(
                f"{show_path(path)} is not a regular file", hint="a tokenizer is read more than once: save it to disk"
            )
        with path.open("rb") as file:
            return _Reader(file, status.st_size, str(path)).metadata()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error


def parse(data: bytes, source: str = "GGUF") -> Metadata:
    """Read the metadata of a file's content."""
    return _Reader(BytesIO(data), len(data), source).metadata()


class _Reader:
    """Walk through a file; what was read so far is kept, and grows as values need it."""

    def __init__(self, file: BinaryIO, size: int, source: str) -> None:
        self._file = file
        self._size = size
        self._source = source
        self._data = bytearray()
        self._place = 0
        self._order: Literal["<", ">"] = "<"
        self._strings = 0
        self._arrays = 0

    def metadata(self) -> Metadata:
        if self._take(4, "the magic number") != MAGIC:
            raise FormatError(f"{self._source} is not a GGUF file: it does not begin with GGUF")
        version = self._header()
        self._number("Q", "the number of tensors")
        keys = self._number("Q", "the number of keys")
        # A key is at least its length, a type and a byte.
        self._fits(keys, 13, "keys")
        if keys > MAX_KEYS:
            raise FormatError(f"{self._source} says that it has {keys:,} keys; {MAX_KEYS:,} are read")
        fields: dict[str, Field] = {}
        for _ in range(keys):
            key = self._key()
            if key in fields:
                raise self._error(f"the key {quote(key)} appears twice")
            fields[key] = self._value(key)
        return Metadata(self._source, version, self._order, fields, bytes(self._data[: self._place]))

    def _header(self) -> int:
        raw = self._take(4, "the version")
        version = int.from_bytes(raw, "little")
        if version & 0xFFFF == 0:
            self._order = ">"
            version = int.from_bytes(raw, "big")
        if version == 1:
            raise FormatError(
                f"{self._source} is a GGUF file of version 1, which had other lengths and was in use for a week",
                hint="convert the model again: files of versions 2 and 3 can be read",
            )
        if version not in (2, VERSION):
            raise FormatError(f"{self._source} is a GGUF file of version {version:,}; versions 2 and 3 can be read")
        return version

    def _key(self) -> str:
        raw = self._take(self._number("Q", "the length of a key"), "a key")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self._error(f"the key {quote(raw)} is not UTF-8") from None

    def _value(self, key: str) -> Field:
        kind = self._number("I", "a type")
        what = f"the value of {quote(key)}"
        if kind == ARRAY:
            element, count, start = self._array(what)
            self._skip_elements(element, count, what, 1)
            return Field(ARRAY, start, self._place, element, count)
        start = self._place
        self._skip_elements(kind, 1, what, 0)
        return Field(kind, start, self._place)

    def _array(self, what: str) -> tuple[int, int, int]:
        """Read an array's head: the type of its elements, how many, and where they begin."""
        element = self._number("I", what)
        count = self._number("Q", what)
        return element, count, self._place

    def _skip_elements(self, kind: int, count: int, what: str, depth: int) -> None:
        """Go past values of one type, and check every length in them."""
        if kind in CODES:
            self._skip(count * struct.calcsize("=" + CODES[kind]), what)
        elif kind == STRING:
            self._fits(count, 8, f"strings in {what}")
            self._strings += count
            if self._strings > MAX_STRINGS:
                raise self._error(f"there are more than {MAX_STRINGS:,} strings, which no tokenizer has, in {what}")
            self._skip_strings(count, what)
        elif kind == ARRAY:
            if depth >= MAX_DEPTH:
                raise self._error(f"arrays lie more than {MAX_DEPTH} deep in {what}")
            self._fits(count, 12, f"arrays in {what}")
            self._arrays += count
            if self._arrays > MAX_ARRAYS:
                raise self._error(f"there are more than {MAX_ARRAYS:,} arrays in {what}")
            for _ in range(count):
                element, length, _ = self._array(what)
                self._skip_elements(element, length, what, depth + 1)
        else:
            raise self._error(f"{what} is of a type that is not known ({kind:,})")

    def _skip_strings(self, count: int, what: str) -> None:
        while count:
            passed, self._place = _core.pass_counted(self._data, self._place, count, self._order == ">")
            count -= passed
            if count:  # the next one is not there, or not whole
                self._skip(self._number("Q", what), what)
                count -= 1

    def _number(self, code: str, what: str) -> int:
        length = struct.calcsize("=" + code)
        self._skip(length, what)
        value: int = struct.unpack_from(self._order + code, self._data, self._place - length)[0]
        return value

    def _take(self, length: int, what: str) -> bytes:
        self._skip(length, what)
        return bytes(self._data[self._place - length : self._place])

    def _skip(self, length: int, what: str) -> None:
        if self._place + length > len(self._data):
            self._need(length, what)
        self._place += length

    def _need(self, length: int, what: str) -> None:
        """Read so far that ``length`` bytes follow."""
        end = self._place + length
        if end > self._size:
            raise self._error(f"{what} goes on for {length:,} bytes, past the end of the file")
        if end > MAX_METADATA_BYTES:
            raise self._error(f"{what} makes the metadata larger than {MAX_METADATA_BYTES:,} bytes (64 MiB)")
        while len(self._data) < end:
            chunk = self._file.read(max(_CHUNK, end - len(self._data)))
            if not chunk:
                raise self._error(f"the file ends in {what}; it has become shorter while it was read")
            self._data += chunk

    def _fits(self, count: int, length: int, what: str) -> None:
        if count > (self._size - self._place) // length:
            raise self._error(f"there are to be {count:,} {what}, for which the file is too short")

    def _error(self, message: str) -> FormatError:
        return FormatError(f"{self._source}: {message} (byte {self._place:,})", hint="the file is cut short or broken")
