"""Open one input and stream its bytes, decompressed; every failure names the input.

What is compressed is known by its first bytes; a file's name is never asked. Memory is bounded.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import chain

from bpe_cli.corpus.compression import MAGIC_BYTES, codec_of, decompress, may_be_compressed
from bpe_cli.errors import InputError
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from typing_extensions import Buffer


CHUNK_BYTES = 1 << 20
SNIFF_BYTES = 8192
"""A file is taken for binary when a NUL is among so many first bytes."""

SCHEMES = frozenset(("s3", "gs", "az", "hf", "https", "http"))
"""Of the URLs that are read: see ``corpus.objects``."""

NO_STDIN: BinaryIO = io.BytesIO()
"""What ``-`` stands for where it is not a file."""


def is_url(path: str) -> bool:
    """Return whether a path is the URL of an object, or of a folder of objects.

    >>> is_url("s3://bucket/a.txt"), is_url("s3/a.txt"), is_url("file:///a.txt")
    (True, False, False)
    """
    scheme, mark, _ = path.partition("://")
    return bool(mark) and scheme in SCHEMES


def read_chunks(
    path: str,
    *,
    stdin: BinaryIO,
    chunk_bytes: int = CHUNK_BYTES,
    decompressed: bool = True,
    on_raw: Callable[[bytes], None] | None = None,
    on_wait: Callable[[], None] | None = None,
    version: str | None = None,
    size: int | None = None,
) -> Generator[bytes, None, None]:
    """Stream the bytes of a file, an object or ``-``, looking through compression.

    Args:
        path: The file, the URL of an object, or ``-`` for ``stdin``.
        stdin: The stream that ``-`` stands for.
        chunk_bytes: How much to read at a time. Chunks that are yielded may be larger, up to 1 MiB.
        decompressed: False to give the bytes as they are on disk.
        on_raw: Called with every chunk as it is on disk.
        on_wait: Called before every read that has nothing to read yet, or of which nobody knows.
        version: The version of the object that is to be read; None for that which is there.
        size: Its size, if that is known.

    Raises:
        InputError: if the input cannot be opened or read, or its compressed data is damaged.
    """
    if is_url(path):
        from bpe_cli.corpus.objects.reading import read_object

        came = read_object(path, version=version, size=size, few=chunk_bytes < CHUNK_BYTES)
        try:
            yield from _looked_through(_heard(came, on_raw), path, decompressed)
        finally:
            came.close()
        return
    try:
        stream = stdin if path == "-" else open(path, "rb", buffering=0)  # noqa: SIM115  # closed below
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    try:
        yield from _looked_through(_raw_chunks(stream, path, chunk_bytes, on_raw, on_wait), path, decompressed)
    finally:
        if path != "-":
            stream.close()


def _looked_through(raw: Iterator[bytes], path: str, decompressed: bool) -> Iterator[bytes]:
    """Decompress what is compressed."""
    head = b""
    # Nobody waits for more of a pipe's first line than it takes to know that it is plain text.
    while len(head) < MAGIC_BYTES and may_be_compressed(head) and (chunk := next(raw, b"")):
        head += chunk
    chunks = chain((head,) if head else (), raw)
    codec = codec_of(head, show_path(path)) if decompressed else None
    return decompress(chunks, codec, show_path(path)) if codec else chunks


def _heard(chunks: Iterator[bytes], on_raw: Callable[[bytes], None] | None) -> Iterator[bytes]:
    """Pass chunks on, calling somebody with each."""
    for chunk in chunks:
        if on_raw is not None:
            on_raw(chunk)
        yield chunk


def _raw_chunks(
    stream: BinaryIO,
    path: str,
    chunk_bytes: int,
    on_raw: Callable[[bytes], None] | None,
    on_wait: Callable[[], None] | None,
) -> Iterator[bytes]:
    # Take what a pipe has; ``read`` would wait until it has ``chunk_bytes``. An unbuffered file does as it should.
    read = getattr(stream, "read1", stream.read)
    left = _bytes_there(stream)
    while left != 0:
        if on_wait is not None and not is_ready(stream):
            on_wait()
        try:
            chunk: bytes | None = read(chunk_bytes if left is None else min(chunk_bytes, left))
        except (OSError, ValueError) as error:
            raise cannot_read(path, error) from error
        if chunk is None:
            raise InputError(
                f"cannot read {show_path(path)}: it has no data yet, and does not wait for any (O_NONBLOCK is set)"
            )
        if not chunk:
            return
        if left is not None:
            left -= len(chunk)
        if on_raw is not None:
            on_raw(chunk)
        yield chunk


def _bytes_there(stream: BinaryIO) -> int | None:
    """Return how many bytes of a plain file can be read now; None for files without a size.

    No more than these are read: a file that grows meanwhile, by our own output perhaps, would never end.
    """
    try:
        status = os.fstat(stream.fileno())
        # Files of a size of 0 are those of /proc, too, which have something in them.
        return max(status.st_size - stream.tell(), 0) if stat.S_ISREG(status.st_mode) and status.st_size else None
    except (OSError, ValueError):  # no descriptor behind it
        return None


def is_ready(stream: BinaryIO) -> bool:
    """Return whether a stream has something to read, or is at its end; False also if this cannot be known."""
    import select

    try:
        return bool(select.select([stream.fileno()], [], [], 0)[0])
    except (OSError, ValueError):  # no descriptor behind it, or none that can be asked
        return False


def first_bytes(chunks: Iterator[bytes]) -> bytes:
    """Read the first bytes of a stream, enough to show whether it is binary."""
    head = b""
    while len(head) < SNIFF_BYTES and (chunk := next(chunks, b"")):
        head += chunk
    return head


def head_of(path: str) -> bytes:
    """Return the first bytes of a file's text, decompressed."""
    chunks = read_chunks(path, stdin=NO_STDIN, chunk_bytes=SNIFF_BYTES)
    try:
        return first_bytes(chunks)
    finally:
        chunks.close()


def nul_in(head: bytes) -> int | None:
    """Return where a NUL byte stands among the first bytes of a file, which text hardly has; None if none does."""
    place = head.find(b"\0", 0, SNIFF_BYTES)
    return None if place < 0 else place


class _ChunkStream(io.RawIOBase):
    """Present chunks as a readable stream."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        while not self._held:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._held = memoryview(chunk)
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._held))
        target[:size] = self._held[:size]
        self._held = self._held[size:]
        return size


@contextmanager
def open_stream(
    path: str,
    *,
    stdin: BinaryIO,
    on_bytes: Callable[[int], None] | None = None,
    on_wait: Callable[[], None] | None = None,
    decompressed: bool = True,
) -> Iterator[io.BufferedReader]:
    """Open one file or ``-`` as a readable stream, decompressed if wanted: what the readers of ``sinks.read`` take.

    Args:
        path: The file.
        stdin: The stream that ``-`` stands for.
        on_bytes: Is told how many bytes were read.
        on_wait: Is called before a read that may block.
        decompressed: Whether compressed data is decompressed.

    Raises:
        InputError: if the input cannot be opened or read, or its compressed data is damaged.
    """
    on_raw = (lambda raw: on_bytes(len(raw))) if on_bytes else None
    chunks = read_chunks(path, stdin=stdin, decompressed=decompressed, on_raw=on_raw, on_wait=on_wait)
    stream: Any = io.BufferedReader(_ChunkStream(chunks), CHUNK_BYTES)
    try:
        yield stream
    finally:
        stream.close()
        chunks.close()


LARGEST_WHOLE = 1 << 24


def read_whole(path: str, *, stdin: BinaryIO, most: int = LARGEST_WHOLE) -> bytes:
    """Read a small file that is needed once: from disk, a pipe, or ``-`` for stdin; decompressed.

    Raises:
        InputError: if the file cannot be read, or has more than ``most`` bytes.
    """
    with open_stream(path, stdin=stdin) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise InputError(f"{show_path(path)} has more than {most:,} bytes")
    return data
