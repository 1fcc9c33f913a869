r"""Take a column of a CSV or TSV file as documents, a row each, by RFC 4180.

The first row has the names of the columns. A field may stand in quotes, and then holds delimiters, line ends, and
quotes, each written twice. A row ends with LF or CR LF; blank lines are no rows. A quote inside a field that does not
begin with one is a character like any other.

Python's own module, to which the tests hold this one, has a limit on the length of a field that counts for the whole
process, takes text in place of bytes, does not say where a row begins, and reads on over what stands behind a quote.

Which rows are broken does not depend on how the bytes arrive. One whose quote is never closed takes the rest of the
file with it, so that this is an error in any case.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.kept import csv_value
from bpe_cli.corpus.kinds import CSV, TSV
from bpe_cli.corpus.rows import ALL_WHOLE, Place, RowFault, Rows
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import replace

DELIMITERS = {CSV: b",", TSV: b"\t"}

LARGEST_ROW = 1 << 28
"""More bytes than a row has, unless a quote is not closed."""

_AT_ONCE = 1 << 16
"""So many bytes, or rows, are made into documents together."""

_QUOTE = ord('"')
_QUOTED = re.compile(rb'"((?:[^"]++|"")*+)"')
_UNQUOTED = {b",": re.compile(rb"[^,\n]*+"), b"\t": re.compile(rb"[^\t\n]*+")}


def pack_delimited(
    chunks: Iterable[bytes], packer: Packer, begin: Place, delimiter: bytes, field: str, rows: Rows = ALL_WHOLE
) -> Iterator[Block]:
    """Make a document of a column of each row.

    Args:
        chunks: The bytes of the file.
        packer: Where the documents go.
        begin: Where they begin.
        delimiter: What stands between fields: a comma or a tab.
        field: The name of the column.
        rows: What becomes of broken rows, and what is kept beside the text.

    Raises:
        InputError: if there is no such column, a row is broken, or a quote is not closed.
    """
    column, width = -1, 0
    texts: list[bytes] = []
    size = 0
    keep: tuple[int, ...] = ()
    for row in rows_of(chunks, begin, delimiter):
        fault = row.fault
        if not width and fault is None:
            names = [each.decode("utf-8", "surrogateescape") for each in row.fields]
            column, width = _place_of(field, names, replace(begin, line=row.line)), len(names)
            keep = tuple(_place_of(each.name, names, replace(begin, line=row.line)) for each in rows.keep)
            continue
        if not width and fault is not None:  # without the names of the columns no row can be read
            raise InputError(f"{replace(begin, line=row.line).shown()}: {fault.reason}")
        if fault is None and len(row.fields) != width:
            fault = RowFault("columns", f"the row has {_count(len(row.fields))}, and the first row {width}")
        values: list[Any] = []
        if fault is None and keep:
            try:
                values = [csv_value(each, row.fields[place]) for each, place in zip(rows.keep, keep, strict=True)]
            except RowFault as error:
                fault = error
        if fault is not None:
            rows.meet(fault, replace(begin, line=row.line, offset=row.offset), row.data())
            continue
        if rows.on_kept is not None:
            rows.on_kept(values)
        texts.append(row.fields[column])
        size += len(texts[-1])
        if size >= _AT_ONCE or len(texts) >= _AT_ONCE:
            yield from _packed(texts, size, packer)
            texts, size = [], 0
    yield from _packed(texts, size, packer)


def _packed(texts: list[bytes], size: int, packer: Packer) -> Iterator[Block]:
    """Make documents of texts: together, as far as a block holds them."""
    if size <= packer.block_bytes:
        yield from packer.add((*texts, b""))
    else:
        for text in texts:
            yield from packer.document(text)


def _count(columns: int) -> str:
    return f"{columns} column" if columns == 1 else f"{columns} columns"


def _place_of(name: str, names: list[str], place: Place) -> int:
    """Find a column by its name."""
    if names.count(name) == 1:
        return names.index(name)
    if name in names:
        raise InputError(f"{place.shown()}: several columns are called {name!r}")
    listed = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    is_utf8 = not any("\udc80" <= letter <= "\udcff" for each in names for letter in each)
    encoding = "" if is_utf8 else "the first row is not UTF-8: if the file is UTF-16 or the like, write it anew; "
    raise InputError(
        f"{place.shown()}: there is no column {name!r}",
        hint=f"{encoding}the first row has the names of the columns: {listed}; `field` names that of the text, and "
        "`plain` takes the file as it is",
    )


class Row(NamedTuple):
    """A row of a CSV file.

    Attributes:
        line: The number of its first line.
        offset: The bytes before it.
        fields: The bytes of its fields, without quotes; of a broken row those before the fault.
        fault: What is wrong with it, if something is.
        buffer: Bytes among which it lies.
        start: Where it begins there.
        end: Where it ends there, with its line end.
    """

    line: int
    offset: int
    fields: list[bytes]
    fault: RowFault | None
    buffer: bytes
    start: int
    end: int

    def data(self) -> bytes:
        """Return its bytes, without the line end."""
        return self.buffer[self.start : self.end].removesuffix(b"\n").removesuffix(b"\r")


def rows_of(chunks: Iterable[bytes], begin: Place, delimiter: bytes) -> Iterator[Row]:
    r"""Divide the bytes of a CSV file into rows.

    >>> place = Place("x", "x", 1, 0)
    >>> [(row.line, row.fields) for row in rows_of([b'a,"b ""c""\n"\n', b"d,"], place, b",")]
    [(1, [b'a', b'b "c"\n']), (3, [b'd', b''])]

    Raises:
        InputError: if a quote is not closed, or a row has more than ``LARGEST_ROW`` bytes.
    """
    source = iter(chunks)
    data, final = _more(b"", source, len(BOM_UTF8))
    start = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    line, before = begin.line or 1, begin.offset or 0  # of the row; of the buffer
    while start < len(data) or not final:
        scanned = _scan(data, start, final, delimiter)
        if scanned is None:
            if final or len(data) - start > LARGEST_ROW:
                raise _endless(replace(begin, line=line), closed=not final)
            before += start
            data, final = _more(data[start:], source, 2 * (len(data) - start))
            start = 0
            continue
        end, fields, fault = scanned
        if len(fields) > 1 or fields[0] or data[start] == _QUOTE or fault is not None:
            yield Row(line, before + start, fields, fault, data, start, end)
        line += data.count(b"\n", start, end)
        start = end


def _more(held: bytes, source: Iterator[bytes], size: int) -> tuple[bytes, bool]:
    """Read on until there are so many bytes, so that long rows are not read anew for each chunk; or to the end."""
    parts, length = [held], len(held)
    for chunk in source:
        parts.append(chunk)
        length += len(chunk)
        if length >= size:
            return b"".join(parts), False
    return b"".join(parts), True


def _endless(place: Place, *, closed: bool) -> InputError:
    if closed:
        return InputError(
            f"{place.shown()}: the row that begins here has more than {LARGEST_ROW:,} bytes",
            hint="is a quote in it not closed?",
        )
    return InputError(
        f"{place.shown()}: the row that begins here has a quote that is not closed",
        hint="a field that begins with a quote ends with one, and each quote inside is written twice",
    )


def _scan(data: bytes, start: int, final: bool, delimiter: bytes) -> tuple[int, list[bytes], RowFault | None] | None:
    """Read the row that begins at ``start``: where the next one does, its fields, and what is wrong with it.

    None if its end is not there; where nothing follows (``final``), since a quote is not closed.
    """
    end = data.find(b"\n", start)
    if end >= 0 or final:
        line = data[start:end] if end >= 0 else data[start:]
        if b'"' not in line:
            return end + 1 or len(data), line.removesuffix(b"\r").split(delimiter), None
    fields: list[bytes] = []
    unquoted = _UNQUOTED[delimiter]
    place = start
    while True:
        quoted = place < len(data) and data[place] == _QUOTE
        found = (_QUOTED if quoted else unquoted).match(data, place)
        if found is None:
            return None
        end = found.end()
        if end == len(data) and not final:
            return None  # more of the field may follow, or another quote
        text = found[1].replace(b'""', b'"') if quoted else found[0]
        if data.startswith(delimiter, end):
            fields.append(text)
            place = end + 1
            continue
        fields.append(text if quoted else text.removesuffix(b"\r"))
        after = data[end : end + 2]
        if after in (b"\r", b"") and not final:
            return None
        if after[:1] in (b"\n", b""):
            return min(end + 1, len(data)), fields, None
        if after in (b"\r\n", b"\r"):
            return end + len(after), fields, None
        end = data.find(b"\n", end)
        if end < 0 and not final:
            return None
        return end + 1 or len(data), fields, RowFault("quotes", "there is text after the quote that ends a field")
