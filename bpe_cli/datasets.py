"""Data sets from Python: what ``bpe prepare`` has made, read back row by row."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, overload

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.core_arguments import wrong_type

if TYPE_CHECKING:
    import mmap

    from bpe_cli.jobs.prepare.records import Record

_STARTS = {"bin": 0, "megatron": 0, "datatrove": 0, "npy": 128, "npy-offsets": 128, "litdata": 12}
"""Where the ids begin in the first file of a part, of the formats that are read here."""

_INDEXED = ("datatrove", "npy-offsets")
"""Those whose second file says where each row ends."""


class TokenDataset(Sequence["memoryview"]):
    """Read a data set back: its rows, which are its sequences, or else its documents, from files mapped into memory.

    A row is a memoryview of its ids (``H`` for u16, ``I`` for u32), which NumPy and PyTorch take without copying. It
    can be pickled, and then opens the files again: so it is a map-style data set for a ``DataLoader`` with workers.

    >>> import os, tempfile
    >>> from bpe_cli import prepare
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines, out = os.path.join(folder, "lines.txt"), os.path.join(folder, "out")
    ...     with open(lines, "w") as file:
    ...         _ = file.write("one\\ntwo three\\n")
    ...     _ = prepare("gpt2", lines, out, documents="lines", eot="auto", to="megatron")
    ...     rows = TokenDataset(out)
    ...     len(rows), rows[1].tolist(), rows.tokens
    (2, [11545, 1115, 50256], 5)

    Attributes:
        folder: Where it lies.
        documents: How many documents were encoded.
        tokens: How many ids there are.
        dtype: How an id is stored.

    Raises:
        InputError: if there is no data set in the folder.
        CheckFailed: if parts are missing, or files of another length than their records say.
        UsageError: if nothing says where its rows lie, or its format is one that other libraries read.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open the data set in a folder; its parts are mapped when they are first read."""
        from bpe_cli.jobs.prepare.folder import records_of

        if not isinstance(folder, (str, os.PathLike)):
            raise wrong_type("folder", "a str or a path", folder)
        self.folder = os.fspath(folder)
        plan, self._records = records_of(self.folder)
        self._settings = plan.settings
        if self._settings["format"] not in _STARTS:
            raise UsageError(
                f"{self.folder} holds a data set of the format {self._settings['format']}, which is not read here",
                hint=f"the library that it was made for reads it; here are read {', '.join(_STARTS)}",
            )
        self.documents = sum(record.documents for record in self._records)
        self.tokens = sum(record.tokens for record in self._records)
        self.dtype: str = self._settings["dtype"]
        self._ends: list[array[int] | None] = [None] * len(self._records)
        self._maps: list[memoryview | None] = [None] * len(self._records)
        self._before = [0, *accumulate(self._rows_of(number) for number in range(len(self._records)))]

    def __getstate__(self) -> str:
        return self.folder

    def __setstate__(self, state: str) -> None:
        self.__init__(state)  # type: ignore[misc]

    def __len__(self) -> int:
        return self._before[-1]

    @overload
    def __getitem__(self, index: int) -> memoryview: ...
    @overload
    def __getitem__(self, index: slice) -> list[memoryview]: ...
    def __getitem__(self, index: int | slice) -> memoryview | list[memoryview]:
        """Return a row, or several."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {index} among {len(self)}")
        part = bisect_right(self._before, at) - 1
        ends, row = self._row_ends(part), at - self._before[part]
        return self._ids_of(part)[ends[row - 1] if row else 0 : ends[row]]

    def __iter__(self) -> Iterator[memoryview]:
        for part in range(len(self._records)):
            ids, start = self._ids_of(part), 0
            for end in self._row_ends(part):
                yield ids[start:end]
                start = end

    def _rows_of(self, part: int) -> int:
        """Return how many rows a part has."""
        record = self._records[part]
        if record.sequences is not None:
            return record.sequences
        if self._settings["format"] == "megatron":
            return len(self._row_ends(part))
        if self._settings["format"] not in _INDEXED:
            self._check_divided(record)
        return record.documents

    def _check_divided(self, record: Record) -> None:
        if self._settings["eot"] is None or record.divided:
            raise UsageError(
                f"nothing says where the documents of {self.folder} end: its numbers are all that was written",
                hint='prepare it with `eot`, or with `to="megatron"`, which has an index',
            )

    def _row_ends(self, part: int) -> array[int]:
        ends = self._ends[part]
        if ends is None:
            ends = self._ends[part] = self._find_ends(part)
            if self._settings["format"] != "megatron" and len(ends) != self._rows_of(part):
                raise InputError(f"{self.folder}: part {part} has {len(ends):,} rows, and its record says otherwise")
        return ends

    def _find_ends(self, part: int) -> array[int]:
        record, settings = self._records[part], self._settings
        if settings["format"] == "megatron":
            from bpe_cli.sinks.dataset.megatron import read_lengths

            return array("Q", accumulate(read_lengths(os.path.join(self.folder, record.files[1].name))))
        if settings["format"] in _INDEXED:
            from bpe_cli.sinks.dataset.ends import read_ends

            return read_ends(os.path.join(self.folder, record.files[1].name), settings["format"])
        length = settings["length"]
        if record.sequences is not None:
            if settings["pad"] is None and settings["way"] != "concatenate":
                raise UsageError(
                    f"nothing says where the sequences of {self.folder} end: they are of several lengths",
                    hint='prepare it with `pad`, or with `to="megatron"`, which has an index',
                )
            return array("Q", (min((row + 1) * length, record.tokens) for row in range(record.sequences)))
        from bpe_cli.sinks.numbers import places_of

        return array("Q", (place + 1 for place in places_of(self._ids_of(part), settings["eot"])))

    def _ids_of(self, part: int) -> memoryview:
        view = self._maps[part]
        if view is None:
            data = _mapped(os.path.join(self.folder, self._records[part].files[0].name))
            start = _STARTS[self._settings["format"]]
            view = self._maps[part] = memoryview(data)[start:].cast("H" if self.dtype == "u16" else "I")
        return view


def _mapped(path: str) -> mmap.mmap | bytes:
    """Map a file into memory; an empty one cannot be."""
    import mmap

    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
