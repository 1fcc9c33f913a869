"""Data sets from Python: what ``bpe prepare`` has made, read back row by row."""

from __future__ import annotations

import operator
import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, overload

from bpe_cli.datasets.fields import IDS, check_fields, fields_of, pieces_known
from bpe_cli.datasets.order import numpy
from bpe_cli.datasets.parts import TABLES, UNINDEXED, Layout, PartRows, part_of_ids
from bpe_cli.datasets.samples import SAMPLES
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.prepare.sides import SIDES
from bpe_cli.support.core_arguments import flag, list_of, whole_number, wrong_type
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

    from bpe_cli.datasets.stream import TokenStream
    from bpe_cli.jobs.prepare.records import Manifest, Record

    Dtype = np.dtype[Any]

_OPEN_PARTS = 256
"""How many parts are open at a time: each takes one or two of the files that a process may have."""


class TokenDataset:
    """Read a data set back. Its rows are its sequences, or its documents if it has no sequences.

    A row is a NumPy array of ids. Files are memory-mapped, and where the format allows it, a row is a read-only view of
    them, without a copy. With ``dtype``, rows are copies; PyTorch needs ``int64``. With ``fields``, a row is a dict of
    its ids and what is stored with them, by name.

    It can be pickled (the copy reopens the files) and shared by threads, so it works as a map-style data set for
    PyTorch's ``DataLoader``, with workers of any kind. ``stream`` returns an iterable-style one.

    >>> import os, tempfile
    >>> from bpe_cli import TokenDataset, prepare
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines, out = os.path.join(folder, "lines.txt"), os.path.join(folder, "out")
    ...     with open(lines, "w") as file:
    ...         _ = file.write("one\\ntwo three\\n")
    ...     _ = prepare("gpt2", lines, out, documents="lines", eot="auto", to="megatron")
    ...     rows = TokenDataset(out)
    ...     len(rows), rows[1].tolist(), rows.tokens
    (2, [11545, 1115, 50256], 5)

    Args:
        folder: The folder.
        length: Read rows of this many ids, cut from all ids of a part regardless of document boundaries. A remainder at
            the end of a part is left out. Not available for tables, mds and webdataset.
        dtype: The type of the ids in rows, such as ``int64``; None for the type in which they are stored.
        check: Whether to read every file and compare its hash, not only its length.
        side: The set to read, ``train`` or ``val``, if there are both.
        fields: The names of the fields of a row: ``input_ids``, the columns and fields stored with it, and fields
            derived from these. None gives just the ids, not a dict.

    Attributes:
        folder: The folder that it is in.
        fields: All fields that rows can have.
        documents: The number of documents.
        tokens: The number of ids.
        dtype: The NumPy type of the ids.
        settings: The settings that it was made with, from the manifest.

    Raises:
        InputError: if there is no data set in the folder, it is incomplete, or the length of a file differs from its
            record.
        CheckFailed: with ``check``, if something of it is missing or damaged.
        UsageError: if the data set does not record its rows, a field does not exist, or NumPy or another library that
            the format needs is not installed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        length: int | None = None,
        dtype: DTypeLike | None = None,
        check: bool = False,
        side: Literal["train", "val"] | None = None,
        fields: Iterable[str] | None = None,
    ) -> None:
        """Open the data set in a folder; its parts are opened when they are first read."""
        from bpe_cli.jobs.prepare import check as check_all
        from bpe_cli.jobs.prepare.folder import open_whole

        if not isinstance(folder, (str, os.PathLike)):
            raise wrong_type("folder", "a str or a path", folder)
        np = numpy()
        self.folder = os.fspath(folder)
        if flag("check", check):
            check_all(self.folder)
        manifest = open_whole(self.folder)
        self.settings: dict[str, Any] = manifest.settings
        self._sha256, self._records = manifest.sha256, _records_of(self.folder, manifest, side)
        several = (
            [fields] if isinstance(fields, str) else None if fields is None else list_of("fields", fields, "names")
        )
        self._arguments = {"length": length, "dtype": dtype, "side": side, "fields": several}
        block = None if length is None else whole_number("length", length, 1)
        layout = _layout_of(self.settings, block, divided=any(record.divided for record in self._records))
        layout.check(self.folder, divided=any(record.divided for record in self._records))
        self.fields = fields_of(self.settings, layout.known)
        self._is_dict = several is not None
        wanted = (IDS,) if several is None else check_fields(several, self.fields, self.folder)
        self._layout = replace(layout, fields=wanted)
        stored = np.dtype(self._layout.numbers)
        self.dtype: Dtype = stored if dtype is None else np.dtype(dtype)
        if not np.can_cast(stored, self.dtype, "safe") or self.dtype.kind not in "iu":
            raise UsageError(f"`dtype` {self.dtype} does not hold every {stored}", hint="int64 does")
        self._copies = dtype is not None
        self.documents = sum(record.documents for record in self._records)
        self.tokens = sum(record.tokens for record in self._records)
        self._before = [0, *accumulate(map(self._layout.rows_of, self._records))]
        self._open: OrderedDict[int, PartRows] = OrderedDict()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "arguments": self._arguments, "sha256": self._sha256}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["folder"], **state["arguments"])  # type: ignore[misc]
        if self._sha256 != state["sha256"]:
            raise InputError(f"the data set in {self.folder} has changed since it was opened")

    def __len__(self) -> int:
        return self._before[-1]

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Return a row, or several: each an array, or with ``fields``, a dict of the requested fields by name."""
        if isinstance(index, slice):
            return [self._row(at) for at in range(*index.indices(len(self)))]
        given = operator.index(index)
        at = given + len(self) if given < 0 else given
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {given} among {len(self)}")
        return self._row(at)

    def __iter__(self) -> Iterator[Any]:
        return map(self._row, range(len(self)))

    def stream(
        self,
        *,
        rank: int = 0,
        world_size: int = 1,
        seed: int | None = None,
        epoch: int = 0,
        batch_size: int = 1,
        block: int | None = None,
        tail: Literal["keep", "drop", "repeat"] = "keep",
    ) -> TokenStream:
        """Return the rows as a resumable stream, shuffled, and shared among ranks and the workers of a ``DataLoader``.

        Args:
            rank: The number of this process among those that train together, counting from 0.
            world_size: The number of these processes.
            seed: Shuffles the rows, differently each epoch; None keeps the stored order.
            epoch: The epoch to begin with; ``set_epoch`` sets the next.
            batch_size: The batch size of the ``DataLoader``, so that its batches are the same for any number of
                workers.
            block: Shuffle blocks of this many rows, and the rows within each, instead of all rows. Reading then stays
                in one place for a while, which helps with slow disks and Parquet.
            tail: How to treat the last rows if they do not make a batch for every rank: ``keep`` returns each row once,
                so that some ranks get more; ``drop`` leaves them out; ``repeat`` fills the batches with the first rows.

        Returns:
            The stream. Each pass over it yields the rows of its epoch, which ``set_epoch(epoch)`` sets.
            ``state_dict()`` returns the position of a pass, and ``load_state_dict(state)`` resumes there. If PyTorch
            was imported first, it treats the stream as an ``IterableDataset``.

        Raises:
            UsageError: if the rank is not in the range of ``world_size``.
            TypeError: if a number has the wrong type.

        >>> import os, tempfile
        >>> from bpe_cli import TokenDataset, prepare
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     lines, out = os.path.join(folder, "lines.txt"), os.path.join(folder, "out")
        ...     with open(lines, "w") as file:
        ...         _ = file.write("one\\ntwo\\nthree\\n")
        ...     _ = prepare("gpt2", lines, out, documents="lines", to="megatron")
        ...     rows = TokenDataset(out)
        ...     [[row.tolist() for row in rows.stream(rank=rank, world_size=2)] for rank in (0, 1)]
        [[[505], [15542]], [[11545]]]
        """
        from bpe_cli.datasets.stream import StreamOptions, TokenStream

        return TokenStream(self, StreamOptions(rank, world_size, seed, epoch, batch_size, block, tail))

    @property
    def sha256(self) -> str:
        """The hash of the manifest, which lists the hashes of all files."""
        return self._sha256

    def _row(self, at: int) -> Any:
        number = bisect_right(self._before, at) - 1
        part, at = self._part(number), at - self._before[number]
        if not self._is_dict:
            row = part.row(at)
            return row.astype(self.dtype) if self._copies else row
        found = part.fields(at)
        if self._copies:
            found = {name: value.copy() if _is_mapped(value) else value for name, value in found.items()}
            if IDS in found:
                found[IDS] = found[IDS].astype(self.dtype, copy=False)
        return found

    def _part(self, number: int) -> PartRows:
        with self._lock:
            part = self._open.get(number)
            if part is None:
                part = self._open[number] = self._opened(number)
                if len(self._open) > max(1, _OPEN_PARTS * 2 // max(2, len(part.paths))):
                    self._open.popitem(last=False)
            else:
                self._open.move_to_end(number)
        return part

    def _opened(self, number: int) -> PartRows:
        if self._layout.to in TABLES:
            from bpe_cli.datasets.tables import part_of_rows

            return part_of_rows(self._layout, self.folder, self._records[number])
        opened: Callable[[Layout, str, Record], PartRows] = SAMPLES.get(self._layout.to, part_of_ids)
        return opened(self._layout, self.folder, self._records[number])


def _is_mapped(value: Any) -> bool:
    """Return whether a value is an array that cannot be written to."""
    return hasattr(value, "flags") and not value.flags.writeable


def _records_of(folder: str, manifest: Manifest, side: str | None) -> list[Record]:
    """Return the records of a data set, or of one of two sets."""
    settings = manifest.settings
    if "val" not in settings:
        if side is not None:
            raise UsageError(f"{show_path(folder)} is one set: it was made without `val`")
        return manifest.records
    if side not in SIDES:
        raise UsageError(
            f"{show_path(folder)} holds two sets, and side names one of them", hint='side="train" or side="val"'
        )
    return [record.only(side) for record in manifest.records]


def _layout_of(settings: dict[str, Any], block: int | None, *, divided: bool) -> Layout:
    """Return how rows lie in the files of a data set; ``divided`` says whether texts hold the id that ends them."""
    to, eot, length, pad = settings["format"], settings["eot"], settings["length"], settings["pad"]
    # The last sequence of each part is shorter, and comes anywhere if sequences are shuffled.
    is_shuffled = (settings.get("shuffle") or {}).get("what") == "sequences"
    is_even = length is not None and (pad is not None or (settings["way"] == "concatenate" and not is_shuffled))
    known = pieces_known(settings)
    if known == "rows" and block is not None and to in UNINDEXED and (length is not None or eot is None or divided):
        known = None  # nothing says where the rows end that were written
    kept = tuple(name for name, _ in settings.get("keep") or ())
    columns = tuple(settings["columns"])
    return Layout(to, settings["dtype"], eot, length, is_even, block, columns=columns, known=known, pad=pad, kept=kept)
