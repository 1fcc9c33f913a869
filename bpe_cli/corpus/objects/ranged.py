"""An object as a file of random access, for the readers of tables: only what they ask for is fetched."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Generator, Sequence

from bpe_cli.corpus.objects.reading import ahead, find, is_ranged, missing, read
from bpe_cli.errors import InputError
from bpe_cli.support.messages import show_path

_NEAR = 1 << 20
"""Bytes between two reads that are rather passed over than fetched by another request."""

_LEAST = 1 << 16
"""So much is fetched where only a few bytes are asked for: what lies beside them is often asked for next."""


def open_object(url: str, version: str | None) -> ObjectFile:
    """Open an object as a file.

    Raises:
        InputError: if there is no such object, its server gives no ranges of bytes, or does not say how many there are.
    """
    try:
        there = find(url)
    except FileNotFoundError as error:
        raise missing(url) from error
    if there.size is None or not is_ranged(url):
        raise InputError(
            f"cannot read {show_path(url)}: its server gives no ranges of bytes, and a table is read by those",
            hint="download it, or put it into an object store",
        )
    return ObjectFile(url, there.size, version or there.version)


class ObjectFile(io.RawIOBase):
    """An object as a file. What is read in order is fetched ahead, by one request for each stretch.

    Memory: what was asked for, and what ``ahead`` holds.
    """

    def __init__(self, url: str, size: int, version: str | None) -> None:
        """Open nothing yet."""
        self._url, self._size, self._version = url, size, version
        self._place = 0
        self._stretches: list[tuple[int, int]] = []
        self._held = (0, b"")  # from where on, and what
        self._chunks: Generator[bytes, None, None] | None = None
        self._reached = self._until = -1  # of the stretch that is fetched: the byte that comes next, and its end
        self._rest = b""

    def will_read(self, stretches: Sequence[tuple[int, int]]) -> None:
        """Say which bytes will be read in order: from and to (exclusive), ascending."""
        self._stretches = sorted(stretches)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def size(self) -> int:
        """Return how many bytes the object has."""
        return self._size

    def tell(self) -> int:
        """Return the byte that is read next."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a byte."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(base + offset, 0)
        return self._place

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, all of them unless the object ends.

        Raises:
            InputError: if they cannot be had.
        """
        left = max(self._size - self._place, 0)
        count = left if size is None or size < 0 else min(size, left)
        data = self._read(self._place, count) if count else b""
        self._place += len(data)
        return data

    def _read(self, start: int, count: int) -> bytes:
        first, held = self._held
        if first <= start and start + count <= first + len(held):
            return held[start - first : start - first + count]
        if self._follows(start) or self._begin(start):
            return self._from_stretch(start, count)
        end = min(start + max(count, _LEAST), self._size)
        data = read(self._url, start, end, version=self._version, size=self._size)
        if len(data) <= _NEAR:
            self._held = (start, data)
        return data[:count]

    def _follows(self, start: int) -> bool:
        return self._chunks is not None and self._reached <= start < min(self._reached + _NEAR, self._until)

    def _begin(self, start: int) -> bool:
        """Begin to fetch the stretch with a byte, if there is one."""
        number = bisect_right(self._stretches, (start, self._size + 1)) - 1
        if number < 0 or start >= self._stretches[number][1]:
            return False
        self._end()
        self._reached, self._until = start, self._stretches[number][1]
        self._chunks = ahead(self._url, start, self._until, version=self._version, size=self._size)
        return True

    def _from_stretch(self, start: int, count: int) -> bytes:
        parts: list[bytes] = []
        skip = start - self._reached
        wanted = skip + count
        while wanted and self._chunks is not None:
            if not self._rest:
                self._rest = next(self._chunks, b"")
                if not self._rest:
                    break
            part, self._rest = self._rest[:wanted], self._rest[wanted:]
            wanted -= len(part)
            self._reached += len(part)
            parts.append(part)
        data = b"".join(parts)[skip:]
        if len(data) < count:  # it goes on after the stretch
            more = start + len(data)
            data += read(self._url, more, start + count, version=self._version, size=self._size)
        return data

    def _end(self) -> None:
        if self._chunks is not None:
            self._chunks.close()
        self._chunks, self._rest = None, b""

    def close(self) -> None:
        """End what is fetched."""
        self._end()
        super().close()
