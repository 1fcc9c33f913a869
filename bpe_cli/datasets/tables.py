"""Read the rows of a part that is a table, with pyarrow.

Arrow files are mapped into memory, and rows point into them: nowhere else, though a file may be damaged. What Parquet
holds is compressed: a group of rows is read at a time and kept until another one is asked for, so that rows in order
are read fast, and rows here and there slowly.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bpe_cli.datasets.fields import IDS
from bpe_cli.datasets.parts import damaged
from bpe_cli.datasets.samples import Apart
from bpe_cli.errors import UsageError
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bpe_cli.datasets.parts import Layout
    from bpe_cli.jobs.prepare.records import Record

    Column = Any
    """An Arrow array of what is kept; of lists of numbers, where each begins and ends among them, and the numbers."""


class _Table(Apart):
    """The rows of a table, in groups."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self._lock = threading.Lock()
        arrow = optional("pyarrow")
        if arrow is None:
            raise UsageError(f"cannot read {show_path(folder)}: pyarrow is not installed", hint="pip install pyarrow")
        known = () if layout.known is None or layout.known not in layout.columns else (layout.known,)
        self._lists = {IDS, *layout.columns}
        wanted = (IDS, *layout.fields, *known)
        self.names = [name for name in dict.fromkeys(wanted) if name in self._lists or name in layout.kept]
        try:
            sizes = self._open(arrow, self.paths[0])
        except OSError as error:
            raise cannot_read(self.paths[0], error) from error
        except (arrow.ArrowException, KeyError) as error:
            raise damaged(self.paths[0]) from error
        self._before = [0, *accumulate(sizes)]
        if self._before[-1] != self.count:
            raise damaged(self.paths[0])

    @property
    def written(self) -> tuple[str, ...]:
        """What is written of a row beside its ids."""
        return (*self.layout.columns, *self.layout.kept)

    @abstractmethod
    def _open(self, arrow: Any, path: str) -> list[int]:
        """Open the file; return how many rows each group has."""

    @abstractmethod
    def _group(self, number: int) -> dict[str, Column]:
        """Return the columns of a group that are read."""

    def _columns(self, table: Any) -> dict[str, Column]:
        """Take the columns that are read out of a batch, or a table of one."""
        found = {}
        for name in self.names:
            column = table.column(name)
            while hasattr(column, "num_chunks"):  # what combine_chunks gives depends on the version
                column = column.chunk(0)
            column.validate()  # that there is as much as it says
            is_list = name in self._lists
            found[name] = (column.offsets.to_numpy(), column.values.to_numpy()) if is_list else column
        return found

    def column(self, number: int, name: str) -> Any:
        group = bisect_right(self._before, number) - 1
        found, at = self._group(group)[name], number - self._before[group]
        if name not in self._lists:
            return found[at].as_py()
        places, values = found
        return values[int(places[at]) : int(places[at + 1])]


class ArrowRows(_Table):
    """An Arrow file."""

    def _open(self, arrow: Any, path: str) -> list[int]:
        reader = arrow.ipc.open_file(arrow.memory_map(path))
        return self._take(arrow, (reader.get_batch(at) for at in range(reader.num_record_batches)))

    def _take(self, arrow: Any, batches: Iterable[Any]) -> list[int]:
        """Take what is read out of batches; return how many rows each has."""
        self._broken, self._checked = arrow.ArrowException, set[int]()
        sizes, self._groups = [], list[dict[str, Any]]()
        for batch in batches:
            self._groups.append(self._columns(batch))
            sizes.append(batch.num_rows)
        return sizes

    def _group(self, number: int) -> dict[str, Column]:
        group = self._groups[number]
        if number not in self._checked:
            try:
                for name in group.keys() - self._lists:
                    group[name].validate(full=True)  # that no offset leads anywhere else
            except self._broken as error:
                raise damaged(self.paths[0]) from error
            self._checked.add(number)
        return group


class DatasetsRows(ArrowRows):
    """An Arrow stream."""

    def _open(self, arrow: Any, path: str) -> list[int]:
        return self._take(arrow, arrow.ipc.open_stream(arrow.memory_map(path)))


class ParquetRows(_Table):
    """A Parquet file."""

    def _open(self, arrow: Any, path: str) -> list[int]:
        parquet = optional("pyarrow.parquet")
        if parquet is None:
            raise UsageError(f"cannot read {show_path(path)}: pyarrow lacks Parquet", hint="pip install pyarrow")
        self._file = parquet.ParquetFile(path, memory_map=True)
        self._broken = arrow.ArrowException
        self._held: tuple[int, dict[str, Column]] | None = None
        metadata = self._file.metadata
        return [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]

    def _group(self, number: int) -> dict[str, Column]:
        held = self._held
        if held is None or held[0] != number:
            with self._lock:  # such a file is not read by two at a time
                try:
                    table = self._file.read_row_group(number, columns=self.names).combine_chunks()
                    held = self._held = number, self._columns(table)
                except (OSError, KeyError, self._broken) as error:
                    raise damaged(self.paths[0]) from error
        return held[1]


def part_of_rows(layout: Layout, folder: str, record: Record) -> Apart:
    """Open a part that is a table.

    Raises:
        UsageError: if pyarrow is not installed.
        InputError: if its file cannot be read, or does not hold what the record says.
    """
    return _KINDS[layout.to](layout, folder, record)


_KINDS: dict[str, type[_Table]] = {"arrow": ArrowRows, "datasets": DatasetsRows, "parquet": ParquetRows}
