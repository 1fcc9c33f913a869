"""Temporary files: what is said when there is no room for them, and how they end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager

from bpe_cli.errors import OutputError
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_write, show_path

if TYPE_CHECKING:
    from typing import IO


def temporary_folder() -> str:
    """Return where temporary files go, as the rest of a sentence; nothing if there is no place for them."""
    import tempfile

    try:
        return f" in {show_path(tempfile.gettempdir())}"
    except FileNotFoundError:
        return ""


@contextmanager
def temporary_failures(what: str, otherwise: str = "") -> Iterator[None]:
    """Turn what the system says of temporary files into an error of the output. A broken pipe stays one.

    Args:
        what: What goes into them.
        otherwise: What helps beside a larger disk, as the rest of the hint.

    Raises:
        OutputError: if the system says something.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        message = cannot_write(f"{what} to a temporary file{temporary_folder()}", error).message
        raise OutputError(message, hint=f"set TMPDIR to a folder with more room{otherwise}") from error


def close_quietly(file: IO[bytes]) -> None:
    """Close a file that nobody reads any more: closing flushes, which fails again on a full disk."""
    with contextlib.suppress(OSError):
        file.close()
