"""Add up files of counts in a tree: each of its nodes is a file, made of some neighbours, until few are left.

Neighbours are added up in their order, and so are the sums: the last one is that of all files one after the other, byte
for byte. Files are called by the hashes of what they are made of, so those that a lost run has left are taken up again.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from bpe_cli.engines.base import Engine, Work
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.listening import SILENCE, Listener

FAN_IN = 8
"""How many files become one. More make the tree flat, and fewer of them are merged at a time."""

MERGED = "merged"
"""The folder within that of the counts where the nodes of the tree lie for a while."""

_BYTES_IN_MEMORY = 8
"""How many bytes of memory a byte of a file takes at most, as measured: 50 for a piece of 8 or so."""


@dataclass(frozen=True, slots=True)
class Group:
    """Files that become one. A plain value, which can be pickled.

    Attributes:
        files: The files, in order.
        target: The file that they become.
        size: How many bytes they have.
    """

    files: tuple[str, ...]
    target: str
    size: int


def merge_in_tree(
    folder: str,
    files: Sequence[str],
    hashes: Sequence[str],
    max_memory: int,
    engine: Engine,
    listener: Listener = SILENCE,
) -> list[str]:
    """Merge files of counts until there are no more than ``FAN_IN``.

    Args:
        folder: The folder for the new files; it is made if it does not exist.
        files: The files, in order.
        hashes: The hash of each.
        max_memory: Bytes of memory that the counts may take.
        engine: What merges them.
        listener: Receives progress and notes.

    Returns:
        The files that are left; adding them up in their order is adding up all.

    Raises:
        FormatError: if a file is damaged.
        TrainingError: if counts take more memory.
        OutputError: if a file cannot be written.
    """
    from bpe_cli.sinks.atomic import made_folder

    files, hashes = list(files), list(hashes)
    while len(files) > FAN_IN:
        groups, names = _groups(folder, files, hashes)
        waiting = [group for group in groups if len(group.files) > 1 and not os.path.exists(group.target)]
        work = Work(max_memory, _begin, merge_group, _name_of, _size_of, partial(_memory_of, max_memory))
        with made_folder(folder), listener.task("merging", sum(group.size for group in waiting)) as advance:
            for _ in engine.run(work, waiting, advance, listener.note):
                pass
        files = [group.target if len(group.files) > 1 else group.files[0] for group in groups]
        hashes = names
    return files


def remove_merged(folder: str) -> None:
    """Remove the nodes of a tree from a folder of counts, if there are any, and what lost runs have left of them.

    Nothing else that is in their folder: people may have one of that name.
    """
    from bpe_cli.sinks.draft import remove_leftovers

    place = os.path.join(folder, MERGED)
    try:
        names = os.listdir(place)
    except OSError:  # there are none
        return
    remove_leftovers(place)
    for name in names:
        if re.fullmatch(r"[0-9a-f]{32}\.counts", name):
            with suppress(OSError):  # another run removes it too
                os.unlink(os.path.join(place, name))
    with suppress(OSError):  # it is not empty
        os.rmdir(place)


def _groups(folder: str, files: Sequence[str], hashes: Sequence[str]) -> tuple[list[Group], list[str]]:
    """Return which files become one, and the hash of what each of these is made of."""
    groups: list[Group] = []
    names: list[str] = []
    for start in range(0, len(files), FAN_IN):
        members, own = tuple(files[start : start + FAN_IN]), hashes[start : start + FAN_IN]
        name = own[0] if len(own) == 1 else hashlib.sha256("\n".join(own).encode()).hexdigest()
        target = os.path.join(folder, f"{name[:32]}.counts")
        groups.append(Group(members, target, sum(map(os.path.getsize, members))))
        names.append(name)
    return groups, names


# -- a node of the tree -------------------------------------------------------------------------------


def merge_group(max_memory: int, _: None, group: Group, advance: Callable[[int], None]) -> None:
    """Add up the files of a group, and write their sum.

    Raises:
        FormatError: if a file is damaged.
        TrainingError: if the sum takes more memory.
        OutputError: if the file cannot be written.
    """
    from pathlib import Path

    from bpe_cli.formats import counts_file
    from bpe_cli.sinks.atomic import open_output

    cutting, counts = counts_file.load_all(map(Path, group.files), max_memory)
    with open_output(group.target) as out:
        for content in counts_file.dump(counts, cutting):
            out.write(content)
    advance(group.size)


def _begin(_: int) -> None:
    """Load nothing."""


def _name_of(group: Group) -> str:
    return f"the sum of {len(group.files)} files of counts"


def _size_of(group: Group) -> int:
    return group.size


def _memory_of(max_memory: int, group: Group) -> int:
    """Return how much memory a node takes at most."""
    return min(2 * max_memory, _BYTES_IN_MEMORY * group.size)
