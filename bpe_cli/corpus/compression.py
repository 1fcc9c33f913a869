"""Recognise compressed data by its first bytes, and decompress it in bounded memory.

Every codec is a *decompressor* in the manner of ``bz2.BZ2Decompressor``: ``decompress(data, max_length)``,
``needs_input``, ``eof``, ``unused_data``. Adapters give that shape to the two that lack it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import Protocol
from bpe_cli.support.lazy_modules import optional

MAGIC_BYTES = 16
"""As many first bytes as ``codec_of`` wants to see."""

_GZIP = b"\x1f\x8b\x08"
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ\0"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
"""What follows the first byte, 0x50 to 0x5F, of a frame that pzstd and some archivers put first."""

_OUTPUT_BYTES = 1 << 20


_LARGE_WINDOW = "Frame requires too much memory"
"""What libzstd says of a frame that looks back more than 128 MiB. More is not allowed: 64 KB could take 2 GiB."""


class CompressionError(InputError):
    """Report data that is compressed, and damaged, or only begins as if it were, or takes too much memory."""


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
        CompressionError: if the data is damaged or ends too early; the message says after how many bytes of output.
            If it takes a larger window than is allowed.
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
        if _LARGE_WINDOW in str(error):
            raise CompressionError(
                f"cannot read {name}: its zstd data takes a window of more than 128 MiB, as `zstd --long` makes it",
                hint="decompress it: zstd -dc --long=31 FILE | bpe ...",
            ) from error
        raise CompressionError(
            f"cannot read {name}: its {codec.name} data is damaged, after {produced:,} bytes of text"
            f" ({str(error).rstrip('.') or type(error).__name__})"
        ) from error
    if not decompressor.eof:
        raise CompressionError(
            f"cannot read {name}: its {codec.name} data ends too early, after {produced:,} bytes of text"
        )


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
