"""The folder that parts are made into: its name, what is in it before and after a run, and which inputs it may have."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.corpus.opening import is_url
from bpe_cli.errors import OutputError, UsageError
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus import Input

PLAN = "plan.json"
"""The file that says what the parts are."""


def check_folder(folder: str) -> None:
    """Check the name of a folder.

    Raises:
        OutputError: if no folder can have this name, or a file has it, or it stands for stdout.
    """
    if not folder or "\0" in folder:
        raise OutputError(f"no folder is called {folder!r}")
    if folder == "-":
        raise OutputError("parts are written into a folder, and not to stdout", hint="./- is a folder of that name")
    if is_url(folder):
        raise OutputError(
            f"parts are written into a folder on disk, and {show_path(folder)} is not one",
            hint="write it there and copy it once it is complete, or name the folder where the store is mounted",
        )
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise OutputError(f"{show_path(folder)} is not a folder")


def check_inputs(items: Sequence[Input], folder: str, what: str) -> None:
    """Check that inputs can be divided into parts, and do not lie in the folder of these.

    Args:
        items: The inputs.
        folder: The folder of the parts.
        what: What lies in it, as ``the data set``.

    Raises:
        UsageError: if one is not a plain file or has no known size, or lies in the folder.
    """
    inside = os.path.realpath(folder) + os.sep
    folders: dict[str, str] = {}  # those of the inputs, without links: few for very many
    for item in items:
        if item.size is None:
            why = "has no size that its server tells" if is_url(item.path) else "is not a plain file"
            raise UsageError(f"{item.name} {why}, and parts are made only of files of known size")
        if not item.path.isascii() and item.path.encode("utf-8", "replace") != os.fsencode(item.path):
            raise UsageError(f"the name {item.name} is not UTF-8, and records cannot hold it", hint="rename the file")
        if is_url(item.path):
            continue
        parent, name = os.path.split(item.path)
        if parent not in folders:
            folders[parent] = os.path.realpath(parent)
        place = os.path.join(folders[parent], name)
        if (os.path.realpath(place) if os.path.islink(place) else place).startswith(inside):
            raise UsageError(f"the input {item.name} is in the folder of {what}", hint="name another folder")


@contextlib.contextmanager
def folder_of_run(folder: str, *, alone: bool, inner: Sequence[str] = ()) -> Iterator[None]:
    """Make a folder for parts, if there is none; a run that fails and has made no part leaves no trace of it.

    Args:
        folder: The folder.
        alone: Whether no other run shares the parts. The plan is removed only then: others may work by it.
        inner: The folders that may be within it.

    Raises:
        InputError: if it cannot be read.
        OutputError: if it cannot be made.
    """
    from bpe_cli.sinks.atomic import made_folder
    from bpe_cli.sinks.draft import remove_leftovers

    with made_folder(folder):
        remove_leftovers(folder)
        try:
            is_new = not os.listdir(folder)
        except OSError as error:
            raise cannot_read(folder, error) from error
        try:
            yield
        except BaseException:
            if alone and is_new:
                for name in inner:
                    with contextlib.suppress(OSError):  # it is not there, or not empty
                        os.rmdir(os.path.join(folder, name))
                if os.listdir(folder) == [PLAN]:
                    with contextlib.suppress(OSError):
                        os.unlink(os.path.join(folder, PLAN))
            raise
