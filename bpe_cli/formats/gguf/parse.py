"""Read the metadata of GGUF files that may be broken, hostile, or forty gigabytes long.

A file of a model has gigabytes of tensors behind some megabytes of metadata, so it is read step by step
and no further than the last key. Every count and length is held against the size of the file, and against
``MAX_METADATA_BYTES``, before anything is read or allocated for it; values stay where they are in what was
read until somebody asks for them.
"""

from __future__ import annotations

import stat
import struct
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats.gguf.container import ARRAY, CODES, MAGIC, STRING, VERSION, Field, Metadata
from bpe_cli.support.messages import cannot_read, quote

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
    """Read a file's metadata, and nothing behind it.

    Raises:
        InputError: if it is missing, unreadable or no regular file.
        FormatError: if it is broken, or of a version that is not known.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(
                f"{path} is not a regular file", hint="a tokenizer is read more than once: save it to disk"
            )
        with path.open("rb") as file:
            return _Reader(file, status.st_size, str(path)).metadata()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error


def parse(data: bytes, source: str = "GGUF") -> Metadata:
    """Read the metadata of a file's content.

    Raises:
        FormatError: as for ``read``.
    """
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
            raise FormatError(f"{self._source} is no GGUF file: it does not begin with GGUF")
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
                raise self._error(f"the key {quote(key)} stands twice")
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
        # A loop over some hundred thousand tokens and merges: it looks for more data only where it must.
        unpack = struct.Struct(self._order + "Q").unpack_from
        data = self._data
        for _ in range(count):
            place = self._place
            if place + 8 > len(data):
                self._need(8, what)
            end = place + 8 + unpack(data, place)[0]
            if end > len(data):
                self._place = place + 8
                self._need(end - place - 8, what)
            self._place = end

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
