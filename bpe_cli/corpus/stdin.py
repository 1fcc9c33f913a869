"""Know who reads stdin, under whatever name, as a pipe and a terminal can be read only once; and whether it waits."""

from __future__ import annotations

import os
import stat

from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

_DEVICES = ("/dev/", "/proc/")
"""Where the other names of stdin are: ``/dev/stdin``, ``/dev/fd/0``, ``/proc/self/fd/0``."""


def is_stdin(path: str, stdin: BinaryIO | None) -> bool:
    """Return whether a path is ``-``, or another name of the pipe or the terminal that stdin is.

    >>> is_stdin("-", None), is_stdin("/dev/null", None), is_stdin("a.txt", None)
    (True, False, False)
    """
    if path == "-":
        return True
    if stdin is None or not path.startswith(_DEVICES):
        return False
    try:
        own, other = os.fstat(stdin.fileno()), os.stat(path)
    except (OSError, ValueError):  # there is no such file, or none behind the stream
        return False
    is_read_once = stat.S_ISFIFO(own.st_mode) or stat.S_ISSOCK(own.st_mode) or stdin.isatty()
    return is_read_once and (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino)


def idleness(stdin: BinaryIO) -> Callable[[], bool] | None:
    """Return what tells that a pipe has nothing to read just now, for ``tail -f``; None if nothing can tell."""
    import select

    try:
        descriptor = stdin.fileno()
        select.select([descriptor], [], [], 0)
    except (OSError, ValueError):  # no descriptor behind it, or none that can be asked
        return None
    return lambda: not select.select([descriptor], [], [], 0)[0]
