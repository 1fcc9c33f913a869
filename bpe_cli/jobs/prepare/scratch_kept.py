"""Values that are kept of documents, between the two passes of a shuffle: an Arrow file for each part.

Its rows are the documents of the part in the order in which they were read. An item says the number of its document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bpe_cli.corpus.rows import TableRow
from bpe_cli.errors import InputError, UsageError
from bpe_cli.jobs.prepare.keeping import BYTES_AT_ONCE, KeptValues
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from bpe_cli.corpus.rows import KeptField
    from bpe_cli.jobs.prepare.scratch import Item
    from bpe_cli.sinks.atomic import Output

ENDING = ".kept"

_AT_ONCE = 1 << 12
"""How many documents have their values in memory, unless these are large."""


def _pyarrow() -> Any:
    module = optional("pyarrow")
    if module is None:
        raise UsageError("cannot keep values in a shuffle: pyarrow is not installed", hint="pip install pyarrow")
    return module


class KeptWriter:
    """Write the values of the documents of a part.

    Raises:
        UsageError: if pyarrow is not installed.
    """

    def __init__(self, output: Output, fields: Sequence[KeptField]) -> None:
        """Begin without documents."""
        from bpe_cli.sinks.dataset.tables import OutputStream

        self._arrow = _pyarrow()
        self._held = KeptValues(fields, in_sequences=False)
        self._schema = self._arrow.schema(self._held.schema(self._arrow))
        self._writer = self._arrow.ipc.new_file(OutputStream(output), self._schema)
        self._output = output
        self._count = 0

    def add(self, values: Sequence[Any] | TableRow) -> None:
        """Add the values of the next document."""
        self._held.add(values)
        self._held.take_row()
        self._count += 1
        if self._count == _AT_ONCE or self._held.is_full:
            self._write()

    def _write(self) -> None:
        columns = self._held.columns(self._arrow) if self._count else []
        if columns:
            self._writer.write_batch(self._arrow.record_batch(columns, schema=self._schema))
        self._count = 0

    def finish(self) -> None:
        """Write what is left and the end of the file, and flush."""
        self._write()
        self._writer.close()
        self._output.flush()


class KeptReader:
    """Read the values of documents from the files of all parts."""

    def __init__(self, paths: Sequence[str]) -> None:
        """Begin with the files of all parts, in order."""
        self._paths = paths
        self._averages: dict[int, int] = {}  # how many bytes a document of a part has of values

    def groups(self, items: Sequence[Item]) -> Iterator[tuple[Sequence[Item], list[TableRow]]]:
        """Yield items in their order, with the values of their documents: about as many at a time as make a batch.

        Raises:
            InputError: if a file cannot be read, or is damaged.
        """
        size = sum(map(self._average, (item.part for item in items)))
        step = -(-len(items) // max(1, -(-size // BYTES_AT_ONCE))) or 1
        for start in range(0, len(items), step):
            group = items[start : start + step]
            yield group, self._rows(group)

    def _average(self, part: int) -> int:
        if part not in self._averages:
            with _table(self._paths[part]) as table:
                self._averages[part] = table.nbytes // max(1, table.num_rows)
        return self._averages[part]

    def _rows(self, items: Sequence[Item]) -> list[TableRow]:
        arrow = _pyarrow()
        of_part: dict[int, list[int]] = {}
        for place, item in enumerate(items):
            of_part.setdefault(item.part, []).append(place)
        tables, order = [], list[int]()
        for part, places in of_part.items():
            with _table(self._paths[part]) as table:
                tables.append(table.take(arrow.array([items[place].kept for place in places], arrow.int64())))
            order += places
        whole = arrow.concat_tables(tables)
        columns = [arrow.concat_arrays(whole.column(at).chunks) for at in range(whole.num_columns)]
        found: dict[int, TableRow] = {place: TableRow(columns, row) for row, place in enumerate(order)}
        return [found[place] for place in range(len(items))]


@contextmanager
def _table(path: str) -> Iterator[Any]:
    """Map a file of values into memory, as an Arrow table."""
    arrow = _pyarrow()
    try:
        with arrow.memory_map(path) as file:
            yield arrow.ipc.open_file(file).read_all()
    except OSError as error:
        raise cannot_read(path, error) from error
    except arrow.ArrowException as error:
        raise InputError(f"{show_path(path)} is damaged", hint="remove it, and run the same command again") from error
