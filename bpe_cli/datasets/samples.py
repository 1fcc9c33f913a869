"""Read the rows of a part whose rows are apart, each with what runs beside it: samples of mds, members of archives."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from bpe_cli.datasets.fields import IDS, are_pieces, made_of, pieces_in
from bpe_cli.datasets.order import numpy
from bpe_cli.datasets.parts import PartRows, damaged, mapped
from bpe_cli.sinks.dataset.columns import TYPES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bpe_cli.datasets.fields import Numbers
    from bpe_cli.datasets.parts import Layout, Row
    from bpe_cli.jobs.prepare.records import Record


class Apart(PartRows):
    """Rows that are apart."""

    def row(self, number: int) -> Row:
        """Return the ids of a row."""
        ids: Row = self.column(number, IDS)
        return ids

    @abstractmethod
    def column(self, number: int, name: str) -> Any:
        """Return what is written of a row: its ids, a column, or a value that was kept."""

    def fields(self, number: int) -> dict[str, Any]:
        """Return what is asked for of a row: what is written, and what follows from its pieces."""
        layout = self.layout
        found: dict[str, Any] = {}
        pieces: tuple[Numbers, Numbers] | None = None
        length = -1
        for name in layout.fields:
            if name == IDS or name in self.written:
                found[name] = self.column(number, name)
                continue
            if pieces is None:
                length = len(self.row(number))
                known = layout.known or "rows"
                value = None if known == "rows" else self.column(number, known)
                if value is not None and not are_pieces(known, value, length):
                    raise damaged(self.paths[0])
                pieces = pieces_in(known, value, length)
            found[name] = made_of(name, *pieces, length)
        return found

    @property
    def written(self) -> tuple[str, ...]:
        """What is written of a row beside its ids."""
        return self.layout.columns


class _Mds(Apart):
    """``mds``: where each sample begins stands at the start of the file, how long each datum is at that of the sample.

    A datum begins with the count of its dimensions and the width of a length, in a byte, and the length.
    """

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self._bytes = mapped(self.paths[0], "u1", 0)
        self._places = mapped(self.paths[0], "<u4", 4, self.count + 1)
        if int.from_bytes(self._bytes[:4].tobytes(), "little") != self.count:
            raise damaged(self.paths[0])
        self._names = sorted(("tokens", *layout.columns))

    def column(self, number: int, name: str) -> Any:
        start, end = int(self._places[number]), int(self._places[number + 1])
        head = 4 * len(self._names)
        self._check(start + head, end, len(self._bytes))
        number = self._names.index("tokens" if name == IDS else name)
        sizes = [
            int.from_bytes(self._bytes[place : place + 4].tobytes(), "little")
            for place in range(start, start + head, 4)
        ]
        start += head + sum(sizes[:number])
        self._check(start + 1, start + sizes[number], end)
        shape = 1 + (1 << (int(self._bytes[start]) & 3))
        return _numbers_in(self._bytes, _kind_of(self.layout, name), start + shape, start + sizes[number])


_MEMBER = 1024
"""A member of an archive takes so many bytes or more: its header, and a block with the header of the array."""


class _Tar(Apart):
    """``webdataset``: members of an archive, which are looked for when the part is opened."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        np = numpy()
        self._bytes = mapped(self.paths[0], "u1", 0)
        self._members = (IDS, *layout.columns)
        if self.count * len(self._members) * _MEMBER > len(self._bytes):
            raise damaged(self.paths[0])
        self._places = np.empty((self.count * len(self._members), 2), np.int64)
        place = 0
        for number in range(len(self._places)):
            head = self._bytes[place : place + 512].tobytes()
            size = head[124:136].rstrip(b"\0 ")
            if head[257:262] != b"ustar" or not size or size.strip(b"01234567") or int(size, 8) < 128:
                raise damaged(self.paths[0])
            end = place + 512 + int(size, 8)
            self._places[number] = place + 512 + 128, end
            place = -(-end // 512) * 512
        self._check(place, place, len(self._bytes))

    def column(self, number: int, name: str) -> Any:
        start, end = (int(each) for each in self._places[number * len(self._members) + self._members.index(name)])
        return _numbers_in(self._bytes, _kind_of(self.layout, name), start, end)


_KINDS = {"int8": "i1", "int32": "<i4", "uint8": "u1"}


def _kind_of(layout: Layout, name: str) -> str:
    """Return how NumPy calls the type of the ids, or of a column."""
    return layout.numbers if name == IDS else _KINDS[TYPES[name]]


def _numbers_in(data: NDArray[np.uint8], kind: str, start: int, end: int) -> Row:
    """Return the numbers that lie in some bytes; copied where they are not aligned."""
    np = numpy()
    width = np.dtype(kind).itemsize
    row: Row = np.frombuffer(data, kind, max(0, end - start) // width, start)
    if row.flags.aligned:
        return row
    copied: Row = row.copy()
    return copied


SAMPLES: dict[str, type[Apart]] = {"mds": _Mds, "webdataset": _Tar}
"""By their formats."""
