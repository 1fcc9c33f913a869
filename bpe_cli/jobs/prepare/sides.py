"""The files of a part, and the two sets that they may be of: what there is for training, and for validation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from bpe_cli.support.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of a part: its name in the folder, how many bytes it has, and their hash."""

    name: str
    size: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"name": self.name, "bytes": self.size, "sha256": self.sha256}


MOST = 1 << 48
"""A part has fewer rows and fewer ids."""

SIDES = ("train", "val")
"""The folders in which the files of a data set with a validation set lie."""


@dataclass(frozen=True, slots=True)
class Side:
    """The numbers of one of the sets of a part: see ``Record``; its name is empty if there is but one."""

    name: str
    documents: int
    tokens: int
    divided: int = 0
    sequences: int | None = None
    left_out: int = 0
    padding: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return its numbers as JSON values."""
        names = ("documents", "tokens", "divided", "sequences", "left_out", "padding")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class SidePart:
    """What the index of one of two sets needs of a part."""

    rows: int
    tokens: int
    dtype: str
    files: tuple[PartFile, ...]


def file_names(side: str, part: str, endings: Sequence[str]) -> list[str]:
    """Return the names of the files of a part, in the folder of its data set or in that of one of two sets.

    >>> file_names("", "part-00000", (".bin", ".idx")), file_names("val", "part-00000", (".bin",))
    (['part-00000.bin', 'part-00000.idx'], ['val/part-00000.bin'])
    """
    return [f"{side}/{part}{end}" if side else f"{part}{end}" for end in endings]


def is_inside(name: str) -> bool:
    """Return whether a file lies in the folder of its data set, or in that of one of two sets."""
    folder, _, base = name.rpartition("/")
    return os.path.basename(base) == base and folder in ("", *SIDES)


def is_number(value: object) -> bool:
    """Return whether JSON holds a number of rows or ids that a part can have."""
    return type(value) is int and 0 <= value < MOST


def sides_in(content: object) -> tuple[Side, ...] | None:
    """Return the numbers of both sets, or none, that JSON holds; None if it holds something else."""
    if content == {}:
        return ()
    if not isinstance(content, dict) or content.keys() != set(SIDES):
        return None
    sides = []
    for name in SIDES:
        numbers = content[name]
        if not isinstance(numbers, dict) or numbers.keys() != Side(name, 0, 0).to_json().keys():
            return None
        if not all(is_number(each) for key, each in numbers.items() if (key, each) != ("sequences", None)):
            return None
        sides.append(Side(name, **numbers))
    return tuple(sides)
