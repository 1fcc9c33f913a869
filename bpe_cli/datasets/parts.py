"""Read the rows of one part of a data set: a class for each way in which files hold them.

A row is a NumPy array. Where the numbers of a row lie in a file as they are, it points into the file, which is mapped
into memory, and nothing is copied. ``tables.py`` has the formats that pyarrow reads.
"""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from bpe_cli.datasets.order import numpy
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bpe_cli.jobs.prepare.records import Record

    Row = NDArray[np.integer[Any]]
    Places = NDArray[np.integer[Any]]

_STARTS = {"bin": 0, "megatron": 0, "datatrove": 0, "npy": 128, "npy-offsets": 128, "litdata": 12}
"""Where the ids begin in the first file of a part, of the formats in which one lies behind the other."""

TABLES = ("arrow", "parquet", "datasets")
UNINDEXED = ("bin", "npy", "litdata")
"""The formats in which nothing but ids is written."""

_SIGNED = ("megatron", "litdata", "mds", *TABLES)
"""Those whose ids of four bytes are int32."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What all parts of a data set have in common: how rows lie in its files.

    Attributes:
        to: The format.
        dtype: How an id is stored: ``u16`` or ``u32``.
        eot: The id that ends each document, or None.
        length: How many ids a sequence has at most; None if documents were left as they are.
        is_even: Whether all sequences have that many, but for the last of a part.
        block: How many ids a row has, where they are cut without regard to what was written; else None.
    """

    to: str
    dtype: str
    eot: int | None
    length: int | None
    is_even: bool
    block: int | None

    @property
    def numbers(self) -> str:
        """How NumPy calls the type of the numbers."""
        return "<u2" if self.dtype == "u16" else "<i4" if self.to in _SIGNED else "<u4"

    def check(self, folder: str, *, divided: bool) -> None:
        """Check that something says where rows lie; ``divided`` says whether texts hold the id that ends them.

        Raises:
            UsageError: if nothing does.
        """
        if self.block is not None:
            if self.to not in _STARTS:
                raise UsageError(
                    f"`length` cuts ids that lie one behind the other, and {show_path(folder)} holds {self.to}, "
                    "whose rows are apart",
                    hint="leave it out, or prepare sequences of that length",
                )
        elif self.to in UNINDEXED and (not self.is_even if self.length else self.eot is None or divided):
            what = "sequences" if self.length else "documents"
            raise UsageError(
                f"nothing says where the {what} of {show_path(folder)} end: its numbers are all that was written",
                hint="`length` reads rows of so many ids; a format with an index, like megatron, knows more",
            )

    def rows_of(self, record: Record) -> int:
        """Return how many rows a part has."""
        return record.rows if self.block is None else record.tokens // self.block


class PartRows(ABC):
    """The rows of a part.

    Raises:
        InputError: if a file cannot be read, or does not hold what its record says.
    """

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        self.layout = layout
        self.paths = [os.path.join(folder, file.name) for file in record.files]
        self.count = layout.rows_of(record)

    @abstractmethod
    def row(self, number: int) -> Row:
        """Return a row."""

    def _check(self, start: int, end: int, limit: int) -> None:
        """Check that a row lies in its file."""
        if not 0 <= start <= end <= limit:
            raise damaged(self.paths[-1])


def damaged(path: str) -> InputError:
    """Return the error of a file that does not hold what its record says."""
    return InputError(f"{show_path(path)} does not hold what its record says", hint="`check` says more")


class _Flat(PartRows):
    """Rows of ids that lie one behind the other."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self.ids = mapped(self.paths[0], layout.numbers, _STARTS[layout.to])
        if len(self.ids) != record.tokens:
            raise damaged(self.paths[0])


class _Blocks(_Flat):
    """Rows of equal length; the last may be shorter."""

    def row(self, number: int) -> Row:
        size = self.layout.block or self.layout.length or 0
        return self.ids[number * size : (number + 1) * size]


class _Between(_Flat):
    """Rows between places that are known: ``starts`` has one more than there are rows."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self.places = self._find_places()
        if len(self.places) != self.count + self.first:
            raise damaged(self.paths[-1])

    first: ClassVar[int] = 1
    """Whether the first place is where the first row begins, and not where it ends."""

    @abstractmethod
    def _find_places(self) -> Places: ...

    def row(self, number: int) -> Row:
        at = number + self.first
        start, end = int(self.places[at - 1]) if at else 0, int(self.places[at])
        self._check(start, end, len(self.ids))
        return self.ids[start:end]


class _Offsets(_Between):
    """``npy-offsets``: a 0, and the end of each row."""

    def _find_places(self) -> Places:
        return mapped(self.paths[1], "<i8", 128)


class _EndsBeside(_Between):
    """``datatrove``: the end of each row."""

    first = 0

    def _find_places(self) -> Places:
        return mapped(self.paths[1], "<u8", 0)


class _Divided(_Between):
    """Rows that end with an id; they are looked for when the part is opened."""

    first = 0

    def _find_places(self) -> Places:
        np, step = numpy(), 1 << 22
        found = [
            np.flatnonzero(self.ids[start : start + step] == self.layout.eot) + (start + 1)
            for start in range(0, len(self.ids), step)
        ]
        places: Places = np.concatenate([np.empty(0, np.int64), *found])
        return places


class _Megatron(_Flat):
    """Rows by the index: a document has some sequences, mostly one, and none if it has no ids."""

    _HEAD = 34

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        path = self.paths[1]
        sequences, boundaries = (int(each) for each in mapped(path, "<u8", 18, 2))
        if self._HEAD + 12 * sequences + 8 * boundaries != os.path.getsize(path) or boundaries != self.count + 1:
            raise damaged(path)
        self._lengths = mapped(path, "<i4", self._HEAD, sequences)
        self._places = mapped(path, "<i8", self._HEAD + 4 * sequences, sequences)
        self._boundaries = mapped(path, "<i8", self._HEAD + 12 * sequences, boundaries)

    def row(self, number: int) -> Row:
        first, last = int(self._boundaries[number]), int(self._boundaries[number + 1])
        self._check(first, last, len(self._lengths))
        if first == last:
            return self.ids[:0]
        start = int(self._places[first]) // self.ids.itemsize
        end = int(self._places[last - 1]) // self.ids.itemsize + int(self._lengths[last - 1])
        self._check(start, end, len(self.ids))
        return self.ids[start:end]


class _Mds(PartRows):
    """``mds``: where each sample begins stands at the start of the file."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self._bytes = mapped(self.paths[0], "u1", 0)
        self._places = mapped(self.paths[0], "<u4", 4, self.count + 1)
        if int.from_bytes(self._bytes[:4].tobytes(), "little") != self.count:
            raise damaged(self.paths[0])

    def row(self, number: int) -> Row:
        start, end = int(self._places[number]), int(self._places[number + 1])
        self._check(start + 5, end, len(self._bytes))
        start += 5 + (1 << (int(self._bytes[start + 4]) & 3))  # the length of the datum, and of its only dimension
        return _numbers_in(self._bytes, self.layout.numbers, start, end)


class _Tar(PartRows):
    """``webdataset``: members of an archive, which are looked for when the part is opened."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        np = numpy()
        self._bytes = mapped(self.paths[0], "u1", 0)
        self._places = np.empty((self.count, 2), np.int64)
        place = 0
        for number in range(self.count):
            head = self._bytes[place : place + 512].tobytes()
            size = head[124:136].rstrip(b"\0 ")
            if head[257:262] != b"ustar" or not size.isdigit() or int(size, 8) < 128:
                raise damaged(self.paths[0])
            end = place + 512 + int(size, 8)
            self._places[number] = place + 512 + 128, end
            place = -(-end // 512) * 512
        self._check(place, place, len(self._bytes))

    def row(self, number: int) -> Row:
        start, end = (int(each) for each in self._places[number])
        return _numbers_in(self._bytes, self.layout.numbers, start, end)


def _numbers_in(data: NDArray[np.uint8], kind: str, start: int, end: int) -> Row:
    """Return the numbers that lie in some bytes; copied where they are not aligned."""
    np = numpy()
    width = np.dtype(kind).itemsize
    row: Row = np.frombuffer(data, kind, (end - start) // width, start)
    if row.flags.aligned:
        return row
    copied: Row = row.copy()
    return copied


def mapped(path: str, kind: str, start: int, count: int | None = None) -> NDArray[Any]:
    """Map the numbers of a file into memory, those from a place on.

    Raises:
        InputError: if the file cannot be read, or has not so many numbers.
    """
    np = numpy()
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            left, rest = divmod(size - start, np.dtype(kind).itemsize)
            if size < start or (rest if count is None else left < count):
                raise damaged(path)
            # What is empty cannot be mapped.
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size > start else b""
    except OSError as error:
        raise cannot_read(path, error) from error
    numbers: NDArray[Any] = np.frombuffer(data, kind, left if count is None else count, start if data else 0)
    return numbers


def part_of_ids(layout: Layout, folder: str, record: Record) -> PartRows:
    """Open a part of any format but a table.

    Raises:
        InputError: if its files cannot be read, or do not hold what the record says.
    """
    if layout.block is not None or (layout.to in UNINDEXED and layout.length is not None):
        return _Blocks(layout, folder, record)
    return _INDEXED.get(layout.to, _Divided)(layout, folder, record)


_INDEXED: dict[str, type[PartRows]] = {
    "npy-offsets": _Offsets,
    "datatrove": _EndsBeside,
    "megatron": _Megatron,
    "mds": _Mds,
    "webdataset": _Tar,
}
