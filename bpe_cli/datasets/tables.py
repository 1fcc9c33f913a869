"""Read the rows of a part that is a table, with pyarrow.

Arrow files are mapped into memory, and rows point into them. What Parquet holds is compressed: a group of rows is read
at a time and kept until another one is asked for, so that rows in order are read fast, and rows here and there slowly.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bpe_cli.datasets.parts import PartRows, damaged
from bpe_cli.errors import UsageError
from bpe_cli.support.lazy_modules import optional
from bpe_cli.support.messages import cannot_read, show_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bpe_cli.datasets.parts import Layout, Row
    from bpe_cli.jobs.prepare.records import Record

COLUMN = "input_ids"


class _Table(PartRows):
    """The rows of a table, in groups."""

    def __init__(self, layout: Layout, folder: str, record: Record) -> None:
        super().__init__(layout, folder, record)
        self._lock = threading.Lock()
        arrow = optional("pyarrow")
        if arrow is None:
            raise UsageError(f"cannot read {show_path(folder)}: pyarrow is not installed", hint="pip install pyarrow")
        try:
            sizes = self._open(arrow, self.paths[0])
        except OSError as error:
            raise cannot_read(self.paths[0], error) from error
        except (arrow.ArrowException, KeyError) as error:
            raise damaged(self.paths[0]) from error
        self._before = [0, *accumulate(sizes)]
        if self._before[-1] != self.count:
            raise damaged(self.paths[0])

    @abstractmethod
    def _open(self, arrow: Any, path: str) -> list[int]:
        """Open the file; return how many rows each group has."""

    @abstractmethod
    def _group(self, number: int) -> tuple[NDArray[np.int32], Row]:
        """Return where the rows of a group begin and end among its ids, and the ids."""

    def row(self, number: int) -> Row:
        """Return a row."""
        group = bisect_right(self._before, number) - 1
        places, ids = self._group(group)
        at = number - self._before[group]
        return ids[int(places[at]) : int(places[at + 1])]


class ArrowRows(_Table):
    """An Arrow file."""

    def _open(self, arrow: Any, path: str) -> list[int]:
        reader = arrow.ipc.open_file(arrow.memory_map(path))
        self._groups = [_in_column(reader.get_batch(at).column(COLUMN)) for at in range(reader.num_record_batches)]
        return [len(places) - 1 for places, _ in self._groups]

    def _group(self, number: int) -> tuple[NDArray[np.int32], Row]:
        return self._groups[number]


class DatasetsRows(ArrowRows):
    """An Arrow stream."""

    def _open(self, arrow: Any, path: str) -> list[int]:
        reader = arrow.ipc.open_stream(arrow.memory_map(path))
        self._groups = [_in_column(batch.column(COLUMN)) for batch in reader]
        return [len(places) - 1 for places, _ in self._groups]


class ParquetRows(_Table):
    """A Parquet file."""

    def _open(self, arrow: Any, path: str) -> list[int]:
        parquet = optional("pyarrow.parquet")
        if parquet is None:
            raise UsageError(f"cannot read {show_path(path)}: pyarrow lacks Parquet", hint="pip install pyarrow")
        self._file = parquet.ParquetFile(path, memory_map=True)
        self._broken = arrow.ArrowException
        self._held: tuple[int, tuple[NDArray[np.int32], Row]] | None = None
        metadata = self._file.metadata
        return [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]

    def _group(self, number: int) -> tuple[NDArray[np.int32], Row]:
        held = self._held
        if held is None or held[0] != number:
            with self._lock:  # such a file is not read by two at a time
                try:
                    column = self._file.read_row_group(number, columns=[COLUMN]).column(COLUMN)
                except (OSError, KeyError, self._broken) as error:
                    raise damaged(self.paths[0]) from error
                held = self._held = number, _in_column(column.combine_chunks())
        return held[1]


def _in_column(column: Any) -> tuple[NDArray[np.int32], Row]:
    """Return where the lists of a column begin and end among its values, and the values."""
    while hasattr(column, "num_chunks"):  # what combine_chunks gives depends on the version
        column = column.chunk(0)
    return column.offsets.to_numpy(), column.values.to_numpy()


def part_of_rows(layout: Layout, folder: str, record: Record) -> PartRows:
    """Open a part that is a table.

    Raises:
        UsageError: if pyarrow is not installed.
        InputError: if its file cannot be read, or does not hold what the record says.
    """
    return _KINDS[layout.to](layout, folder, record)


_KINDS: dict[str, type[PartRows]] = {"arrow": ArrowRows, "datasets": DatasetsRows, "parquet": ParquetRows}
