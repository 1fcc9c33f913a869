"""Keep values of other fields of the source beside the ids of each row: ``keep``, for formats that are tables.

The types are settled before the first part is made, so that all parts have the same: the one that is named, else that
of the column in the first input if this is a table, else ``string``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bpe_cli.corpus.kept import TYPES
from bpe_cli.corpus.rows import KeptField, TableRow
from bpe_cli.errors import UsageError
from bpe_cli.sinks.dataset.columns import COLUMNS
from bpe_cli.support.lazy_modules import optional

if TYPE_CHECKING:
    from bpe_cli.corpus import Inputs, Source
    from bpe_cli.sinks.dataset import DataSetFormat

_TAKEN = ("input_ids", *COLUMNS, "loss_mask")

BYTES_AT_ONCE = 64 << 20
"""A batch of rows ends with the one that has this byte of its values."""


def settled(names: Sequence[str], source: Source, inputs: Inputs) -> tuple[KeptField, ...]:
    """Settle the types of fields that are kept, each called ``NAME`` or ``NAME:TYPE``.

    Raises:
        UsageError: if a field is named twice, or not at all, or is a column already, or the inputs have no fields.
        InputError: if the first input is a table that lacks such a column, or cannot be read.
    """
    from bpe_cli.corpus.kinds import ARROW, PARQUET, has_fields

    in_json = source.documents == "jsonl" or source.json
    if names and not in_json and not any(has_fields(item.kind, source.ending) for item in inputs.items):
        raise UsageError(
            "`keep` names fields of JSON or columns of tables, and there are none",
            hint='`documents="jsonl"` reads each line as a JSON object',
        )
    fields: dict[str, KeptField] = {}
    for name in names:
        field, _, kind = name.rpartition(":")
        named = field and kind in TYPES
        kept = KeptField(field, kind) if named else KeptField(name)
        if not kept.name or kept.name in fields:
            wrong = f"names {kept.name!r} twice" if kept.name else "names a field without a name"
            raise UsageError(f"`keep` {wrong}", hint="for example: id,url or id:int64,url:string")
        if kept.name in _TAKEN:
            raise UsageError(f"`keep` names {kept.name}, which a row has already")
        if not named and inputs.items and inputs.items[0].kind in (ARROW, PARQUET):
            from bpe_cli.corpus.columns import field_of

            kept = field_of(inputs.items[0], name)
        fields[kept.name] = kept
    return tuple(fields.values())


def check_kept(names: Sequence[str], to: str, kind: DataSetFormat, way: str | None) -> None:
    """Check that values can be kept in a format, one for each row.

    Raises:
        UsageError: if the format has no columns, or a row is several documents.
    """
    if not names:
        return
    if not kind.is_table:
        raise UsageError(
            f"the format {to} has no columns, in which `keep` puts values", hint="arrow, parquet and datasets have"
        )
    if way in ("concatenate", "best-fit"):
        raise UsageError(
            "`keep` puts one value into each row, and a packed row is several documents",
            hint='`way="split"` or `way="truncate"` makes rows of one document each',
        )


class KeptValues:
    """Values that were kept of documents on their way to the rows of a table.

    Without sequences each document is a row. With them, whoever makes sequences says which document a row is of.

    Attributes:
        fields: The fields, in order.
        nulls: In how many rows the value of each is null.
        held: How many bytes the values have of the rows that were taken, and are no columns yet.
    """

    def __init__(self, fields: Sequence[KeptField], *, in_sequences: bool) -> None:
        """Begin with no documents."""
        self.fields = tuple(fields)
        self.nulls = dict.fromkeys((field.name for field in fields), 0)
        self._documents: deque[Sequence[Any] | TableRow] = deque()
        self._rows = deque[Sequence[Any] | TableRow]() if in_sequences else self._documents
        self._taken: list[Sequence[Any] | TableRow] = []
        self._sizes = _Sizes()
        self.held = 0

    def add(self, values: Sequence[Any] | TableRow) -> None:
        """Take the values of the next document."""
        self._documents.append(values)

    def pass_on(self, other: KeptValues) -> None:
        """Hand the values of the first document on."""
        other.add(self._documents.popleft())

    def begin_row(self) -> None:
        """Note that the next row is of the first document that has not ended."""
        self._rows.append(self._documents[0])

    def end_document(self) -> None:
        """Note that this document has ended."""
        self._documents.popleft()

    def next_row(self) -> Sequence[Any] | TableRow:
        """Return the values of the next row, which is not asked for again."""
        return self._rows.popleft()

    def schema(self, arrow: Any) -> list[tuple[str, Any]]:
        """Return the names of the columns, and their types."""
        return [(field.name, field.arrow_type(arrow)) for field in self.fields]

    @property
    def is_full(self) -> bool:
        """Whether the rows that were taken are to become columns now; it depends on nothing but their values."""
        return self.held >= BYTES_AT_ONCE

    def take_row(self) -> None:
        """Take the next row for ``columns``."""
        self._taken.append(self.next_row())
        self.held += self._sizes.of(self._taken[-1])

    def columns(self, arrow: Any) -> list[Any]:
        """Return the values of the rows that were taken as Arrow arrays."""
        rows, self._taken, self.held = self._taken, [], 0
        columns = [
            arrow.concat_arrays(list(_runs(rows, place, field.arrow_type(arrow), arrow)))
            for place, field in enumerate(self.fields)
        ]
        for field, column in zip(self.fields, columns, strict=True):
            self.nulls[field.name] += column.null_count
        return columns


class _Sizes:
    """How many bytes values have, about: as many on every machine, in whatever blocks they come."""

    def __init__(self) -> None:
        self._columns: Sequence[Any] | None = None
        self._of_rows: list[int] = []  # of those columns

    def of(self, row: Sequence[Any] | TableRow) -> int:
        """Return the size of the values of a row."""
        if not isinstance(row, TableRow):
            return sum(_size_of(value) for value in row)
        if self._columns is not row.columns:
            self._columns = row.columns
            self._of_rows = [*map(sum, zip(*map(_sizes_of, row.columns), strict=True))]
        return self._of_rows[row.row]


def _size_of(value: object) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode())
    return 0 if value is None else 8


def _sizes_of(column: Any) -> list[int]:
    """Return the size of each value of an Arrow array."""
    types, compute = optional("pyarrow.types"), optional("pyarrow.compute")
    if types is None or compute is None:
        raise ValueError("an Arrow array without Arrow")
    tests = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary
    if any(test(column.type) for test in tests):
        return [*compute.fill_null(compute.binary_length(column), 0).to_pylist()]
    try:
        return [-(-column.type.bit_width // 8)] * len(column)
    except ValueError:  # what has other values inside
        return [column.slice(number, 1).nbytes for number in range(len(column))]


def _runs(rows: Sequence[Sequence[Any] | TableRow], place: int, kind: Any, arrow: Any) -> Iterator[Any]:
    """Yield the values of a column, those that come from the same table together."""
    start = 0
    while start < len(rows):
        first, end = rows[start], start + 1
        if isinstance(first, TableRow):
            numbers = [first.row]
            while end < len(rows) and isinstance(row := rows[end], TableRow) and row.columns is first.columns:
                numbers.append(row.row)
                end += 1
            yield first.columns[place].take(arrow.array(numbers, arrow.int64()))
        else:
            values = [first[place]]
            while end < len(rows) and not isinstance(row := rows[end], TableRow):
                values.append(row[place])
                end += 1
            yield arrow.array(values, kind)
        start = end
