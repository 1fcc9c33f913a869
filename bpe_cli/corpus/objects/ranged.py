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

MOST_STRETCHES = 8
"""So many stretches are fetched at a time: that of a column is one."""

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
            f"cannot read {show_path(url)}: its server does not send ranges of bytes, which a table needs",
            hint="download it, or put it into an object store",
        )
    return ObjectFile(url, there.size, version or there.version)


class _Stretch:
    """Bytes that are fetched in order, ahead of whoever reads them."""

    def __init__(self, chunks: Generator[bytes, None, None], reached: int, end: int) -> None:
        self.reached, self.end = reached, end
        self._chunks, self._rest = chunks, b""

    def follows(self, start: int) -> bool:
        """Return whether a byte comes soon."""
        return self.reached <= start < min(self.reached + _NEAR, self.end)

    def take(self, start: int, count: int) -> bytes:
        """Return bytes from ``start`` on, fewer at the end of the stretch."""
        parts: list[bytes] = []
        skip = start - self.reached
        wanted = skip + count
        while wanted and (self._rest or (chunk := next(self._chunks, b""))):
            data = self._rest or chunk
            part, self._rest = data[:wanted], data[wanted:]
            wanted -= len(part)
            self.reached += len(part)
            parts.append(part)
        return b"".join(parts)[skip:]

    def close(self) -> None:
        """End what is fetched."""
        self._chunks.close()


class ObjectFile(io.RawIOBase):
    """An object as a file. What is read in order is fetched ahead, by one request for each stretch.

    Memory: what was asked for, and for each stretch that is read, ``MOST_STRETCHES`` at most, what ``ahead`` holds.
    """

    def __init__(self, url: str, size: int, version: str | None) -> None:
        """Open nothing yet."""
        self._url, self._size, self._version = url, size, version
        self._place = 0
        self._will_read: list[tuple[int, int]] = []
        self._held = (0, b"")  # from where on, and what
        self._stretches: list[_Stretch] = []  # the one that was read last comes last

    def will_read(self, stretches: Sequence[tuple[int, int]]) -> None:
        """Announce the ranges to be read, each from its first byte to its end (exclusive); none within another."""
        self._will_read = sorted(stretches)

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
            InputError: if they cannot be fetched.
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
        stretch = next((each for each in self._stretches if each.follows(start)), None) or self._begun(start)
        if stretch is not None:
            data = stretch.take(start, count)
            self._stretches.remove(stretch)
            if stretch.reached < stretch.end:
                self._stretches.append(stretch)
            else:
                stretch.close()
            return data + self._fetched(start + len(data), start + count)
        data = self._fetched(start, min(start + max(count, _LEAST), self._size))
        if len(data) <= _NEAR:
            self._held = (start, data)
        return data[:count]

    def _fetched(self, start: int, end: int) -> bytes:
        return read(self._url, start, end, version=self._version, size=self._size) if start < end else b""

    def _begun(self, start: int) -> _Stretch | None:
        """Begin to fetch the stretch with a byte, if there is one."""
        number = bisect_right(self._will_read, (start, self._size + 1)) - 1
        if number < 0 or start >= self._will_read[number][1]:
            return None
        end = self._will_read[number][1]
        stretch = _Stretch(ahead(self._url, start, end, version=self._version, size=self._size), start, end)
        self._stretches.append(stretch)
        if len(self._stretches) > MOST_STRETCHES:
            self._stretches.pop(0).close()
        return stretch

    def close(self) -> None:
        """End what is fetched."""
        while self._stretches:
            self._stretches.pop().close()
        super().close()
