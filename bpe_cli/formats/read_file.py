"""Read files that may be broken or hostile: of bounded size, from disk, and with the error that says what is wrong."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.support.messages import cannot_read
from bpe_cli.tokenizer import Tokenizer

MAX_FILE_BYTES = 1 << 30
"""Largest tokenizer file that is read (1 GiB; the largest in use are about 30 MB)."""


def read(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read a whole regular file of at most ``limit`` bytes.

    Raises:
        InputError: It is missing, unreadable or no regular file.
        FormatError: It is larger than any tokenizer.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise InputError(f"{path} is {kind}", hint="a tokenizer is read more than once: give a file on disk")
        if status.st_size > limit:
            shown = f"{limit >> 30} GiB" if limit >> 30 else f"{limit >> 20} MiB"
            raise FormatError(f"{path} has {status.st_size:,} bytes; a tokenizer file may have {limit:,} ({shown})")
        return path.read_bytes()
    except MemoryError:
        raise InputError(f"{path} does not fit into memory") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error) from error


def lies(path: Path, *, folder: bool = False) -> bool:
    """Return whether a file that may be missing is there.

    Args:
        path: The file.
        folder: Whether it is to be a folder.

    Raises:
        InputError: Something else has its name, so that it would be passed over in silence.
    """
    wanted, what = (stat.S_ISDIR, "a folder") if folder else (stat.S_ISREG, "a regular file")
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if not os.path.lexists(path):
            return False
        if isinstance(error, FileNotFoundError):
            raise InputError(
                f"{path} is a link to what is not there", hint="the file has been fetched by half: fetch it again"
            ) from None
        raise cannot_read(path, error) from error
    if not wanted(mode):
        raise InputError(
            f"{path} is not {what}, and its name says that it belongs to the tokenizer",
            hint="lay the tokenizer into a folder of its own, or take the other thing away",
        )
    return True


def refuse_pattern(pattern: str | None, path: Path, why: str) -> None:
    """Refuse a split pattern where a format leaves no choice of one.

    Raises:
        UsageError: One is given; the message says why there is no choice.
    """
    if pattern is not None:
        raise UsageError(f"{path} {why}; no pattern can be given with it")


def reader_of(loads: Callable[[bytes, str], Tokenizer], why: str) -> Callable[..., Tokenizer]:
    """Return the ``load`` of a format that is one file and leaves no choice of a split pattern.

    Args:
        loads: Reads the content of a file, given what to call it in errors.
        why: Why no pattern can be given, as in "says itself how text is split".

    The result raises:
        InputError: If the file cannot be read.
        FormatError: If it is broken.
        UsageError: If a pattern is given.
    """

    def load(path: Path, pattern: str | None = None) -> Tokenizer:
        refuse_pattern(pattern, path, why)
        return loads(read(path), str(path))

    return load
