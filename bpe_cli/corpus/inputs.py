"""Find the files that the words on the command line mean: names, ``-``, folders, glob patterns."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from bpe_cli.corpus.opening import SNIFF_BYTES, cannot_read, head_of, is_parquet, show_path
from bpe_cli.errors import InputError, UsageError
from bpe_cli.values import dataclass

_OTHERWISE = "--text takes a text from the command line itself"
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read, or stdin.

    Attributes:
        path: Its path; ``-`` for stdin.
        size: Bytes on disk, or None when unknown (a pipe).
    """

    path: str
    size: int | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return show_path(self.path)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files to read, in order.

    Attributes:
        items: One for each; a file that was named twice stands here twice.
    """

    items: tuple[Input, ...]

    @classmethod
    def resolve(
        cls,
        paths: Iterable[str],
        *,
        stdin: BinaryIO | None = None,
        on_skip: Callable[[str], None] | None = None,
        otherwise: str | None = None,
    ) -> Inputs:
        """Find the files that paths mean; no paths mean stdin.

        A folder means all text files in it, at any depth, in order of their names; hidden ones, binary
        ones and links to folders are left out. A pattern with ``*``, ``?``, ``[...]`` or ``**`` means
        the files that match, sorted, unless a file has that very name.

        Args:
            paths: Files, folders, patterns, ``-``.
            stdin: Asked for its size when it is a file.
            on_skip: Called with a sentence for each file of a folder that is left out.
            otherwise: The hint for a file that is missing while no other has a name like it; None for the usual one.

        Raises:
            InputError: A file is missing or may not be read, a folder holds no text file, or nothing
                matches a pattern.
            UsageError: ``-`` is given twice.
        """
        items: list[Input] = []
        names = tuple(paths) or ("-",)
        if names.count("-") > 1:
            raise UsageError("- is given twice, but stdin can be read only once")
        for path in names:
            if path == "-":
                items.append(Input("-", _size_left(stdin)))
            elif os.path.isdir(path):
                found = list(_walk(path, on_skip or _ignore))
                if not found:
                    raise InputError(f"there is no text file in the folder {show_path(path)}")
                items.extend(found)
            elif _GLOB.search(path) and not os.path.lexists(path):
                items.extend(_matches(path))
            else:
                items.append(_file(path, otherwise or _OTHERWISE))
        return cls(tuple(items))

    @property
    def total_bytes(self) -> int | None:
        """The bytes of all on disk, or None when one is unknown."""
        sizes = [item.size for item in self.items if item.size is not None]
        return sum(sizes) if len(sizes) == len(self.items) else None


def _ignore(_: str) -> None:
    pass


def _file(path: str, otherwise: str | None = None) -> Input:
    try:
        status = os.stat(path)
        if not os.access(path, os.R_OK):
            raise PermissionError(13, "permission denied")
    except FileNotFoundError as error:
        raise cannot_read(path, error, _advice(path, otherwise)) from error
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    return Input(path, status.st_size if stat.S_ISREG(status.st_mode) else None)


def _advice(path: str, otherwise: str | None) -> str | None:
    """Say what may have been meant by the name of a file that is not there."""
    import difflib

    folder, name = os.path.split(path)
    try:
        present = sorted(os.listdir(folder or "."))
    except (OSError, ValueError):
        return f"there is no folder {show_path(folder)}"
    near = difflib.get_close_matches(name, present, n=3, cutoff=0.7)
    if near:
        return "did you mean " + " or ".join(show_path(os.path.join(folder, other)) for other in near) + "?"
    return otherwise


def _matches(pattern: str) -> list[Input]:
    import glob

    found = sorted(glob.iglob(pattern, recursive=True))
    files = [path for path in found if not os.path.isdir(path)]
    if not files:
        hint = "only folders match; ** goes into them, as in 'data/**/*.txt'" if found else None
        raise InputError(f"no file matches {show_path(pattern)}", hint=hint)
    return [_file(path) for path in files]


def _walk(folder: str, on_skip: Callable[[str], None]) -> Iterator[Input]:
    """Yield the text files of a folder, depth first, in order of their names."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path == folder or (os.path.isdir(path) and not os.path.islink(path)):
            try:
                names = sorted(os.listdir(path), reverse=True)
            except OSError as error:
                raise cannot_read(path, error) from error
            waiting.extend(os.path.join(path, name) for name in names if not name.startswith("."))
        elif os.path.isdir(path):
            on_skip(f"{show_path(path)} skipped: it is a link to a folder")
        elif os.path.exists(path) and not os.path.isfile(path):
            on_skip(f"{show_path(path)} skipped: it is not a file")
        else:
            item = _file(path)
            zero = -1 if is_parquet(path) else head_of(path, _NO_STDIN).find(b"\0", 0, SNIFF_BYTES)
            if zero >= 0:
                on_skip(f"{item.name} skipped: it looks binary (NUL at byte {zero})")
            else:
                yield item


_NO_STDIN: BinaryIO = io.BytesIO()


def _size_left(stdin: BinaryIO | None) -> int | None:
    """Tell how many bytes stdin still holds, when it is a file."""
    try:
        if stdin is None or not stat.S_ISREG(os.fstat(stdin.fileno()).st_mode):
            return None
        return max(os.fstat(stdin.fileno()).st_size - stdin.tell(), 0)
    except (OSError, ValueError):  # no descriptor behind it, or it is closed
        return None
