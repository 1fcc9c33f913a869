"""Read the rows of one part of a data set, whose ids lie one behind the other: a class for each way of finding a row.

A row is a NumPy array. Where the numbers of a row lie in a file as they are, it points into the file, which is mapped
into memory, and nothing is copied. ``samples.py`` has the formats whose rows are apart, and ``tables.py`` those that
pyarrow reads.
"""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from bpe_cli.datasets.fields import IDS, MASK, Spans, made_of, pieces_in
from bpe_cli.datasets.order import numpy
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.fast_dataclass import dataclass, replace
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bpe_cli.datasets.fields import Known, Numbers
    from bpe_cli.jobs.prepare.records import Record

    Row = NDArray[np.integer[Any]]
    Places = NDArray[np.integer[Any]]

_STARTS = {"bin": 0, "megatron": 0, "datatrove": 0, "npy": 128, "npy-offsets": 128, "litdata": 12}
"""Where the ids begin in the first file of a part, of the formats in which one lies behind the other."""

TABLES = ("arrow", "parquet", "datasets")
UNINDEXED = ("bin", "npy", "litdata")
"""The formats in which nothing but ids is written."""

_WITH_PLACES = ("megatron", "npy-offsets", "datatrove")
"""Those of which a second file says where rows lie."""

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
        fields: What is read of a row.
        columns: What is written of a row beside its ids.
        known: What says which pieces a row has; None if nothing does.
        pad: What fills rows up, or None.
        kept: The fields of the source that a row has too.
    """

    to: str
    dtype: str
    eot: int | None
    length: int | None
    is_even: bool
    block: int | None
    fields: tuple[str, ...] = (IDS,)
    columns: tuple[str, ...] = ()
    known: Known | None = None
    pad: int | None = None
    kept: tuple[str, ...] = ()

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
                    f"`length` cuts ids that are stored one after another, and {show_path(folder)} holds {self.to}, "
                    "whose rows are apart",
                    hint="leave it out, or prepare sequences of that length",
                )
        elif self.to in UNINDEXED and (not self.is_even if self.length else self.eot is None or divided):
            what = "sequences" if self.length else "documents"
            marked = "" if self.length or self.eot is not None else ', or with `eot="auto"`'
            raise UsageError(
                f"nothing says where the {what} of {show_path(folder)} end: only their ids were written",
                hint=f"prepare it in a format with an index, such as megatron{marked}; a program can read rows of N "
                "ids with `TokenDataset(folder, length=N)`",
            )

    def rows_of(self, record: Record) -> int:
        """Return how many rows a part has."""
        return record.rows if self.block is None else record.tokens // self.block


class PartRows(ABC):
    """The rows of a part.

    Raises:
        InputError: if a file cannot be read, or does not match its record.
    """

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        self.layout = layout
        self.paths = [os.path.join(folder, file.name) for file in record.files]
        self.count = layout.rows_of(record)
        if len(self.paths) < 1 + (layout.to in _WITH_PLACES):
            raise damaged(os.path.join(folder, f"part-{record.part:05}"))

    @abstractmethod
    def row(self, number: int) -> Row:
        """Return the ids of a row."""

    @abstractmethod
    def fields(self, number: int) -> dict[str, Any]:
        """Return what is asked for of a row, by name."""

    def path_of(self, *endings: str) -> str:
        """Return the path of the file that ends in one of these ways."""
        found = next((path for path in self.paths if path.endswith(endings)), None)
        if found is None:
            raise damaged(self.paths[0])
        return found

    def _check(self, start: int, end: int, limit: int) -> None:
        """Check that a row lies in its file."""
        if not 0 <= start <= end <= limit:
            raise damaged(self.paths[-1])


def damaged(path: str) -> InputError:
    """Return the error of a file that does not match its record."""
    return InputError(f"{show_path(path)} does not match its record", hint="`check` gives details")


class _Flat(PartRows):
    """Rows of ids that lie one behind the other, and so does what runs beside them."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self.ids = mapped(self.paths[0], layout.numbers, _STARTS[layout.to])
        if len(self.ids) != record.tokens:
            raise damaged(self.paths[0])
        self._padding = record.padding
        self._spans: Spans | None = None
        self._mask: Numbers | None = None
        if MASK in layout.fields:
            path = self.path_of(".mask.bin", ".mask.npy", ".ds.loss")
            self._mask = mapped(path, "u1", 128 if path.endswith(".npy") else 0)
            if len(self._mask) != record.tokens:
                raise damaged(path)

    @abstractmethod
    def place(self, number: int) -> tuple[int, int]:
        """Return where among all ids a row begins, and where it ends."""

    def row(self, number: int) -> Row:
        start, end = self.place(number)
        return self.ids[start:end]

    def fields(self, number: int) -> dict[str, Any]:
        start, end = self.place(number)
        found: dict[str, Any] = {}
        pieces: tuple[Numbers, Numbers] | None = None
        for name in self.layout.fields:
            if name == IDS:
                found[name] = self.ids[start:end]
            elif name == MASK and self._mask is not None:
                found[name] = self._mask[start:end]
            else:
                pieces = pieces or self._pieces(start, end)
                found[name] = made_of(name, *pieces, end - start)
        return found

    def _pieces(self, start: int, end: int) -> tuple[Numbers, Numbers]:
        """Return where the pieces of a row begin and end in it."""
        if self.layout.known is None or (self.layout.known == "rows" and self.layout.block is None):
            return pieces_in("rows", None, end - start)
        if self._spans is None:
            self._spans = self._find_spans()
        return self._spans.within(start, end)

    def _find_spans(self) -> Spans:
        """Find where the pieces of documents lie among all ids."""
        path = self.path_of(".spans.npy")
        spans = mapped(path, "<i8", 128)
        if len(spans) % 2 or (len(spans) and not 0 <= spans[0] < spans[-1] <= len(self.ids)):
            raise damaged(path)
        return Spans(spans[::2], spans[1::2])


class _Blocks(_Flat):
    """Rows of equal length; the last may be shorter."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self._written = replace(layout, block=None), folder, record

    def _find_spans(self) -> Spans:
        """Find them as in the rows that were written."""
        layout = self._written[0]
        if layout.known == "spans" and layout.to != "megatron":
            return super()._find_spans()
        return _INDEXED.get(layout.to, _Divided)(*self._written)._find_spans()

    def place(self, number: int) -> tuple[int, int]:
        size = self.layout.block or self.layout.length or 0
        return number * size, min((number + 1) * size, len(self.ids))


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

    def place(self, number: int) -> tuple[int, int]:
        at = number + self.first
        start, end = int(self.places[at - 1]) if at else 0, int(self.places[at])
        self._check(start, end, len(self.ids))
        return start, end

    def _find_spans(self) -> Spans:
        """Find them, or take each row for one."""
        if self.layout.known != "rows":
            return super()._find_spans()
        ends = self.places[self.first :].astype(numpy().int64)
        return Spans(numpy().concatenate([[0], ends[:-1]]), ends)


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

    def place(self, number: int) -> tuple[int, int]:
        first, last = int(self._boundaries[number]), int(self._boundaries[number + 1])
        self._check(first, last, len(self._lengths))
        if first == last:
            return 0, 0
        start = int(self._places[first]) // self.ids.itemsize
        end = int(self._places[last - 1]) // self.ids.itemsize + int(self._lengths[last - 1])
        self._check(start, end, len(self.ids))
        return start, end

    def _find_spans(self) -> Spans:
        """Take the sequences for pieces, but for those that fill rows: the last ones, of the token that does so.

        Raises:
            InputError: if some of these may be pieces that hold nothing else.
        """
        np = numpy()
        lengths, starts = self._lengths.astype(np.int64), self._places // self.ids.itemsize
        ends = np.cumsum(lengths)
        if not np.array_equal(starts, ends - lengths) or int(lengths.sum()) != len(self.ids):
            raise damaged(self.paths[1])
        if self.layout.known == "rows" or self.layout.pad is None or not len(lengths):
            return Spans(starts, ends)
        last = self._boundaries[1:][np.diff(self._boundaries) > 1] - 1
        others = np.add.reduceat(self.ids != self.layout.pad, starts, dtype=np.int64)
        filling = last[others[last] == 0]
        if lengths[filling].sum() != self._padding:
            raise InputError(
                f"{show_path(self.paths[1])} does not say which ids are padding: texts end with the same id",
                hint="pad with a token that no text holds",
            )
        pieces = np.setdiff1d(np.arange(len(lengths)), filling)
        return Spans(starts[pieces], ends[pieces])


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
    """Open a part in which the ids of all rows lie one behind the other.

    Raises:
        InputError: if its files cannot be read, or do not hold what the record says.
    """
    if layout.block is not None or (layout.to in UNINDEXED and layout.length is not None):
        return _Blocks(layout, folder, record)
    return _INDEXED.get(layout.to, _Divided)(layout, folder, record)


_INDEXED: dict[str, type[_Flat]] = {"npy-offsets": _Offsets, "datatrove": _EndsBeside, "megatron": _Megatron}
