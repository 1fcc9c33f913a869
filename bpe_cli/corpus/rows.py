"""Rows of which documents are made, one each: what becomes of a broken one, and where in its input a row stands.

A row is a line of JSON, a row of a CSV or TSV file or of a table, or a member of an archive. A row is broken if no
document can be made of it while those after it can still be told apart. What is broken beyond that, as compressed data
that ends too early, is an ``InputError`` in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


FAULTS = ("json", "utf-8", "field", "type", "columns", "quotes", "member", "conversation", "template")
"""The kinds of what can be wrong with a row: no JSON, no UTF-8, no such field, a value of another type (null, too),
another number of columns, text behind a quote, a member of an archive that is not a plain file of a size to be held,
JSON that is no conversation, a conversation that its template does not take, or takes too much time or memory for."""


class RowFault(Exception):
    """A fault in a row, raised where its place in the file is not known yet.

    Attributes:
        kind: One of ``FAULTS``.
        reason: What is wrong.
        hint: The way out, if there is one.
        byte: At which byte of the row, from 0 on; None for the row as a whole.

    >>> str(RowFault("json", "no JSON", byte=3))
    'no JSON'
    """

    def __init__(self, kind: str, reason: str, *, hint: str | None = None, byte: int | None = None) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.hint, self.byte = kind, reason, hint, byte


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in its input.

    Attributes:
        name: What messages call the input.
        path: The input.
        line: The number of its first line, from 1 on; None where lines are not counted.
        offset: The bytes before it in the decompressed input; None in a table.
        row: The number of a row of a table, from 1 on.
        member: The member of an archive, as messages call it.
        counted_from: The byte from which lines are counted, where that is not the first of the input.
    """

    name: str
    path: str
    line: int | None = None
    offset: int | None = None
    row: int | None = None
    member: str | None = None
    counted_from: int | None = None

    def shown(self, byte: int | None = None) -> str:
        """Return the place as ``name:line`` or ``name:line:byte``.

        >>> Place("a", "a", 3, 90).shown(), Place("a", "a", 3, 90).shown(4), Place("a", "a", None, 90).shown(4)
        ('a:3', 'a:3:5', 'a, byte 95')
        >>> Place("a", "a", member="b").shown(), Place("a", "a", member="b").shown(4_000)
        ('a, member b', 'a, member b, byte 4,001')
        >>> Place("a", "a", row=7).shown()
        'a, row 7'
        """
        if self.line is not None:
            return f"{self.name}:{self.line}" + ("" if byte is None else f":{byte + 1}")
        if self.member is not None:
            return f"{self.name}, member {self.member}" + ("" if byte is None else f", byte {byte + 1:,}")
        if self.row is not None:
            return f"{self.name}, row {self.row}"
        return f"{self.name}, byte {(self.offset or 0) + (byte or 0) + 1:,}"


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A row of which no document was made.

    Attributes:
        place: Where it stands.
        kind: What kind of thing is wrong with it: one of ``FAULTS``.
        reason: What is wrong.
        data: Its bytes; None for what has none of its own, as a row of a Parquet file.
    """

    place: Place
    kind: str
    reason: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class KeptField:
    """A field whose values are kept.

    Attributes:
        name: The field of a JSON line, or the column.
        type: The type of the values: one of ``kept.TYPES``, or what Arrow calls that of the column in a table.
        schema: An Arrow schema of that one column, if its type is that of a table.
    """

    name: str
    type: str = "string"
    schema: bytes | None = None

    def arrow_type(self, arrow: Any) -> Any:
        """Return the type as pyarrow's."""
        if self.schema is not None:
            return arrow.ipc.read_schema(arrow.py_buffer(self.schema)).field(0).type
        return {
            "string": arrow.string(), "int64": arrow.int64(), "double": arrow.float64(), "bool": arrow.bool_()
        }[self.type]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableRow:
    """The values that are kept of a row of a table.

    Attributes:
        columns: Arrow arrays.
        row: Which element of each.
    """

    columns: Sequence[Any]
    row: int


@dataclass(frozen=True, slots=True)
class Rows:
    """What is done with rows, beside making documents of the field that holds the text.

    Attributes:
        on_broken: Called with each broken row, which is then left out; None to raise an error.
        keep: The fields whose values are kept.
        on_kept: Called with the values of those fields, once for each document, before the document is there.
        on_member: Called with the place of each member of an archive that is a document as it is, before it is there.
    """

    on_broken: Callable[[BrokenRow], None] | None = None
    keep: tuple[KeptField, ...] = ()
    on_kept: Callable[[Sequence[Any] | TableRow], None] | None = None
    on_member: Callable[[Place], None] | None = None

    def meet(self, fault: RowFault, place: Place, data: bytes | None = None) -> None:
        """Leave a broken row out, or raise.

        Raises:
            InputError: if nobody takes broken rows; the message says where it stands and what is wrong.
        """
        if self.on_broken is None:
            raise InputError(f"{place.shown(fault.byte)}: {fault.reason}", hint=fault.hint) from fault
        self.on_broken(BrokenRow(place, fault.kind, fault.reason, data))


ALL_WHOLE = Rows()
"""Nothing is kept, and a broken row is an error."""
