"""Read lists of inputs: files that name others, one a line."""

from __future__ import annotations

import os
from codecs import BOM_UTF8

from bpe_cli.corpus.opening import NO_STDIN, read_whole
from bpe_cli.errors import InputError
from bpe_cli.support.messages import show_path

_LARGEST_LIST = 1 << 28


def listed_in(path: str) -> list[str]:
    """Read a list of inputs: one a line, as they would be named themselves, relative to the current folder.

    Blank lines and those that begin with ``#`` are left out; ``./#name`` names such a file.

    Raises:
        InputError: if the list cannot be read, names another list, or names nothing.
    """
    name = show_path(path)
    if path in ("", "-"):
        raise InputError("@ is followed by the name of a file that lists inputs", hint="for example: @shards.txt")
    data = read_whole(path, stdin=NO_STDIN, most=_LARGEST_LIST).removeprefix(BOM_UTF8)
    lines = (line.removesuffix(b"\r") for line in data.split(b"\n"))
    listed = [(number, os.fsdecode(line)) for number, line in enumerate(lines, 1) if line.strip()]
    names = [(number, each) for number, each in listed if not each.startswith("#")]
    for number, each in names:
        if each.startswith("@") and not os.path.lexists(each):
            raise InputError(f"{name}:{number}: a list cannot name another list", hint="give it beside this one: @LIST")
        if each == "-":
            raise InputError(f"{name}:{number}: a list cannot name stdin", hint="give - beside the list")
        if "\0" in each:
            raise InputError(f"{name}:{number}: no file has such a name")
    if not names:
        raise InputError(f"{name} names no inputs")
    return [each for _, each in names]


def with_lists(paths: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Replace each list of inputs by what it names; a file whose own name begins with ``@`` is not a list.

    Returns:
        The names, and the files that are lists.
    """
    lists = tuple(path[1:] for path in paths if path.startswith("@") and not os.path.lexists(path))
    if not lists:
        return paths, ()
    names: list[str] = []
    for path in paths:
        names.extend(listed_in(path[1:]) if path[1:] in lists and path.startswith("@") else (path,))
    return tuple(names), lists
