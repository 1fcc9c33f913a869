"""Files on a full disk, wherever the tests run."""

from __future__ import annotations

import errno
import io
import os
from typing import Any


class _Full(io.RawIOBase):
    """Nothing can be written."""

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return offset

    def write(self, data: Any, /) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def on_a_full_disk(*_: object, **__: object) -> io.BufferedRandom:
    """Return a file, as ``tempfile.TemporaryFile`` does: closing it fails too if something is in its buffer."""
    return io.BufferedRandom(_Full(), 64 << 10)
