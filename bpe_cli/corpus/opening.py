"""Open one input and stream its bytes, decompressed; every failure names the input.

What is compressed is known by its first bytes; a file's name is never asked. Every codec is a *decompressor* in the
manner of ``bz2.BZ2Decompressor``: ``decompress(data, max_length)``, ``needs_input``, ``eof``, ``unused_data``. Adapters
give that shape to the two that lack it. Memory is bounded.
"""

from __future__ import annotations

import io
import os
import select
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from typing_extensions import Buffer


CHUNK_BYTES = 1 << 20
SNIFF_BYTES = 8192
"""A file is taken for binary when a NUL is among so many first bytes."""

NO_STDIN: BinaryIO = io.BytesIO()
"""What ``-`` stands for where it is not a file."""


def read_chunks(
    path: str,
    *,
    stdin: BinaryIO,
    chunk_bytes: int = CHUNK_BYTES,
    decompressed: bool = True,
    on_raw: Callable[[bytes], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> Generator[bytes, None, None]:
    """Stream the bytes of a file or ``-``, looking through compression.

    Args:
        path: The file, or ``-`` for ``stdin``.
        stdin: What ``-`` stands for.
        chunk_bytes: How much to read at a time. Chunks that are yielded may be larger, up to 1 MiB.
        decompressed: False to give the bytes as they are on disk.
        on_raw: Called with every chunk as it is on disk.
        on_wait: Called before every read that has nothing to read yet, or of which nobody knows.

    Raises:
        InputError: if the input cannot be opened or read, or its compressed data is damaged.
    """
    try:
        stream = stdin if path == "-" else open(path, "rb", buffering=0)  # noqa: SIM115  # closed below
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    try:
        raw = _raw_chunks(stream, path, chunk_bytes, on_raw, on_wait)
        head = b""
        # Nobody waits for more of a pipe's first line than it takes to know that it is plain text.
        while len(head) < MAGIC_BYTES and may_be_compressed(head) and (chunk := next(raw, b"")):
            head += chunk
        chunks = chain((head,) if head else (), raw)
        codec = codec_of(head, show_path(path)) if decompressed else None
        yield from decompress(chunks, codec, show_path(path)) if codec else chunks
    finally:
        if path != "-":
            stream.close()


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
            raise InputError(f"cannot read {show_path(path)}: it has no data yet, and does not wait for any")
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
    path: str, *, stdin: BinaryIO, on_bytes: Callable[[int], None] | None = None
) -> Iterator[io.BufferedReader]:
    """Open one file or ``-`` as a readable stream, decompressed: what the readers of ``sinks.read`` take.

    Raises:
        InputError: if the input cannot be opened or read, or its compressed data is damaged.
    """
    chunks = read_chunks(path, stdin=stdin, on_raw=(lambda raw: on_bytes(len(raw))) if on_bytes else None)
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


MAGIC_BYTES = 16
"""As many first bytes as ``codec_of`` wants to see."""

_GZIP = b"\x1f\x8b\x08"
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ\0"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""What follows the first byte, 0x50 to 0x5F, of a frame that pzstd and some archivers put first."""

_OUTPUT_BYTES = 1 << 20


class Decompressor(Protocol):
    """One member, stream or frame of compressed data on its way to bytes."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member was reached."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before more goes in."""

    @property
    def unused_data(self) -> bytes:
        """What followed the member."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return at most ``max_length`` bytes, holding back the rest."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A kind of compression: its name, a maker of decompressors, and what those raise on bad data."""

    name: str
    make: Callable[[], Decompressor]
    errors: tuple[type[Exception], ...]


def may_be_compressed(head: bytes) -> bool:
    r"""Return whether data that begins so may turn out to be compressed when more of it is there.

    >>> [may_be_compressed(head) for head in (b"", b"B", b"Bob\n", b"P", b"Pa\n", b"hello\n")]
    [True, True, False, True, False, False]
    """
    skippable = head[:1] == b"" or (head[0] >> 4 == 5 and _SKIPPABLE.startswith(head[1:4]))
    return skippable or any(magic.startswith(head[: len(magic)]) for magic in (_GZIP, _BZIP2, _XZ, _ZSTANDARD))


def codec_of(head: bytes, name: str) -> Codec | None:
    """Recognise compressed data by its first bytes (``MAGIC_BYTES`` of them); None for anything else.

    Raises:
        InputError: if the data is compressed by Zstandard, and no library for that is installed.
    """
    if head.startswith(_GZIP):
        return _gzip()
    # The ten bytes are the header and the first block's mark (or the end mark of an empty stream).
    if head.startswith(_BZIP2) and head[3:4] in b"123456789" and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        import bz2

        return Codec("bzip2", bz2.BZ2Decompressor, (OSError, ValueError))
    if head.startswith(_XZ):
        import lzma

        return Codec("xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), (lzma.LZMAError,))
    if head.startswith(_ZSTANDARD) or (head[1:4] == _SKIPPABLE and head[0] >> 4 == 5):
        return _zstandard(name)
    return None


def decompress(chunks: Iterable[bytes], codec: Codec, name: str) -> Iterator[bytes]:
    """Decompress chunks, member after member, at most 1 MiB at a time.

    Raises:
        InputError: if the data is damaged or ends too early; the message says after how many bytes of output.
    """
    decompressor = codec.make()
    produced = 0
    try:
        for chunk in chunks:
            data = chunk
            while data or not (decompressor.eof or decompressor.needs_input):
                if decompressor.eof:
                    # Zeros pad gzip on tapes and are part of the xz format; anything else must be a member.
                    data = data.lstrip(b"\0") if codec.name in ("gzip", "xz") else data
                    if not data:
                        break
                    decompressor = codec.make()
                output = decompressor.decompress(data, _OUTPUT_BYTES)
                data = decompressor.unused_data if decompressor.eof else b""
                if output:
                    produced += len(output)
                    yield output
    except codec.errors as error:
        raise InputError(
            f"cannot read {name}: its {codec.name} data is damaged, after {produced:,} bytes of text"
            f" ({str(error).rstrip('.') or type(error).__name__})"
        ) from error
    if not decompressor.eof:
        raise InputError(f"cannot read {name}: its {codec.name} data ends too early, after {produced:,} bytes of text")


def _gzip() -> Codec:
    igzip = optional("isal.igzip_lib")  # about twice as fast as zlib
    if igzip is not None:
        return Codec(
            "gzip", lambda: igzip.IgzipDecompressor(flag=igzip.DECOMP_GZIP), (igzip.IsalError, EOFError, ValueError)
        )
    import zlib

    return Codec("gzip", _Zlib, (zlib.error,))


def _zstandard(name: str) -> Codec:
    stdlib = optional("compression.zstd")  # from Python 3.14
    if stdlib is not None:
        return Codec("zstd", stdlib.ZstdDecompressor, (stdlib.ZstdError, EOFError))
    package = optional("zstandard")
    if package is not None:
        from bpe_cli.corpus.zstd_blocks import ZstandardDecompressor

        return Codec("zstd", lambda: ZstandardDecompressor(package), (package.ZstdError,))
    raise InputError(
        f"cannot read {name}: it is compressed with zstd, and no library for that is installed",
        hint="pip install zstandard, or decompress it: zstd -dc FILE | bpe ...",
    )


class _Zlib:
    """Wrap ``zlib.decompressobj`` in the interface of the other decompressors."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)
        self._full = False  # more may come out though all input went in

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not (self._full or self._inner.unconsumed_tail)

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        held = self._inner.unconsumed_tail
        output = self._inner.decompress(held + data if held else data, max_length)
        self._full = len(output) == max_length and not self._inner.eof
        return output
