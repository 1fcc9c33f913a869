"""Take a column of a Parquet file as documents, a row each. Needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from bpe_cli.blocks import Block
from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.opening import cannot_read, show_path
from bpe_cli.errors import InputError
from bpe_cli.registry import optional

_ROWS = 1024


def pack_parquet(path: str, packer: Packer, field: str, on_bytes: Callable[[int], None] | None) -> Iterator[Block]:
    """Make a document of each row of a column of strings or binaries (``a.b`` goes into structs).

    Raises:
        InputError: pyarrow is not installed, the file is damaged, there is no such column, it does not
            hold text, or a row is null (the message says which, from 1).
    """
    name = show_path(path)
    module = optional("pyarrow.parquet")
    arrow: Any = optional("pyarrow")
    if module is None:
        raise InputError(f"cannot read {name}: it is Parquet, and pyarrow is not installed", hint="pip install pyarrow")
    try:
        file: Any = module.ParquetFile(path, pre_buffer=False)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise cannot_read(path, ValueError(f"its Parquet data is damaged ({_line(error)})")) from error
    with file:
        rows, size, told = max(file.metadata.num_rows, 1), os.path.getsize(path), 0
        row = 0
        keys = [field] if field in file.schema_arrow.names else field.split(".")
        _check_column(name, file.schema_arrow, keys, field, arrow)
        try:
            for batch in file.iter_batches(batch_size=_ROWS, columns=[".".join(keys)]):
                column = batch.column(0)
                for key in keys[1:]:
                    column = column.field(key)
                for value in column.to_pylist():
                    row += 1
                    if value is None:
                        raise InputError(f"{name}: row {row} of the column {field!r} is null")
                    yield from packer.document(value.encode() if isinstance(value, str) else value)
                if on_bytes is not None:
                    on_bytes(size * row // rows - told)
                    told = size * row // rows
        except (OSError, ValueError, arrow.ArrowException) as error:
            raise cannot_read(path, ValueError(f"its Parquet data is damaged ({_line(error)})")) from error
    if on_bytes is not None:
        on_bytes(size - told)


def _check_column(name: str, schema: Any, keys: list[str], field: str, arrow: Any) -> None:
    kind: Any = arrow.struct(list(schema))
    for key in keys:
        names = [kind.field(place).name for place in range(kind.num_fields)] if arrow.types.is_struct(kind) else []
        if key not in names:
            raise InputError(
                f"{name}: there is no column {field!r}",
                hint=f"--field names it; there is {', '.join(map(repr, names[:10]))}" if names else None,
            )
        kind = kind.field(key).type
    if arrow.types.is_dictionary(kind):
        kind = kind.value_type
    test = arrow.types
    if not (test.is_string(kind) or test.is_large_string(kind) or test.is_binary(kind) or test.is_large_binary(kind)):
        raise InputError(f"{name}: the column {field!r} holds {kind}, not strings")


def _line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
