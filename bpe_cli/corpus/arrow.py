"""Take a column of an Arrow file as documents, a row each: a file of random access (Feather, too) or a stream.

A record batch is held at a time, the other columns are not read. Needs pyarrow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from bpe_cli.corpus.columns import ROWS, Column, damaged, library
from bpe_cli.corpus.documents import Packer
from bpe_cli.support.blocks import Block

_FILE = b"ARROW1"


def pack_arrow(path: str, packer: Packer, field: str, on_bytes: Callable[[int], None] | None) -> Iterator[Block]:
    """Make a document of each row of a column of strings or binaries (``a.b`` goes into structs).

    Raises:
        InputError: pyarrow is not installed, the file is damaged, there is no such column, it does not
            hold text, or a row is null (the message says which, from 1).
    """
    arrow, ipc = library(path, "Arrow", "pyarrow.ipc")
    told, size = 0, os.path.getsize(path)
    try:
        with arrow.OSFile(path) as file:
            column = Column(path, _schema(file, ipc), field, arrow)
            for batch in _batches(file, ipc, column.keys[0]):
                for start in range(0, batch.num_rows, ROWS):
                    for text in column.texts(batch.column(0).slice(start, ROWS)):
                        yield from packer.document(text)
                if on_bytes is not None:
                    reached = min(file.tell(), size)
                    on_bytes(max(reached - told, 0))
                    told = max(reached, told)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise damaged(path, "Arrow", error) from error
    if on_bytes is not None:
        on_bytes(size - told)


def _is_file(file: Any) -> bool:
    file.seek(0)
    is_file = bool(file.read(len(_FILE)) == _FILE)
    file.seek(0)
    return is_file


def _schema(file: Any, ipc: Any) -> Any:
    return (ipc.open_file if _is_file(file) else ipc.open_stream)(file).schema


def _batches(file: Any, ipc: Any, name: str) -> Iterator[Any]:
    """Yield the record batches of a table, reading one column of each."""
    place = _schema(file, ipc).names.index(name)
    options = ipc.IpcReadOptions(included_fields=[place])
    if _is_file(file):
        reader = ipc.open_file(file, options=options)
        yield from map(reader.get_batch, range(reader.num_record_batches))
    else:
        yield from ipc.open_stream(file, options=options)
