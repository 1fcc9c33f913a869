"""Files between the two passes of a shuffle: the documents or sequences of a part, in buckets.

Each item has a key, and belongs to the bucket that its key falls into when the keys are divided into equal ranges.
Items are collected in memory, and written to a nameless file whenever they are ``RUN_BYTES``; at the end the buckets
are laid one after the other, so that each is read in one go. A bucket begins where the table at the end of the file
says, which has the CRC-32 of each too.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import finalize

from bpe_cli.errors import InputError
from bpe_cli.sinks.beside import Strip
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import cannot_read, cannot_write, show_path
from bpe_cli.support.temporary_files import close_quietly

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output

RUN_BYTES = 64 << 20
"""How much of a part is in memory before it is written."""

_HEAD = struct.Struct("<QQBBxxII")
"""Key, number, side, whether there is a mask (1), are pieces (2) and is the number of a document, whose values are kept
(4), how many ids and how many pieces."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document, or a sequence, on its way.

    Attributes:
        key: What it is sorted by.
        part: The part that it was read in.
        number: Its number there; of two with the same key the one that was read first comes first.
        side: The number of the set that it is of.
        strip: Its ids, and their mask.
        pieces: Of a sequence, how many ids it has of each document.
        kept: The number of its document in the part, by which the values that are kept of it are found; or None.
    """

    key: int
    part: int
    number: int
    side: int
    strip: Strip
    pieces: array[int] | None = None
    kept: int | None = None

    def to_bytes(self) -> bytes:
        """Return it as it lies in a file, but for its part."""
        pieces, mask = self.pieces, self.strip.mask
        flags = (mask is not None) | (pieces is not None) << 1 | (self.kept is not None) << 2
        head = _HEAD.pack(self.key, self.number, self.side, flags, len(self.strip), len(pieces or ()))
        kept = b"" if self.kept is None else self.kept.to_bytes(8, "little")
        ids = _little(self.strip.ids)
        return b"".join((head, kept, _little(pieces or array("Q")), ids, b"" if mask is None else mask))


def _little(numbers: array[int] | memoryview) -> bytes | memoryview:
    if sys.byteorder == "little":
        return memoryview(numbers).cast("B")
    swapped = array("I" if numbers.itemsize == 4 else "Q", numbers)
    swapped.byteswap()
    return swapped.tobytes()


def _numbers(code: str, data: memoryview) -> array[int]:
    numbers = array(code, data.tobytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class BucketWriter:
    """Write items into the buckets of a file."""

    def __init__(self, output: Output, buckets: int) -> None:
        """Begin with empty buckets."""
        self._output = output
        self._count = buckets
        self._buckets: dict[int, bytearray] = {}
        self._size = 0
        self._runs: Any = None
        self._places: list[dict[int, tuple[int, int]]] = []  # of each run: where a bucket begins, and its length

    def add(self, item: Item) -> None:
        """Put an item into its bucket.

        Raises:
            OutputError: if there is no room for it.
        """
        data = item.to_bytes()
        self._buckets.setdefault(item.key * self._count >> 64, bytearray()).extend(data)
        self._size += len(data)
        if self._size >= RUN_BYTES:
            self._spill()

    def _spill(self) -> None:
        from tempfile import TemporaryFile

        try:
            if self._runs is None:
                folder = os.path.dirname(self._output.path or ".") or "."
                self._runs = TemporaryFile(dir=folder)  # noqa: SIM115  # it is closed with this writer
                finalize(self, close_quietly, self._runs)
            places = {}
            for bucket in sorted(self._buckets):
                places[bucket] = self._runs.tell(), len(self._buckets[bucket])
                self._runs.write(self._buckets[bucket])
            self._runs.flush()
        except OSError as error:
            raise cannot_write(self._output.name, error) from error
        self._places.append(places)
        self._buckets, self._size = {}, 0

    def finish(self) -> None:
        """Write the buckets one after the other, and the table.

        Raises:
            OutputError: if there is no room for them.
        """
        ends, sums, end = array("Q", [0]), array("I"), 0
        for bucket in range(self._count):
            crc = 0
            for data in self._data_of(bucket):
                self._output.write(data)
                crc, end = zlib.crc32(data, crc), end + len(data)
            ends.append(end)
            sums.append(crc)
        self._output.write(_little(ends))
        self._output.write(_little(sums))
        self._output.flush()

    def _data_of(self, bucket: int) -> Iterator[bytes | bytearray]:
        for places in self._places:
            if bucket in places:
                place, length = places[bucket]
                try:
                    self._runs.seek(place)
                    yield self._runs.read(length)
                except OSError as error:
                    raise cannot_write(self._output.name, error) from error
        if bucket in self._buckets:
            yield self._buckets[bucket]


def read_bucket(paths: Sequence[str], bucket: int, buckets: int) -> list[Item]:
    """Read a bucket from the files of all parts, in order, and sort its items.

    Raises:
        InputError: if a file cannot be read, or is damaged.
    """
    items: list[Item] = []
    for part, path in enumerate(paths):
        items.extend(_items(_section(path, bucket, buckets), part))
    items.sort(key=lambda item: (item.key, item.part, item.number))
    return items


def _section(path: str, bucket: int, buckets: int) -> memoryview:
    table = 8 * (buckets + 1)
    try:
        with open(path, "rb") as file:
            start = file.seek(-table - 4 * buckets, os.SEEK_END)
            file.seek(start + 8 * bucket)
            begin, end = _numbers("Q", memoryview(file.read(16)))
            file.seek(start + table + 4 * bucket)
            crc = int.from_bytes(file.read(4), "little")
            is_inside = begin <= end <= start
            file.seek(begin if is_inside else 0)
            data = file.read(end - begin if is_inside else 0)
    except (OSError, ValueError) as error:
        raise cannot_read(path, error if isinstance(error, OSError) else OSError(str(error))) from error
    if not is_inside or len(data) != end - begin or zlib.crc32(data) != crc:
        raise InputError(f"{show_path(path)} is damaged", hint="remove it, and run the same command again")
    return memoryview(data)


def _items(data: memoryview, part: int) -> Iterator[Item]:
    place = 0
    while place < len(data):
        key, number, side, flags, ids, pieces = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        kept = int.from_bytes(data[place : place + 8], "little") if flags & 4 else None
        place += 8 if flags & 4 else 0
        lengths = _numbers("Q", data[place : place + 8 * pieces]) if flags & 2 else None
        place += 8 * pieces
        own = data[place : place + 4 * ids]
        place += 4 * ids
        mask = data[place : place + ids] if flags & 1 else None
        place += ids if flags & 1 else 0
        strip = Strip(own.cast("I") if sys.byteorder == "little" else _numbers("I", own), mask)
        yield Item(key, part, number, side, strip, lengths, kept)
