"""Divide inputs into parts: the same parts whatever runs them, and however many run them.

The rule: inputs come in the order in which they are named, those of a folder or a pattern by name. A plain file of
lines or JSON lines that is larger than a part is cut into extents of equal size, each a part; every line belongs to
the extent that holds its first byte. Other files are never cut: those that follow each other share a part as long as
they are not larger than one together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.corpus.extents import extents_of, holds_lines
from bpe_cli.corpus.inputs import Input, Inputs
from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from bpe_cli.corpus import Source

PART_BYTES = 256 << 20
"""How many bytes on disk a part has, if nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one worker does at a time: some inputs, in order. A plain value, which can be pickled.

    Attributes:
        number: Its number among the parts, from 0 on.
        inputs: The files, or the one extent of a file.
    """

    number: int
    inputs: tuple[Input, ...]

    @property
    def name(self) -> str:
        """How its files are called, without their endings."""
        return f"part-{self.number:05}"

    @property
    def size(self) -> int:
        """How many bytes it has on disk."""
        return sum(size_of(item) for item in self.inputs)

    def described(self) -> list[dict[str, str | int]]:
        """Return its inputs for a record: each with its path, its size, its version and its extent if it has such."""
        return [_described(item) for item in self.inputs]


def _described(item: Input) -> dict[str, str | int]:
    described: dict[str, str | int] = {"path": item.plain_name, "bytes": item.size or 0}
    if item.version is not None:
        described["version"] = item.version
    if item.extent is not None:
        described["from"], described["to"] = item.extent
    return described


def size_of(item: Input) -> int:
    """Return how many bytes of an input are read."""
    return item.size or 0 if item.extent is None else item.extent[1] - item.extent[0]


def divide(inputs: Inputs, source: Source | None, part_bytes: int) -> list[Part]:
    """Divide inputs into parts; without a source, which says how documents are made of them, none is cut.

    >>> from bpe_cli.corpus import Source
    >>> items = Input("a.txt", 30), Input("b.txt", 50), Input("c.txt", 90), Input("d.txt", 5)
    >>> [[item.path for item in part.inputs] for part in divide(Inputs(items), Source(("x",)), 90)]
    [['a.txt', 'b.txt'], ['c.txt'], ['d.txt']]
    """
    groups: list[tuple[Input, ...]] = []
    held: list[Input] = []
    held_bytes = 0
    for item in inputs.items:
        size = item.size or 0
        if held and held_bytes + size > part_bytes:
            groups.append(tuple(held))
            held, held_bytes = [], 0
        if size > part_bytes and source is not None and _may_cut(item, source):
            groups.extend((each,) for each in extents_of(item, part_bytes))
        else:
            held.append(item)
            held_bytes += size
    if held:
        groups.append(tuple(held))
    return [Part(number, group) for number, group in enumerate(groups)]


def _may_cut(item: Input, source: Source) -> bool:
    return source.documents != "whole" and holds_lines(item, decompressed=source.decompress)


@dataclass(frozen=True, slots=True)
class Share:
    """Which parts a run does: each ``of``-th, beginning with number ``number`` (from 1 on)."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise UsageError(f"there is no part {self.number} of {self.of}", hint="the first is 1/N, the last N/N")

    def takes(self, part: Part) -> bool:
        """Return whether a part is among them."""
        return part.number % self.of == self.number - 1
