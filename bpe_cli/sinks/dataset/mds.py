"""Write ids as MosaicML's Streaming reads them: a shard for each part, a sample for each document, and index.json.

A shard (MDS, version 2) begins with the count of its samples and where in the file each begins and the last ends (all
uint32), and the columns as JSON. A sample is the length of each datum (uint32), and the data: the column ``tokens``,
which LLM Foundry reads, as an array of one dimension, and what is asked for beside it, in the order of their names. An
array begins with how it has its shape: a byte for the count of dimensions and the width of a length, and the length.

All offsets come first, and are known last: so the samples wait in a nameless file beside the shard.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import finalize

from bpe_cli.errors import InputError
from bpe_cli.sinks.dataset.columns import TYPES, ColumnValues
from bpe_cli.sinks.dataset.documents import LARGEST_U32, Row, RowsSink, int32_dtype
from bpe_cli.sinks.draft import BUFFER_BYTES
from bpe_cli.support.messages import cannot_write
from bpe_cli.support.temporary_files import close_quietly

if TYPE_CHECKING:
    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.base import Dtype, SinkOptions
    from bpe_cli.sinks.dataset import RecordedPart
    from bpe_cli.tokenizer import Tokenizer

_ENCODINGS = {"u16": "ndarray:uint16", "u32": "ndarray:int32"}
_SHAPES = (("<B", 1 << 8), ("<H", 1 << 16), ("<I", 1 << 32))
"""How a length is stored by the number that stands for it, and what it must be below."""


class MdsSink(RowsSink):
    """Write one shard.

    Raises:
        InputError: if the shard is longer than uint32 can count.
    """

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self._samples = _nameless(output)
        finalize(self, close_quietly, self._samples)  # a sink whose part fails is never finished
        self._offsets = array("Q", [0])

    @staticmethod
    def dtype_for(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose the type of the numbers: LLM Foundry has int32, and PyTorch little that takes uint32.

        Raises:
            UsageError: if an id does not fit into int32 or the requested type.
        """
        return int32_dtype("mds", tokenizer, options)

    def _write_row(self, numbers: memoryview, row: Row) -> None:
        data: dict[str, tuple[bytes, bytes | memoryview]] = {"tokens": (_shape_of(row.length), numbers)}
        if self.options.columns:
            columns = ColumnValues(self.options.columns, self.options.positions)
            columns.add(row)
            for name in columns.columns:
                data[name] = _shape_of(len(columns.of(name))), columns.bytes_of(name)
        parts = [data[name] for name in sorted(data)]
        sizes = [len(shape) + len(values) for shape, values in parts]
        self._check_size(4 * len(self._offsets) + self._offsets[-1] + sum(sizes))
        try:
            self._samples.write(struct.pack(f"<{len(sizes)}I", *sizes))
            for shape, values in parts:
                self._samples.write(shape)
                self._samples.write(values)
        except OSError as error:
            raise cannot_write(self.output.name, error) from error
        self._offsets.append(self._offsets[-1] + 4 * len(sizes) + sum(sizes))

    def _check_size(self, size: int) -> None:
        if size > LARGEST_U32:
            raise InputError(
                f"a part has more than {LARGEST_U32:,} bytes, and a shard of mds at most that many",
                hint="divide the input into smaller files, or make the parts smaller",
            )

    def finish(self) -> None:
        """Write the start of the shard, and the samples behind it; flush."""
        from bpe_cli.support.safe_orjson import orjson

        config = orjson.dumps(_config(self.dtype, self.options.columns), option=orjson.OPT_SORT_KEYS)
        start = 4 + 4 * len(self._offsets) + len(config)
        self._check_size(start + self._offsets[-1])
        numbers = array("I", [len(self._offsets) - 1])
        numbers.extend(start + offset for offset in self._offsets)
        if sys.byteorder == "big":
            numbers.byteswap()
        self.output.write(numbers)
        self.output.write(config)
        try:
            self._samples.seek(0)
            while chunk := self._samples.read(1 << 20):
                self.output.write(chunk)
        except OSError as error:
            raise cannot_write(self.output.name, error) from error
        self._samples.close()
        super().finish()


def _nameless(output: Output) -> Any:
    """Open a file without a name on the disk of an output."""
    from tempfile import TemporaryFile

    try:
        return TemporaryFile(buffering=BUFFER_BYTES, dir=os.path.dirname(output.path or ".") or ".")
    except OSError as error:
        raise cannot_write(output.name, error) from error


def _shape_of(length: int) -> bytes:
    """Return the shape of an array of one dimension, its length in the smallest type.

    >>> _shape_of(3).hex(), _shape_of(256).hex(), _shape_of(65536).hex()
    ('0403', '050001', '0600000100')
    """
    code, kind = next((code, kind) for code, (kind, limit) in enumerate(_SHAPES) if length < limit)
    return bytes([1 << 2 | code]) + struct.pack(kind, length)


def _config(dtype: str, columns: Sequence[str]) -> dict[str, Any]:
    encodings = {"tokens": _ENCODINGS[dtype]} | {name: f"ndarray:{TYPES[name]}" for name in columns}
    return {
        "version": 2,
        "format": "mds",
        "compression": None,
        "hashes": ["sha256"],
        "size_limit": None,
        "column_names": sorted(encodings),
        "column_encodings": [encodings[name] for name in sorted(encodings)],
        "column_sizes": [None] * len(encodings),
    }


def index_of(records: Sequence[RecordedPart], columns: Sequence[str]) -> dict[str, bytes]:
    """Make index.json. Shards without samples are left out."""
    from bpe_cli.support.safe_orjson import orjson

    shards = [
        _config(part.dtype, columns)
        | {
            "samples": part.rows,
            "raw_data": {"basename": file.name, "bytes": file.size, "hashes": {"sha256": file.sha256}},
            "zip_data": None,
        }
        for part in records
        for file in part.files
        if part.rows
    ]
    return {"index.json": orjson.dumps({"version": 2, "shards": shards}, option=orjson.OPT_SORT_KEYS)}
