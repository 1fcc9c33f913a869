"""Read a column of a table as documents: what Parquet and Arrow files have in common. Needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.opening import is_url
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import cannot_read, show_path

ROWS = 1024
"""As many rows are made into documents at a time."""


def library(path: str, kind: str, module: str) -> tuple[Any, Any]:
    """Import pyarrow, and a module of it.

    Raises:
        InputError: if pyarrow is not installed.
    """
    library = optional(module)
    if library is None:
        raise InputError(
            f"cannot read {show_path(path)}: it is {kind}, and pyarrow is not installed", hint="pip install pyarrow"
        )
    return optional("pyarrow"), library


def damaged(path: str, kind: str, error: Exception) -> InputError:
    """Make the error of a file that pyarrow cannot read."""
    line = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return cannot_read(path, ValueError(f"its {kind} data is damaged ({line})"))


@contextmanager
def _opened(path: str, version: str | None) -> Iterator[tuple[Any, int]]:
    """Open an object as a file of random access; give its size too. A file of the disk stays its path.

    Raises:
        InputError: if there is no such object, or its server gives no ranges of bytes.
    """
    if not is_url(path):
        yield path, os.path.getsize(path)
        return
    from bpe_cli.corpus.objects.ranged import open_object

    with open_object(path, version) as file:
        yield file, file.size()


class Column:
    """A column of strings or binaries, which may lie inside structs (``a.b``).

    Attributes:
        keys: Its name, and the names on the way to it.
    """

    def __init__(self, path: str, schema: Any, field: str, arrow: ModuleType) -> None:
        """Find the column in a schema.

        Raises:
            InputError: if there is no such column, or it does not hold text.
        """
        self.keys = [field] if field in schema.names else field.split(".")
        self._name, self._field, self._row = show_path(path), field, 0
        _check(self._name, schema, self.keys, field, arrow)

    def texts(self, column: Any) -> Iterator[bytes]:
        """Yield the text of each row, given the outermost column of some rows.

        Raises:
            InputError: if a row is null; the message says which, from 1.
        """
        for key in self.keys[1:]:
            column = column.field(key)
        for value in column.to_pylist():
            self._row += 1
            if value is None:
                raise InputError(f"{self._name}: row {self._row} of the column {self._field!r} is null")
            yield value.encode() if isinstance(value, str) else value


def _check(name: str, schema: Any, keys: list[str], field: str, arrow: Any) -> None:
    kind: Any = arrow.struct(list(schema))
    for key in keys:
        names = [kind.field(place).name for place in range(kind.num_fields)] if arrow.types.is_struct(kind) else []
        if key not in names:
            raise InputError(
                f"{name}: there is no column {field!r}",
                hint=f"`field` names it; there is {', '.join(map(repr, names[:10]))}" if names else None,
            )
        kind = kind.field(key).type
    if arrow.types.is_dictionary(kind):
        kind = kind.value_type
    test = arrow.types
    views = (getattr(test, each, None) for each in ("is_string_view", "is_binary_view"))  # from pyarrow 16
    tests = (
        test.is_null,
        test.is_string,
        test.is_large_string,
        test.is_binary,
        test.is_large_binary,
        *filter(None, views),
    )
    if not any(each(kind) for each in tests):
        raise InputError(f"{name}: the column {field!r} holds {kind}, not strings")


# --------------------------------------------------------------------------------------------------
# Take a column of an Arrow file as documents, a row each: a file of random access (Feather, too) or a stream.
#
# A record batch is held at a time, the other columns are not read. Needs pyarrow.


_FILE = b"ARROW1"


def pack_arrow(
    path: str, packer: Packer, field: str, on_bytes: Callable[[int], None] | None, version: str | None = None
) -> Iterator[Block]:
    """Make a document of each row of a column of strings or binaries (``a.b`` goes into structs).

    Raises:
        InputError: if pyarrow is not installed, the file is damaged, there is no such column, it does not
            hold text, or a row is null (the message says which, from 1).
    """
    arrow, ipc = library(path, "Arrow", "pyarrow.ipc")
    reported = 0
    try:
        with _opened(path, version) as (source, size), _arrow_file(arrow, source) as file:
            column = Column(path, _schema(file, ipc), field, arrow)
            for batch in _batches(file, ipc, column.keys[0]):
                for start in range(0, batch.num_rows, ROWS):
                    for text in column.texts(batch.column(0).slice(start, ROWS)):
                        yield from packer.document(text)
                if on_bytes is not None:
                    reached = min(file.tell(), size)
                    on_bytes(max(reached - reported, 0))
                    reported = max(reached, reported)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise damaged(path, "Arrow", error) from error
    if on_bytes is not None:
        on_bytes(size - reported)


def _arrow_file(arrow: Any, source: Any) -> Any:
    return arrow.OSFile(source) if isinstance(source, str) else arrow.PythonFile(source, mode="r")


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


# --------------------------------------------------------------------------------------------------
# Take a column of a Parquet file as documents, a row each. Needs pyarrow.


def pack_parquet(
    path: str, packer: Packer, field: str, on_bytes: Callable[[int], None] | None, version: str | None = None
) -> Iterator[Block]:
    """Make a document of each row of a column of strings or binaries (``a.b`` goes into structs).

    Raises:
        InputError: if pyarrow is not installed, the file is damaged, there is no such column, it does not
            hold text, or a row is null (the message says which, from 1).
    """
    arrow, module = library(path, "Parquet", "pyarrow.parquet")
    with _opened(path, version) as (source, size):
        try:
            # Of an object the pages come as they are needed; a chunk of a column at a time would be held otherwise.
            file: Any = module.ParquetFile(source, pre_buffer=False, buffer_size=_PAGES if is_url(path) else 0)
        except (OSError, ValueError, arrow.ArrowException) as error:
            raise damaged(path, "Parquet", error) from error
        with file:
            rows, reported = max(file.metadata.num_rows, 1), 0
            row = 0
            column = Column(path, file.schema_arrow, field, arrow)
            if not isinstance(source, str):
                source.will_read(_stretches(file.metadata, [".".join(column.keys)]))
            try:
                for batch in file.iter_batches(batch_size=ROWS, columns=[".".join(column.keys)]):
                    for text in column.texts(batch.column(0)):
                        yield from packer.document(text)
                    row += batch.num_rows
                    if on_bytes is not None:
                        on_bytes(size * row // rows - reported)
                        reported = size * row // rows
            except (OSError, ValueError, arrow.ArrowException) as error:
                raise damaged(path, "Parquet", error) from error
    if on_bytes is not None:
        on_bytes(size - reported)


_PAGES = 1 << 20


def _stretches(metadata: Any, names: list[str]) -> list[tuple[int, int]]:
    """Return where columns lie in a Parquet file: from and to, of each group of rows."""
    places = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = (group.column(index) for index in range(group.num_columns))
        for chunk in (each for each in chunks if each.path_in_schema in names):
            start = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
            places.append((start, start + chunk.total_compressed_size))
    return places
