"""What a program gives to write to may be able to do nothing else: the rest of what a stream has is put in."""

from __future__ import annotations

import io

from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

    from typing_extensions import Buffer

_METHODS = ("fileno", "flush", "isatty", "seekable", "closed")


def whole_stream(stream: BinaryIO) -> BinaryIO:
    """Return a stream with all that is asked of one: the same, or one that writes to it.

    >>> class Parts(list):
    ...     write = list.append
    >>> parts = Parts()
    >>> whole_stream(parts).write(b"ab"), parts, whole_stream(parts).isatty()
    (2, [b'ab'], False)
    """
    return stream if all(hasattr(stream, name) for name in _METHODS) else _OnlyWritten(stream)  # type: ignore[return-value]  # all that is used of one


class _OnlyWritten(io.BufferedIOBase):
    """A stream over an object with ``write``: it has no file, cannot be rewound, and closes nothing."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the number of the stream's descriptor, if it has one."""
        return self._stream.fileno() if hasattr(self._stream, "fileno") else super().fileno()

    def flush(self) -> None:
        """Flush the stream, if that can be."""
        if hasattr(self._stream, "flush"):
            self._stream.flush()

    def write(self, data: Buffer) -> int:
        """Write bytes: a copy, which whoever gets it may keep."""
        copy = bytes(data)
        self._stream.write(copy)
        return len(copy)
