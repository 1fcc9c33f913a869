"""Read a column of a table as documents: what Parquet and Arrow files have in common. Needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.kept_columns import kept_column
from bpe_cli.corpus.opening import is_url
from bpe_cli.corpus.rows import ALL_WHOLE, KeptField, Place, RowFault, Rows, TableRow
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus.inputs import Input

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
def _opened(path: str, version: str | None, arrow: Any) -> Iterator[tuple[Any, int]]:
    """Open a file or an object as a file of random access; give its size too.

    Raises:
        InputError: if it cannot be opened, or its server gives no ranges of bytes.
    """
    if not is_url(path):
        try:
            file = arrow.OSFile(os.fsencode(path))  # a string that is not UTF-8 is refused
        except OSError as error:
            raise cannot_read(path, error) from error
        with file:
            yield file, file.size()
        return
    from bpe_cli.corpus.objects.ranged import open_object

    with open_object(path, version) as file:
        yield file, file.size()


class Column:
    """A column, which may lie inside structs (``a.b``).

    Attributes:
        keys: Its name, and the names on the way to it.
        type: What it holds.
    """

    def __init__(self, path: str, schema: Any, field: str, arrow: Any) -> None:
        """Find the column in a schema.

        Raises:
            InputError: if there is no such column, or there are several.
        """
        self.keys = [field] if field in schema.names else field.split(".")
        kind: Any = arrow.struct(list(schema))
        for key in self.keys:
            names = [kind.field(place).name for place in range(kind.num_fields)] if arrow.types.is_struct(kind) else []
            if key not in names:
                raise InputError(
                    f"{show_path(path)}: there is no column {field!r}",
                    hint=f"`field` names it; there is {', '.join(map(repr, names[:10]))}" if names else None,
                )
            if names.count(key) > 1:
                raise InputError(f"{show_path(path)}: several columns are called {key!r}")
            kind = kind.field(key).type
        self.type = kind

    def of(self, batch: Any) -> Any:
        """Return the array of the column in some rows."""
        array = batch.column(batch.schema.names.index(self.keys[0]))
        for key in self.keys[1:]:
            array = array.flatten()[array.type.get_field_index(key)]  # null where what it lies in is
        return array


def _check_text(path: str, field: str, kind: Any, arrow: Any) -> None:
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
        raise InputError(f"{show_path(path)}: the column {field!r} holds {kind}, not strings")


class _Documents:
    """Make documents of the rows of a table, and keep values of other columns.

    Attributes:
        names: The outermost columns that are read.
        paths: The columns that are read, as Parquet names those inside of others.
    """

    def __init__(self, path: str, schema: Any, field: str, arrow: Any, packer: Packer, rows: Rows) -> None:
        self._path, self._field, self._arrow, self._packer, self._rows = path, field, arrow, packer, rows
        self._text = Column(path, schema, field, arrow)
        _check_text(path, field, self._text.type, arrow)
        self._kept = [(each, Column(path, schema, each.name, arrow)) for each in rows.keep]
        self._types = [each.arrow_type(arrow) for each in rows.keep]
        for (each, column), kind in zip(self._kept, self._types, strict=True):
            if each.schema is not None and _plain(column.type, arrow) != kind:
                raise InputError(
                    f"{show_path(path)}: the column {each.name!r} holds {column.type}, in the first input {each.type}",
                    hint=f"`keep={each.name}:string` makes strings of all",
                )
        columns = [self._text, *(column for _, column in self._kept)]
        self.names = list(dict.fromkeys(column.keys[0] for column in columns))
        self.paths = list(dict.fromkeys(".".join(column.keys) for column in columns))
        self._row = 0

    def of(self, batch: Any) -> Iterator[Block]:
        """Make a document of each row of some, which were validated: an offset may lead anywhere else."""
        texts = None if self._rows.on_kept is not None else _laid_out(self._text.of(batch), self._arrow)
        if texts is not None:
            self._row += batch.num_rows
            yield from self._packer.whole(*texts)
            return
        faults: dict[int, RowFault] = {}
        kept = [
            kept_column(column.of(batch), kind, each, faults, self._path, arrow=self._arrow)
            for (each, column), kind in zip(self._kept, self._types, strict=True)
        ]
        for at, value in enumerate(self._text.of(batch).to_pylist()):
            self._row += 1
            fault = faults.get(at)
            if value is None:
                fault = RowFault("type", f"the column {self._field!r} is null")
            if fault is not None:
                self._rows.meet(fault, Place(show_path(self._path), self._path, row=self._row))
                continue
            if self._rows.on_kept is not None:
                self._rows.on_kept(TableRow(kept, at))
            yield from self._packer.document(value.encode() if isinstance(value, str) else value)


def _laid_out(values: Any, arrow: Any) -> tuple[memoryview, Sequence[int]] | None:
    """Return strings or binaries as they lie in memory, one after the other, and where each ends.

    None if one is null, or they lie there in another way: each is to be looked at then.
    """
    test, kind = arrow.types, values.type
    wide = test.is_large_string(kind) or test.is_large_binary(kind)
    if values.null_count or not len(values) or not (wide or test.is_string(kind) or test.is_binary(kind)):
        return None
    _, offsets, data = values.buffers()
    width = 8 if wide else 4
    view = memoryview(offsets).cast("B")[values.offset * width :][: (len(values) + 1) * width]
    first, *ends = view.cast("q" if wide else "i").tolist()
    text = memoryview(b"") if data is None else memoryview(data).cast("B")[first : ends[-1]]
    return text, ends if not first else [end - first for end in ends]


def _plain(kind: Any, arrow: Any) -> Any:
    """Return the type of the values of a column: batches of a file cannot each have a dictionary of their own."""
    return kind.value_type if arrow.types.is_dictionary(kind) else kind


def _has_dictionary(kind: Any, arrow: Any) -> bool:
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return arrow.types.is_dictionary(kind) or any(_has_dictionary(each, arrow) for each in inner)


def field_of(item: Input, name: str) -> KeptField:
    """Return a column of a table as a field to keep, of the type that it has there.

    Raises:
        InputError: if there is no such column, it cannot be kept, or the table cannot be read.
    """
    from bpe_cli.corpus.kinds import ARROW

    is_arrow = item.kind == ARROW
    kind, module = ("Arrow", "pyarrow.ipc") if is_arrow else ("Parquet", "pyarrow.parquet")
    arrow, reader = library(item.path, kind, module)
    try:
        with _opened(item.path, item.version, arrow) as (source, _):
            if is_arrow:
                with _arrow_file(arrow, source) as file:
                    schema = _schema(file, reader)
            else:
                schema = reader.read_schema(source)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise damaged(item.path, kind, error) from error
    type_ = _plain(Column(item.path, schema, name, arrow).type, arrow)
    if _has_dictionary(type_, arrow):
        raise InputError(
            f"{item.name}: the column {name!r} holds {type_}, and dictionaries inside of others are not kept"
        )
    return KeptField(name, str(type_), arrow.schema([(name, type_)]).serialize().to_pybytes())


# --------------------------------------------------------------------------------------------------
# Take a column of an Arrow file as documents, a row each: a file of random access (Feather, too) or a stream.
#
# A record batch is held at a time, the other columns are not read. Needs pyarrow.


_FILE = b"ARROW1"


def pack_arrow(
    path: str,
    packer: Packer,
    field: str,
    on_bytes: Callable[[int], None] | None,
    rows: Rows = ALL_WHOLE,
    version: str | None = None,
) -> Iterator[Block]:
    """Make a document of each row of a column of strings or binaries (``a.b`` goes into structs).

    Raises:
        InputError: if pyarrow is not installed, the file is damaged, the column does not exist or does not hold text,
            or a row is null (the message gives its number, from 1).
    """
    arrow, ipc = library(path, "Arrow", "pyarrow.ipc")
    reported = 0
    try:
        with _opened(path, version, arrow) as (source, size), _arrow_file(arrow, source) as file:
            documents = _Documents(path, _schema(file, ipc), field, arrow, packer, rows)
            for batch in _batches(file, ipc, documents.names):
                batch.validate(full=True)  # UTF-8, and that no offset leads astray: nobody else looks
                for start in range(0, batch.num_rows, ROWS):
                    yield from documents.of(batch.slice(start, ROWS))
                if on_bytes is not None:
                    reached = min(file.tell(), size)
                    on_bytes(max(reached - reported, 0))
                    reported = max(reached, reported)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise damaged(path, "Arrow", error) from error
    if on_bytes is not None:
        on_bytes(size - reported)


def _arrow_file(arrow: Any, source: Any) -> Any:
    return source if isinstance(source, arrow.NativeFile) else arrow.PythonFile(source, mode="r")


def _is_file(file: Any) -> bool:
    file.seek(0)
    is_file = bool(file.read(len(_FILE)) == _FILE)
    file.seek(0)
    return is_file


def _schema(file: Any, ipc: Any) -> Any:
    return (ipc.open_file if _is_file(file) else ipc.open_stream)(file).schema


def _batches(file: Any, ipc: Any, names: list[str]) -> Iterator[Any]:
    """Yield the record batches of a table, reading some columns of each."""
    there = _schema(file, ipc).names
    options = ipc.IpcReadOptions(included_fields=sorted(there.index(name) for name in names))
    if _is_file(file):
        reader = ipc.open_file(file, options=options)
        yield from map(reader.get_batch, range(reader.num_record_batches))
    else:
        yield from ipc.open_stream(file, options=options)


# --------------------------------------------------------------------------------------------------
# Take a column of a Parquet file as documents, a row each. Needs pyarrow.


def pack_parquet(
    path: str,
    packer: Packer,
    field: str,
    on_bytes: Callable[[int], None] | None,
    rows: Rows = ALL_WHOLE,
    version: str | None = None,
) -> Iterator[Block]:
    """Make a document of each row of a column of strings or binaries (``a.b`` goes into structs).

    Raises:
        InputError: if pyarrow is not installed, the file is damaged, the column does not exist or does not hold text,
            or a row is null (the message gives its number, from 1).
    """
    arrow, module = library(path, "Parquet", "pyarrow.parquet")
    with _opened(path, version, arrow) as (source, size):
        try:
            # Of an object the pages come as they are needed; a chunk of a column at a time would be held otherwise.
            file: Any = module.ParquetFile(source, pre_buffer=False, buffer_size=_PAGES if is_url(path) else 0)
        except (OSError, ValueError, arrow.ArrowException) as error:
            raise damaged(path, "Parquet", error) from error
        with file:
            there, reported = max(file.metadata.num_rows, 1), 0
            row = 0
            documents = _Documents(path, file.schema_arrow, field, arrow, packer, rows)
            if is_url(path):
                source.will_read(_stretches(file.metadata, documents.paths))
            try:
                for batch in file.iter_batches(batch_size=ROWS, columns=documents.paths):
                    batch.validate(full=True)
                    yield from documents.of(batch)
                    row += batch.num_rows
                    if on_bytes is not None:
                        on_bytes(size * row // there - reported)
                        reported = size * row // there
            except (OSError, ValueError, arrow.ArrowException) as error:
                raise damaged(path, "Parquet", error) from error
    if on_bytes is not None:
        on_bytes(size - reported)


_PAGES = 1 << 20


def _stretches(metadata: Any, names: list[str]) -> list[tuple[int, int]]:
    """Return where columns lie in a Parquet file, those inside of them too: from and to, of each group of rows."""
    places = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        chunks = (group.column(index) for index in range(group.num_columns))
        for chunk in (each for each in chunks if _is_of(each.path_in_schema, names)):
            start = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
            places.append((start, start + chunk.total_compressed_size))
    return places


def _is_of(path: str, names: list[str]) -> bool:
    """Return whether a column of bare values is one of those that are named, or lies inside of one."""
    return any(path == name or path.startswith(f"{name}.") for name in names)
