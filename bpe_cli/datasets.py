"""Data sets from Python: make one as ``bpe prepare`` does, and read it back."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, overload

from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.core_arguments import one_of, specials_of, whole_number, wrong_type
from bpe_cli.support.listening import SILENCE, Listener, heard

if TYPE_CHECKING:
    import mmap

    from bpe_cli.corpus.source import Documents
    from bpe_cli.jobs.prepare import Prepared
    from bpe_cli.jobs.prepare.records import Record
    from bpe_cli.jobs.prepare.sequences import Way
    from bpe_cli.sinks.base import Dtype
    from bpe_cli.tokenizer import Specials, Tokenizer

    AnyTokenizer = Tokenizer | str | os.PathLike[str]
    Files = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_WAYS = ("truncate", "split", "concatenate", "best-fit")
_STARTS = {"bin": 0, "megatron": 0, "datatrove": 0, "npy": 128, "npy-offsets": 128, "litdata": 12}
"""Where the ids begin in the first file of a part, of the formats that are read here."""

_INDEXED = ("datatrove", "npy-offsets")
"""Those whose second file says where each row ends."""


def prepare(
    tokenizer: AnyTokenizer,
    files: Files,
    folder: str | os.PathLike[str],
    *,
    to: str = "bin",
    documents: Documents = "whole",
    field: str = "text",
    specials: Specials = (),
    bos: str | int | None = None,
    eot: str | int | None = None,
    dtype: Dtype | None = None,
    columns: Iterable[str] = (),
    length: int | None = None,
    way: Way = "concatenate",
    pad: str | int | None = None,
    part_bytes: int = 256 << 20,
    share: tuple[int, int] | None = None,
    overwrite: bool = False,
    processes: int | None = None,
    listener: Listener = SILENCE,
) -> Prepared:
    """Encode files into the folder of a data set, part by part, as ``bpe prepare`` does: never a part twice.

    Args:
        tokenizer: A tokenizer, or what ``load`` takes.
        files: A file, a folder, a pattern with ``*``, or several.
        folder: Where; it is made if there is none.
        to: The format, by its name: ``bin``, ``npy``, ``megatron`` and the others of the page about data sets.
        documents: What a document of a file is: ``whole``, the file; ``lines``, each line; ``jsonl``, a field of it.
        field: The field of a JSON line, or the column of a table.
        specials: Which special tokens are looked for in the texts.
        bos: What begins each document, as for ``Tokenizer.encode``.
        eot: What ends each document, likewise.
        dtype: How an id is stored, ``u16`` or ``u32``; None for the smallest type that holds every id.
        columns: What a row of a table has beside its ids: ``attention_mask``, ``position_ids``.
        length: How many ids a sequence has at most; None for documents as they are.
        way: How documents become sequences: ``truncate`` or ``split`` each, ``concatenate`` all and cut, or put whole
            ones together by ``best-fit``.
        pad: What fills sequences up: the text of a special token, an id, or ``auto``; None for nothing.
        part_bytes: How many bytes of input a part has.
        share: (K, N) to make each N-th part only, beginning with the K-th, where N machines share them; None for all.
        overwrite: Whether what is damaged, or was made otherwise, is made again.
        processes: How many processes work at a time, all processors if None; changes no result. With more than one, a
            program needs the usual ``if __name__ == "__main__"``.
        listener: Who hears how it goes on: anything with the methods ``task`` and ``note``.

    Returns:
        What stands in the folder: how many ``parts``, ``documents`` and ``tokens``, and whether it ``is_whole``.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text, out = os.path.join(folder, "text.txt"), os.path.join(folder, "out")
    ...     with open(text, "w") as file:
    ...         _ = file.write("hello world")
    ...     done = prepare("gpt2", text, out, eot="auto")
    ...     done.documents, done.tokens, [row.tolist() for row in TokenDataset(out)]
    (1, 3, [[31373, 995, 50256]])

    Raises:
        BpeError: if there is no such tokenizer or option, a file cannot be read or written, or cannot be encoded, or
            the folder holds what was made otherwise.
        TypeError: if an argument is of a wrong type.
    """
    from bpe_cli.corpus import Source
    from bpe_cli.jobs.prepare import PrepareOptions, Share
    from bpe_cli.jobs.prepare import prepare as prepare_job

    one_of("way", way, _WAYS)
    options = PrepareOptions(
        to=to, dtype=dtype, columns=_columns_of(columns),
        specials=specials_of(specials), bos=bos, eot=eot, part_bytes=whole_number("part_bytes", part_bytes),
        length=None if length is None else whole_number("length", length), way=way, pad=pad,
    )  # fmt: skip
    one_of("documents", documents, ("whole", "lines", "jsonl"))
    named = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    source = Source(tuple(os.fspath(each) for each in named), documents=documents, field=field)
    return prepare_job(
        source, tokenizer, options, folder=folder, share=None if share is None else Share(*share), overwrite=overwrite,
        processes=processes, listener=heard(listener),
    )  # fmt: skip


def _columns_of(columns: object) -> tuple[str, ...]:
    """Check the names of columns: one, or several."""
    several = (columns,) if isinstance(columns, str) else tuple(columns) if isinstance(columns, Iterable) else (None,)
    if not all(isinstance(each, str) for each in several):
        raise wrong_type("columns", "several str", columns)
    return several


class TokenDataset(Sequence["memoryview"]):
    """Read a data set back: its rows, which are its sequences, or else its documents, from files mapped into memory.

    A row is a memoryview of its ids (``H`` for u16, ``I`` for u32), which NumPy and PyTorch take without copying. It
    can be pickled, and then opens the files again: so it is a map-style data set for a ``DataLoader`` with workers.

    >>> import os, tempfile
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
