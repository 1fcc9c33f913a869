"""Take a column of a Parquet file as documents, a row each. Needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from bpe_cli.corpus.columns import ROWS, Column, damaged, library
from bpe_cli.corpus.documents import Packer
from bpe_cli.support.blocks import Block


def pack_parquet(path: str, packer: Packer, field: str, on_bytes: Callable[[int], None] | None) -> Iterator[Block]:
    """Make a document of each row of a column of strings or binaries (``a.b`` goes into structs).

    Raises:
        InputError: pyarrow is not installed, the file is damaged, there is no such column, it does not
            hold text, or a row is null (the message says which, from 1).
    """
    arrow, module = library(path, "Parquet", "pyarrow.parquet")
    try:
        file: Any = module.ParquetFile(path, pre_buffer=False)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise damaged(path, "Parquet", error) from error
    with file:
        rows, size, told = max(file.metadata.num_rows, 1), os.path.getsize(path), 0
        row = 0
        column = Column(path, file.schema_arrow, field, arrow)
        try:
            for batch in file.iter_batches(batch_size=ROWS, columns=[".".join(column.keys)]):
                for text in column.texts(batch.column(0)):
                    yield from packer.document(text)
                row += batch.num_rows
                if on_bytes is not None:
                    on_bytes(size * row // rows - told)
                    told = size * row // rows
        except (OSError, ValueError, arrow.ArrowException) as error:
            raise damaged(path, "Parquet", error) from error
    if on_bytes is not None:
        on_bytes(size - told)
