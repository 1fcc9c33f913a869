"""What a row of a data set may have beside its ids: made of the row's length, its mask, and the pieces it is made of.

``attention_mask`` has a 1 for each id, and a 0 for what only fills the row. ``position_ids`` counts the ids of each
document of the row from 0 on, as attention that is kept within documents expects it, and what fills the row is at place
0; or it counts all ids of the row. ``segment_ids`` numbers the documents of the row from 1 on; what fills it is 0.
``seq_lengths`` lists how many ids the row has of each document. ``loss_mask`` has a 1 for each id that the model is to
learn.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_cli.sinks.dataset.documents import Row

if TYPE_CHECKING:
    from bpe_cli.sinks.base import Positions

COLUMNS = ("attention_mask", "position_ids", "segment_ids", "seq_lengths")
"""Those that can be asked for; the mask is there if there is one."""

TYPES = {
    "attention_mask": "int8", "position_ids": "int32", "segment_ids": "int32", "seq_lengths": "int32",
    "loss_mask": "uint8",
}  # fmt: skip
"""The type of the numbers of each."""


class ColumnValues:
    """The values of columns, row after row.

    >>> values = ColumnValues(("position_ids", "seq_lengths"), "document")
    >>> values.add(Row(5, pieces=array("Q", [2, 1])))
    >>> values.add(Row(3))
    >>> values.of("position_ids").tolist(), values.of("seq_lengths").tolist(), values.counts("seq_lengths")
    ([0, 1, 0, 0, 0, 0, 1, 2], [2, 1, 3], [2, 1])
    """

    def __init__(self, columns: Sequence[str], positions: Positions) -> None:
        """Begin without rows; ``positions`` says whether ids are counted in their document or in the row."""
        self.columns = tuple(columns)
        self._by_document = positions == "document"
        self._counts: dict[str, list[int]] = {name: [] for name in self.columns}
        self._values = {name: array("i" if TYPES[name] == "int32" else "b") for name in self.columns}

    def add(self, row: Row) -> None:
        """Take a row."""
        lengths = ([row.length] if row.length else []) if row.pieces is None else row.pieces
        filled = row.length - sum(lengths)
        for name, values in self._values.items():
            before = len(values)
            if name == "attention_mask":
                values.frombytes(b"\1" * (row.length - filled) + bytes(filled))
            elif name == "position_ids" and self._by_document:
                for length in lengths:
                    values.extend(range(length))
                values.frombytes(bytes(4 * filled))
            elif name == "position_ids":
                values.extend(range(row.length))
            elif name == "segment_ids":
                for number, length in enumerate(lengths, 1):
                    values.extend(array("i", [number]) * length)
                values.frombytes(bytes(4 * filled))
            elif name == "seq_lengths":
                values.extend(list(lengths))
            else:
                values.frombytes(bytes(row.length) if row.mask is None else row.mask)
            self._counts[name].append(len(values) - before)

    def of(self, name: str) -> array[int]:
        """Return the values of a column, those of all rows one after the other."""
        return self._values[name]

    def counts(self, name: str) -> list[int]:
        """Return how many values each row has."""
        return self._counts[name]

    def bytes_of(self, name: str) -> bytes:
        """Return the values of a column as they lie in files: little-endian."""
        values = self._values[name]
        if sys.byteorder == "big":
            values = values[:]
            values.byteswap()
        return values.tobytes()
