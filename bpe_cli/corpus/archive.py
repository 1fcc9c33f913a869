"""Take the members of a tar archive with a certain ending as documents, in their order, as WebDataset has them.

An archive is read as a stream, from its beginning to its end: nothing is written to disk, links are not followed, and
no length that an archive states is believed before the bytes are there. What is understood are the formats of POSIX
(ustar, pax) and GNU tar. An archive that is damaged, or ends without the empty block that ends archives, is an error as
a whole: after a damaged header nobody knows where the next member begins.

Python's own module reads the extended headers of a hostile archive into memory whole, one inside the other, and takes
an archive that ends too early for one that ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bpe_cli.corpus.documents import Packer, limited
from bpe_cli.corpus.json_paths import invalid_json, select
from bpe_cli.corpus.kept import kept_of
from bpe_cli.corpus.kinds import COMPRESSED_NAMES, JSONL, is_json, kind_of_name
from bpe_cli.corpus.rows import ALL_WHOLE, Place, RowFault, Rows
from bpe_cli.errors import InputError, UsageError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import listed, show_path

LARGEST_JSON = 1 << 28
"""As many bytes may a member have that is a JSON object; one that is text may have any number."""

LARGEST_EXTENSION = 1 << 20
"""As many bytes may extended headers have, which hold a long name."""

_BLOCK = 512
_PLAIN = (b"\0", b"0", b"7")
_NO_DATA = {b"1": "a hard link", b"2": "a link", b"3": "a device", b"4": "a device", b"5": "a folder", b"6": "a pipe"}
_SPARSE = b"S"
_SPARSE_RECORDS = b"GNU.sparse."


def check_ending(ending: str) -> None:
    """Check that members that end so are read.

    Raises:
        UsageError: if they are JSON lines, or compressed.
    """
    hint = "unpack it, as in: tar -xf FILE"
    if kind_of_name(f"x.{ending}") == JSONL:
        raise UsageError("JSON lines in an archive are not read", hint=hint)
    if f".{ending}".endswith(COMPRESSED_NAMES):
        raise UsageError(f"compressed members of an archive are not read, such as those in .{ending}", hint=hint)


def pack_archive(
    chunks: Iterable[bytes], packer: Packer, begin: Place, ending: str, field: str | None, rows: Rows = ALL_WHOLE
) -> Iterator[Block]:
    """Make a document of each member with an ending; those whose names begin with a dot are left out.

    Args:
        chunks: The bytes of the archive.
        packer: Where the documents go.
        begin: Where they begin.
        ending: How the names of members end, without a dot. ``json``, and what ends in ``.json``, means JSON values
            with the text in a field, if one is named; other members are documents, byte for byte.
        field: The field of JSON; None if JSON itself is the document, as a conversation is.
        rows: What becomes of broken members, and what is kept beside the text.

    Raises:
        InputError: if the archive is damaged, a member is broken, or there are members but none with the ending.
    """
    stream = _Stream(chunks, begin)
    others: dict[str, None] = {}
    count, is_empty, field = 0, True, field if is_json(ending) else None
    for member in _members(stream):
        name = member.name.rpartition("/")[2]
        is_empty = is_empty and member.what is not None
        if not name.lower().endswith(f".{ending}") or name.startswith(".") or member.what == "a folder":
            if member.what is None and "." in name and not name.startswith("."):
                others.setdefault(name[name.rindex(".") :])
            stream.skip(member.size)
            continue
        count += 1
        place = replace(begin, line=None, offset=member.offset, member=show_path(member.name))
        if member.what is not None or (field is not None and member.size > LARGEST_JSON):
            what = member.what or f"larger than {LARGEST_JSON:,} bytes"
            rows.meet(RowFault("member", f"it is {what}" + (", not a plain file" if member.what else "")), place)
            stream.skip(member.size)
        elif field is not None:
            yield from _json(stream.take(member.size), packer, place, field, rows)
        else:
            if rows.on_member is not None:
                rows.on_member(place)
            for chunk in limited(stream.chunks(member.size), packer.block_bytes):
                yield from packer.add((chunk,))
            yield from packer.close()
        stream.skip(0)
    if not count and not is_empty:
        there = f"there is {listed(list(others), separator=', ')}" if others else "no name in it has one"
        raise InputError(
            f"{begin.name} has no member that ends in .{ending}",
            hint=f"`member` names the ending of the texts in it; {there}",
        )


def _json(data: bytes, packer: Packer, place: Place, field: str, rows: Rows) -> Iterator[Block]:
    from bpe_cli.support.safe_orjson import orjson

    try:
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise invalid_json(data, error) from error
        text = select(value, field, field.split("."))
        kept = kept_of(value, rows.keep, data)
    except RowFault as fault:
        rows.meet(fault, place, data)
        return
    if rows.on_kept is not None:
        rows.on_kept(kept)
    yield from packer.document(text.encode())


class _Stream:
    """Take the bytes of an archive piece by piece."""

    def __init__(self, chunks: Iterable[bytes], begin: Place) -> None:
        self._chunks = iter(chunks)
        self._held = memoryview(b"")
        self.place = begin
        self.offset = 0
        """How many bytes were taken."""

    def chunks(self, size: int) -> Iterator[bytes]:
        """Take some bytes, as they come.

        Raises:
            InputError: if the archive ends before.
        """
        while size:
            if not self._held:
                chunk = next(self._chunks, None)
                if chunk is None:
                    raise self.damaged("it ends too early")
                self._held = memoryview(chunk)
                continue
            piece = self._held[:size]
            self._held = self._held[len(piece) :]
            self.offset += len(piece)
            size -= len(piece)
            yield bytes(piece)

    def take(self, size: int) -> bytes:
        """Take some bytes as one."""
        return b"".join(self.chunks(size))

    def skip(self, size: int) -> None:
        """Leave some bytes out, and those that fill the last block up."""
        for _ in self.chunks(size):
            pass
        for _ in self.chunks(-self.offset % _BLOCK):
            pass

    def rest(self) -> Iterator[bytes]:
        """Take what is left."""
        yield bytes(self._held)
        yield from self._chunks

    def damaged(self, why: str) -> InputError:
        """Make the error of an archive that cannot be read on."""
        return InputError(
            f"cannot read {self.place.name}: the tar archive is damaged after {self.offset:,} bytes: {why}"
        )


class _Member(NamedTuple):
    """A member of an archive: its name, its bytes, where its header begins, what it is if it is not a plain file."""

    name: str
    size: int
    offset: int
    what: str | None


def _members(stream: _Stream) -> Iterator[_Member]:
    """Yield the members; whoever takes one takes its bytes, and the stream is at the next header then."""
    everywhere: dict[str, bytes] = {}
    here: dict[str, bytes] = {}
    long_name: bytes | None = None
    while True:
        offset = stream.offset
        header = stream.take(_BLOCK)
        if not header.strip(b"\0"):
            _end(stream)
            return
        size, kind = _size(header, stream), header[156:157]
        if kind in (b"x", b"g", b"L", b"K"):
            if size > LARGEST_EXTENSION:
                raise stream.damaged(f"an extended header has {size:,} bytes")
            data = stream.take(size)
            stream.skip(0)
            if kind == b"L":
                long_name = data.rstrip(b"\0")
            elif kind != b"K":
                (here if kind == b"x" else everywhere).update(_pax(data, stream))
            continue
        said = everywhere | here
        if "size" in said:
            size = _number(said["size"], stream)
        name = said.get("path", long_name if long_name is not None else _name(header))
        here, long_name = {}, None
        what = _NO_DATA.get(kind)
        if what is None and name.endswith(b"/") and kind == b"\0":  # as the oldest archives have it
            what = "a folder"
        if what is not None:
            size = 0
        elif kind == _SPARSE or "sparse" in said:
            what = "a sparse file"
            if kind == _SPARSE:
                _skip_map(header, stream)
        elif kind not in _PLAIN:
            what = f"of the unknown type {kind!r}"
        yield _Member(name.decode("utf-8", "surrogateescape"), size, offset, what)


def _size(header: bytes, stream: _Stream) -> int:
    """Check a header, and return how many bytes follow it."""
    plain = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
    signed = plain - 256 * sum(byte > 127 for byte in header[:148] + header[156:])  # as some old programs counted
    if _octal(header[148:156], stream) not in (plain, signed):
        raise stream.damaged("what follows is not the header of a member")
    digits = header[124:136]
    if digits[0] & 0x80:  # in base 256, for what is larger than 8 GiB
        size = int.from_bytes(bytes([digits[0] & 0x7F]) + digits[1:], "big")
        if digits[0] == 0xFF:
            raise stream.damaged("a member has a negative size")
        return size
    return _octal(digits, stream)


def _octal(digits: bytes, stream: _Stream) -> int:
    text = digits.split(b"\0")[0].strip(b" ")
    if text.translate(None, b"01234567"):
        raise stream.damaged("what follows is not the header of a member")
    return int(text or b"0", 8)


def _number(digits: bytes, stream: _Stream) -> int:
    if not digits.isdigit() or len(digits) > 20:
        raise stream.damaged("an extended header has a size that is not a number")
    return int(digits)


def _name(header: bytes) -> bytes:
    name = header[:100].split(b"\0")[0]
    prefix = header[345:500].split(b"\0")[0] if header[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _pax(data: bytes, stream: _Stream) -> dict[str, bytes]:
    """Read the records of an extended header: the length of each, a blank, a key, ``=``, a value, and a line end.

    Only what somebody asks for is kept: ``path``, ``size``, and ``sparse`` if there is a record of a sparse file. Those
    of a global header hold for all members behind it, however many there are of both.
    """
    records: dict[str, bytes] = {}
    start = 0
    while start < len(data) and data[start]:
        digits, _, _ = data[start : start + 21].partition(b" ")
        end = start + (int(digits) if digits.isdigit() and len(digits) < 20 else 0)
        key, equals, value = data[start + len(digits) + 1 : end - 1].partition(b"=")
        if not equals or end > len(data) or data[end - 1 : end] != b"\n":
            raise stream.damaged("an extended header is not one")
        if key.startswith(_SPARSE_RECORDS):
            records["sparse"] = b""
        elif key in (b"path", b"size"):
            records[key.decode()] = value
        start = end
    return records


def _skip_map(header: bytes, stream: _Stream) -> None:
    """Pass over the further parts of the map of an old GNU sparse file, which are no part of its size."""
    goes_on = header[482]
    while goes_on:
        goes_on = stream.take(_BLOCK)[504]


def _end(stream: _Stream) -> None:
    """Check that nothing follows the end of an archive."""
    for chunk in stream.rest():
        if chunk.strip(b"\0"):
            raise InputError(
                f"{stream.place.name} has data after the end of its archive",
                hint="split concatenated archives into files of their own",
            )
