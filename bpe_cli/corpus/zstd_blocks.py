"""Decompress Zstandard with the package ``zstandard``, in bounded memory.

Its ``stream_reader`` is silent about data that ends too early, and its ``decompressobj`` does not bound its output. So
the latter is fed as many blocks at a time as can become what is asked for: each says how long it is, and is at most
128 KiB when it is decompressed. The format: RFC 8878.
"""

from __future__ import annotations

from typing import Any

_LARGEST_BLOCK = 128 << 10
_STEP = 1024
"""As many bytes are fed at a time of what is not understood; the package says what is wrong with it."""

_MAGIC = b"\x28\xb5\x2f\xfd"
_RAW, _RLE, _COMPRESSED = 0, 1, 2


class FrameBlocks:
    r"""Follow the blocks of a frame, whose bytes arrive in parts.

    >>> blocks = FrameBlocks()
    >>> blocks.cut(_MAGIC + b"\x00\x58" + b"\x03\x00\x00" + b"x" + b"next", 0, 1 << 20)
    10
    """

    def __init__(self) -> None:
        self._read = self._frame_header
        self._needed = 5  # bytes of the header that comes next, here magic number and descriptor; 0 for no header
        self._header = b""
        self._rest = 0  # bytes of the block, or of something else, that have not come
        self._has_checksum = False

    def cut(self, data: bytes, start: int, most: int) -> int:
        """Return the end of what can be decompressed next: blocks that become at most ``most`` bytes, or one.

        Args:
            data: What has come.
            start: Where in it the bytes begin that follow those of the last call.
            most: How many bytes may come out.
        """
        place, size = start, 0
        while place < len(data):
            if self._rest:
                end = min(place + self._rest, len(data))
                self._rest -= end - place
                place = end
                continue
            if not self._needed:  # the end of the frame, or what is not understood
                return place if place > start else min(place + _STEP, len(data))
            if size >= most:
                return place
            more = data[place : place + self._needed - len(self._header)]
            self._header += more
            place += len(more)
            if len(self._header) == self._needed:
                header, self._header = self._header, b""
                size += self._read(header)
        return place

    def _frame_header(self, header: bytes) -> int:
        if header[:4] != _MAGIC:
            if header[1:4] == b"\x2a\x4d\x18":  # a frame to be skipped, whose length is the next four bytes
                self._read, self._needed = self._skipped, 4
                self._header = header[4:]
            else:
                self._needed = 0
            return 0
        descriptor = header[4]
        is_single = bool(descriptor & 0x20)
        self._has_checksum = bool(descriptor & 4)
        self._rest = (0 if is_single else 1) + (0, 1, 2, 4)[descriptor & 3]
        self._rest += (int(is_single), 2, 4, 8)[descriptor >> 6]
        self._read, self._needed = self._block_header, 3
        return 0

    def _skipped(self, header: bytes) -> int:
        self._rest, self._needed = int.from_bytes(header, "little"), 0
        return 0

    def _block_header(self, header: bytes) -> int:
        number = int.from_bytes(header, "little")
        kind, size = number >> 1 & 3, number >> 3
        if kind > _COMPRESSED:
            self._needed = 0
            return 0
        self._rest = 1 if kind == _RLE else size
        if number & 1:
            self._rest += 4 * self._has_checksum
            self._needed = 0
        return _LARGEST_BLOCK if kind == _COMPRESSED else size


class ZstandardDecompressor:
    """Wrap the package in the interface of the other decompressors."""

    def __init__(self, package: Any) -> None:
        self._inner = package.ZstdDecompressor().decompressobj()
        self._blocks = FrameBlocks()
        self._held = b""
        self._position = 0

    @property
    def eof(self) -> bool:
        """Whether the end of the frame was reached."""
        return bool(self._inner.eof)

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before more goes in."""
        return self._position >= len(self._held)

    @property
    def unused_data(self) -> bytes:
        """What followed the frame."""
        return bytes(self._inner.unused_data) + self._held[self._position :]

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return at most ``max_length`` bytes and two blocks, holding back the rest.

        What has half of that is not joined with more: a copy costs more than another call.
        """
        self._held = self._held[self._position :] + data
        self._position = 0
        parts, size = [], 0
        while not self.needs_input and not self.eof and (not size or size < max_length // 2):
            end = self._blocks.cut(self._held, self._position, max(max_length - size, 1))
            part = self._inner.decompress(memoryview(self._held)[self._position : end])
            self._position = end
            size += len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)
