"""Compress files whose names end in .gz or .zst; the same data always gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bpe_cli.errors import OutputError
from bpe_cli.sinks.atomic import Output, open_output
from bpe_cli.sinks.naming import PACKED, read_name
from bpe_cli.support.fast_typing import TYPE_CHECKING, Protocol
from bpe_cli.support.lazy_modules import optional

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Buffer

_CHUNK_BYTES = 1 << 20
"""A compressor gets so many bytes at a time, however they are written: so its output depends on nothing else."""

_LEVELS = {"gzip": 6, "zstd": 3}
"""As hard as the commands of these names try."""


class Compressor(Protocol):
    """The interface of compressors."""

    def compress(self, data: Buffer, /) -> bytes:
        """Compress bytes, and return what is ready."""

    def flush(self) -> bytes:
        """Return the rest."""


def check_compressing(path: str | None) -> None:
    """Check before the work begins that a file can be compressed as its name says.

    Raises:
        OutputError: if no library for it is installed.
    """
    _compressor_of(path)


@contextmanager
def open_packed(path: str) -> Iterator[Output]:
    """Open a file as ``open_output`` does, compressed if its name says so."""
    make = _compressor_of(path)
    with open_output(path) as output:
        if make is None:
            yield output
            return
        packed = _Packed(output, make())
        yield packed
        packed.finish()


class _Packed(Output):
    """An output that compresses. Nothing is handed on before there is enough of it, so ``flush`` does nothing."""

    def __init__(self, output: Output, compressor: Compressor) -> None:
        self.name, self.path = output.name, output.path
        self._output = output
        self._compressor = compressor
        self._held = bytearray()

    @property
    def rewritable(self) -> bool:
        return False

    def write(self, data: Buffer) -> None:
        self._held += data
        whole = len(self._held) // _CHUNK_BYTES * _CHUNK_BYTES
        if whole:
            with memoryview(self._held) as held:
                for start in range(0, whole, _CHUNK_BYTES):
                    self._output.write(self._compressor.compress(held[start : start + _CHUNK_BYTES]))
            del self._held[:whole]

    def flush(self) -> None:
        pass

    def rewrite_start(self, data: bytes) -> None:  # as of any output
        raise OutputError(f"cannot write {self.name}: its start cannot be rewritten")

    def finish(self) -> None:
        """Write what is left."""
        self._output.write(self._compressor.compress(bytes(self._held)) + self._compressor.flush())
        self._held.clear()


class _Gzip:
    """Write a gzip file without time, name and system, so that equal data makes equal files."""

    def __init__(self) -> None:
        import zlib

        self._checksum_of = zlib.crc32
        self._inner = zlib.compressobj(_LEVELS["gzip"], zlib.DEFLATED, -zlib.MAX_WBITS)
        self._ready = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
        self._checksum = self._size = 0

    def compress(self, data: Buffer) -> bytes:
        view = memoryview(data).cast("B")
        self._checksum = self._checksum_of(view, self._checksum)
        self._size += len(view)
        ready, self._ready = self._ready, b""
        return ready + self._inner.compress(view)

    def flush(self) -> bytes:
        trailer = self._checksum.to_bytes(4, "little") + (self._size & 0xFFFFFFFF).to_bytes(4, "little")
        ready, self._ready = self._ready, b""
        return ready + self._inner.flush() + trailer


def _compressor_of(path: str | None) -> Callable[[], Compressor] | None:
    """Return the maker of the compressor that a name asks for; None if it asks for none."""
    kind = PACKED.get(read_name(path).packed)
    if kind is None:
        return None
    return _Gzip if kind == "gzip" else _zstandard(str(path))


def _zstandard(path: str) -> Callable[[], Compressor]:
    level: Any = _LEVELS["zstd"]
    stdlib = optional("compression.zstd")  # from Python 3.14
    if stdlib is not None:
        parameters = {
            stdlib.CompressionParameter.compression_level: level,
            stdlib.CompressionParameter.checksum_flag: 1,
        }
        return lambda: stdlib.ZstdCompressor(options=parameters)
    package = optional("zstandard")
    if package is not None:
        return lambda: package.ZstdCompressor(level=level, write_checksum=True).compressobj()
    raise OutputError(
        f"cannot write {path}: no library for zstd is installed",
        hint="pip install zstandard, or end the name in .gz",
    )
