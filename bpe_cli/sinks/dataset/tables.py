"""Write documents as the rows of a table, with pyarrow: Arrow, Parquet, or the Arrow of a saved ``datasets`` folder.

The column ``input_ids`` is a list of uint16 or int32; ``columns.py`` says which lists a row may have beside it. Record
batches and row groups have a bounded size, whatever the blocks are in which documents come.

``arrow`` is an Arrow IPC file, uncompressed, so that it can be mapped into memory; ``datasets`` has the stream that
Hugging Face's library maps, and beside the parts state.json and dataset_info.json, which name them; it finds the
types of the columns in the files.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bpe_cli.errors import InputError, UsageError
from bpe_cli.sinks.dataset.columns import TYPES, ColumnValues
from bpe_cli.sinks.dataset.documents import LARGEST_I32, Row, RowsSink, int32_dtype
from bpe_cli.support.lazy_modules import optional

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
    from bpe_cli.sinks.dataset import RecordedPart
    from bpe_cli.tokenizer import Tokenizer

IDS_OF_BATCH = 1 << 20
"""A batch ends with the document that has this id of the batch, ..."""

ROWS_OF_BATCH = 1 << 16
"""... or with this row, or when the values that are kept are many bytes."""


class OutputStream:
    """An output as pyarrow writes to it."""

    closed = False

    def __init__(self, output: Output) -> None:
        """Begin at the start of an output."""
        self._output = output
        self._place = 0

    def write(self, data: bytes) -> int:
        """Write bytes."""
        if self._output.closed:  # the writer of a part that failed ends its file when it is collected
            return len(data)
        self._output.write(data)
        self._place += len(data)
        return len(data)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._place

    def flush(self) -> None:
        """Flush the output."""
        self._output.flush()

    def close(self) -> None:
        """Leave the output open, for whoever opened it."""


class TableSink(RowsSink):
    """Write rows in batches.

    Raises:
        UsageError: if pyarrow is not installed, an id does not fit into int32, or the format lacks the type of a column
            that is kept.
        InputError: if a document has more ids than an int32 can count.
    """

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._arrow = _pyarrow("a table")
        ids = self._arrow.uint16() if self.dtype == "u16" else self._arrow.int32()
        self._lengths = array("i")
        self._values = bytearray()
        self._columns = ColumnValues(options.columns, options.positions)
        columns = [("input_ids", ids), *((name, getattr(self._arrow, TYPES[name])()) for name in options.columns)]
        self._lists = [(name, self._arrow.list_(kind)) for name, kind in columns]
        kept = [] if options.kept is None else options.kept.schema(self._arrow)
        self._schema = self._arrow.schema([*self._lists, *kept])
        try:
            self._writer = self._open(OutputStream(output))
        except self._arrow.ArrowNotImplementedError as error:
            reason = str(error).splitlines()[0]
            raise UsageError(
                f"the format cannot hold a column that `keep` names: {reason}",
                hint="NAME:string keeps what can be written as a string",
            ) from error

    @staticmethod
    def dtype_for(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose the type of the numbers: whoever reads tables has int32 rather than uint32.

        Raises:
            UsageError: if pyarrow is not installed, or an id does not fit into int32, or the type that was asked for.
        """
        _pyarrow("a table")
        return int32_dtype("a table", tokenizer, options)

    @abstractmethod
    def _open(self, stream: OutputStream) -> Any:
        """Open a writer of record batches."""

    def _write_row(self, numbers: memoryview, row: Row) -> None:
        length = row.length
        held = len(self._values) // self.width
        if held + length > LARGEST_I32:  # the list that they are part of
            if length > LARGEST_I32:
                raise InputError(f"a document has {length:,} ids, and a row of a table at most {LARGEST_I32:,}")
            self._write_batch()
            held = 0
        self._values += numbers
        self._lengths.append(length)
        self._columns.add(row)
        kept = self.options.kept
        if kept is not None:
            kept.take_row()
        is_full = kept is not None and kept.is_full
        if is_full or held + length >= IDS_OF_BATCH or len(self._lengths) == ROWS_OF_BATCH:
            self._write_batch()

    def _write_batch(self) -> None:
        if not self._lengths:
            return
        arrow = self._arrow
        columns = []
        for name, kind in self._lists:
            is_ids = name == "input_ids"
            counts = self._lengths if is_ids else self._columns.counts(name)
            values = arrow.py_buffer(self._values if is_ids else self._columns.of(name))
            numbers = array("i", accumulate(counts, initial=0))
            offsets = arrow.Array.from_buffers(arrow.int32(), len(numbers), [None, arrow.py_buffer(numbers)])
            items = arrow.Array.from_buffers(kind.value_type, numbers[-1], [None, values])
            columns.append(arrow.ListArray.from_arrays(offsets, items))
        if self.options.kept is not None:
            columns += self.options.kept.columns(arrow)
        self._writer.write_batch(arrow.record_batch(columns, schema=self._schema))
        self._lengths, self._values = array("i"), bytearray()
        self._columns = ColumnValues(self.options.columns, self.options.positions)

    def finish(self) -> None:
        """Write what is left and the end of the file, and flush."""
        self._write_batch()
        self._writer.close()
        super().finish()


class ArrowSink(TableSink):
    """Write an Arrow IPC file."""

    def _open(self, stream: OutputStream) -> Any:
        return self._arrow.ipc.new_file(stream, self._schema)


class DatasetsSink(TableSink):
    """Write an Arrow stream."""

    def _open(self, stream: OutputStream) -> Any:
        return self._arrow.ipc.new_stream(stream, self._schema)


class ParquetSink(TableSink):
    """Write a Parquet file, compressed with Zstandard; a batch is a row group."""

    def _open(self, stream: OutputStream) -> Any:
        parquet = optional("pyarrow.parquet")
        if parquet is None:
            raise _no_pyarrow("parquet")
        return parquet.ParquetWriter(stream, self._schema, compression="zstd")


def _pyarrow(what: str) -> Any:
    module = optional("pyarrow")
    if module is None:
        raise _no_pyarrow(what)
    return module


def _no_pyarrow(what: str) -> UsageError:
    return UsageError(f"cannot write {what}: pyarrow is not installed", hint="pip install pyarrow")


def index_of(records: Sequence[RecordedPart], _: Sequence[str]) -> dict[str, bytes]:
    """Make what a saved ``datasets`` folder has beside its tables.

    The fingerprint, by which that library names what it caches, is made of the hashes of the parts.
    """
    from hashlib import sha256

    from bpe_cli.support.safe_orjson import orjson

    files = [file for part in records for file in part.files]
    state: dict[str, Any] = {
        "_data_files": [{"filename": file.name} for file in files],
        "_fingerprint": sha256("".join(file.sha256 for file in files).encode()).hexdigest()[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    info = {"citation": "", "description": "", "homepage": "", "license": ""}
    contents = {"dataset_info.json": info, "state.json": state}
    return {
        name: orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        for name, content in contents.items()
    }
