"""Read a field of each line of a JSONL file as a document; distinguish lines of JSON objects from text.

Nobody wants their keys and quotes as text, so text is looked at before it is taken for some, by its bytes alone.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bpe_cli import _core
from bpe_cli.corpus.documents import Packer
from bpe_cli.corpus.json_paths import invalid_json, select
from bpe_cli.corpus.kept import kept_of
from bpe_cli.corpus.rows import ALL_WHOLE, Place, RowFault, Rows
from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import replace

LARGEST_LINE = 1 << 30
"""As many bytes may a line have, which is held whole: a small compressed file can be one of any length."""

_SPACE = b" \t\r\n"


def pack_jsonl(
    chunks: Iterable[bytes], packer: Packer, begin: Callable[[], Place], field: str, rows: Rows = ALL_WHOLE
) -> Iterator[Block]:
    """Make a document of a field of each line; blank lines are skipped.

    Args:
        chunks: The bytes of the file.
        packer: Where the documents go.
        begin: Returns where the first line stands, once it is there; asked for when a line is broken.
        field: The key, or a path as ``a.b`` or ``a.0.b`` (a number is a place in a list). A key of the
            object that is spelt so, with its dots, goes first.
        rows: What becomes of broken lines, and what is kept beside the text.

    Raises:
        InputError: if a line is not JSON, or has no such field, or that is not a string, or it has more than
            ``LARGEST_LINE`` bytes; the message says where, as name:line or name:line:byte, counted from 1.
    """
    texts = _core.JsonTexts(field.encode("utf-8", "surrogatepass"))  # no line has half a character
    one = _OneLine(begin, field, rows)
    number = 0
    passed = 0  # the bytes before what is looked at

    def next_place() -> Place:
        return one.place(number, passed)

    for stretches in _whole_lines(chunks, next_place):
        for data, start, end in stretches:
            place = start
            while place < end:
                if rows.on_kept is None:
                    place, lines = texts.read(data, place, end)
                    number += lines
                    if place == end:
                        break
                stop = data.find(b"\n", place, end)
                line = data[place : end if stop < 0 else stop]
                text = one.text(line, number, passed + place - start)
                if text is not None:
                    texts.add(text)
                place += len(line) + 1
                number += 1
            passed += end - start
        yield from packer.take(texts)


class _OneLine:
    """Read a line by itself: what is wrong with it is known then, and what is kept of it."""

    def __init__(self, begin: Callable[[], Place], field: str, rows: Rows) -> None:
        self._begin = begin
        self._field = field
        self._path = field.split(".")
        self._rows = rows

    def place(self, number: int, passed: int) -> Place:
        """Return where the line stands that has so many lines and bytes before it."""
        first = self._begin()
        count = None if first.line is None else first.line + number
        return replace(first, line=count, offset=(first.offset or 0) + passed)

    def text(self, line: bytes, number: int, passed: int) -> bytes | None:
        """Return the text of a line; None for a blank or a broken one.

        Args:
            line: The line, without its end.
            number: How many lines are before it.
            passed: How many bytes.
        """
        from bpe_cli.support.safe_orjson import look_for_memory, orjson

        whole, rows = line, self._rows
        if not number and line.startswith(BOM_UTF8) and not self._begin().offset:
            line = line[len(BOM_UTF8) :]
        if not line.strip(_SPACE):
            return None
        try:
            look_for_memory(line)
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise invalid_json(line, error) from error
            text = value.get(self._field) if isinstance(value, dict) else None
            if not isinstance(text, str):
                text = select(value, self._field, self._path)
            values = kept_of(value, rows.keep, line) if rows.on_kept is not None else ()
        except RowFault as fault:
            rows.meet(fault, self.place(number, passed), whole)
            return None
        if rows.on_kept is not None:
            rows.on_kept(values)
        return text.encode()


def _whole_lines(chunks: Iterable[bytes], place: Callable[[], Place]) -> Iterator[list[tuple[bytes, int, int]]]:
    """Yield the lines that each chunk completes: bytes, and where in them whole lines begin and end.

    The last line counts without a line end. Only a line that comes in parts is copied.

    Raises:
        InputError: if one is too long; ``place`` returns where the line stands that comes next.
    """
    held: list[bytes] = []  # of a line whose end has not come
    size = 0  # of that
    for chunk in chunks:
        start = chunk.find(b"\n") + 1 if held else 0
        end = chunk.rfind(b"\n") + 1
        if size + (start - 1 if end else len(chunk)) > LARGEST_LINE:
            raise InputError(
                f"{place().shown()}: the line that begins here has more than {LARGEST_LINE:,} bytes",
                hint="a document of that length can be a text file of its own, which is read in blocks",
            )
        if not end:
            held.append(chunk)
            size += len(chunk)
            continue
        line = b"".join((*held, chunk[:start]))
        held = [chunk[end:]] if end < len(chunk) else []
        size = len(chunk) - end
        yield [(line, 0, len(line)), (chunk, start, end)]
    rest = b"".join(held)
    yield [(rest, 0, len(rest))]


MOST_LINES = 8
"""As many lines that are objects are proof enough."""

ENOUGH_BYTES = 8192
"""Two lines that are objects are proof, when they and what follows them have so many bytes."""

MOST_BYTES = 8 << 20
"""After so many bytes nobody looks for the end of a line any more."""

_TEXT_FIELDS = ("text", "content", "body", "raw_content", "document", "article", "message", "code", "sentence")
"""What data sets call the field that holds the text, the most usual first."""

_LONGEST_KEY = 64


class JsonLines:
    r"""Decide whether bytes that arrive in parts are lines of JSON objects: two at least, and nothing else.

    Invariant: the verdict depends on the bytes, never on how they are divided into parts. The first byte that
    is no whitespace decides for nearly all text.

    >>> [are_json_lines(data) for data in (b'{"a": 1}\n{"a": 2}', b'{"a": 1}\n', b"{\n}\n", b"{} is empty\n{}\n")]
    [True, False, False, False]
    """

    def __init__(self) -> None:
        self.verdict: bool | None = None
        """Whether they are; None while nobody can tell."""
        self.objects = 0
        """How many lines turned out to be objects."""
        self.first: dict[str, Any] | None = None
        """The first of them."""
        self.is_json = True
        """Whether nothing was seen that is not an object: one line, say, or the beginning of a very long one."""
        self.bytes_read = 0
        """How many bytes were looked at."""
        self._line = bytearray()  # what came of a line whose end has not come

    def feed(self, data: bytes) -> bool | None:
        """Look at the next bytes; returns the verdict so far."""
        while data and self.verdict is None:
            if not self._line:
                rest = data.lstrip(_SPACE)
                self.bytes_read += len(data) - len(rest)
                data = rest
            end = data.find(b"\n") + 1
            part = data[:end] if end else data
            self.bytes_read += len(part)
            if self.bytes_read > MOST_BYTES:
                self.verdict = self.objects > 1
                break
            self._line += part
            if end:
                self._end_line()
            elif not self._may_be_object():
                self.verdict = self.is_json = False
            data = data[len(part) :]
        return self.verdict

    def finish(self) -> bool:
        """State that nothing follows; the last line counts without a line end."""
        if self.verdict is None:
            self._end_line()
        if self.verdict is None:
            self.verdict = self.objects > 1
        return self.verdict

    def _may_be_object(self) -> bool:
        head = bytes(self._line[: len(BOM_UTF8) + 1])
        if self._is_at_start:  # a mark may come first, of which a part may still be missing
            head = b"" if BOM_UTF8.startswith(head) else head.removeprefix(BOM_UTF8).lstrip(_SPACE)
        return not head or head.startswith(b"{")

    @property
    def _is_at_start(self) -> bool:
        return self.bytes_read == len(self._line)

    def _end_line(self) -> None:
        line = bytes(self._line)
        line = (line.removeprefix(BOM_UTF8) if self._is_at_start else line).strip(_SPACE)
        self._line.clear()
        value = _object_of(line)
        if value is None:
            if line:
                self.verdict = self.is_json = False
            return
        self.objects += 1
        self.first = value if self.first is None else self.first
        if self.objects >= MOST_LINES or (self.objects > 1 and self.bytes_read >= ENOUGH_BYTES):
            self.verdict = True


def are_json_lines(data: bytes) -> bool:
    """Return whether data is lines of JSON objects."""
    lines = JsonLines()
    lines.feed(data)
    return lines.finish()


def _object_of(line: bytes) -> dict[str, Any] | None:
    """Read a JSON object as leniently as any writer writes it: NaN, long numbers, bytes that are not UTF-8."""
    if not line.startswith(b"{"):
        return None
    import json

    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_int=float)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_field(row: dict[str, Any]) -> str | None:
    """Find the field of an object that looks like the text, as --field takes it; None if none does.

    >>> text_field({"id": "7", "body": "text"}), text_field({"id": "7", "meta": {"x": "a b"}}), text_field({"id": "7"})
    ('body', 'meta.x', None)
    """
    strings = {field: value for field, value in _fields(row, "") if isinstance(value, str)}
    named = (field for name in _TEXT_FIELDS for field in strings if field.rpartition(".")[2] == name)
    usual = min(named, key=lambda field: field.count("."), default=None)
    prose = (field for field, value in strings.items() if " " in value or not value.isascii())
    return usual or max(prose, key=lambda field: len(strings[field]), default=None)


def _fields(row: dict[str, Any], before: str, depth: int = 0) -> list[tuple[str, Any]]:
    """List the fields of an object whose names can be typed, those of objects in it after its own."""
    own = [(key, value) for key, value in row.items() if 0 < len(key) <= _LONGEST_KEY and key.isprintable()]
    plain = [(before + key, value) for key, value in own if not before or "." not in key]
    inside = [(key, value) for key, value in own if isinstance(value, dict) and "." not in key and depth < 3]
    return plain + [field for key, value in inside for field in _fields(value, f"{before}{key}.", depth + 1)]
