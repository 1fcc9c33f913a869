"""Write ids as raw little-endian u16 or u32, or as one 1-D NumPy array, and read both back: without NumPy.

The header of an array (format version 1.0) comes first with room to spare, and is written again when the length is
known. The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

Length: two formats of numbers, each with its writer and its reader.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator

from bpe_cli import _core
from bpe_cli.errors import InputError, OutputError, UsageError
from bpe_cli.sinks.base import ANOTHER_RUN, HIGHEST_ID, Batch, Dtype, ReadOptions, Sink, SinkOptions, chunks_of
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal
from bpe_cli.support.messages import plural, quote

if TYPE_CHECKING:
    from typing import IO, Any

    from typing_extensions import Buffer

    from bpe_cli.sinks.atomic import Output
    from bpe_cli.sinks.beside import Beside
    from bpe_cli.support.blocks import Block
    from bpe_cli.tokenizer import Tokenizer


class BinSink(Sink):
    """Write ids as numbers of a fixed width, with an eot after each document if wanted.

    Attributes:
        dtype: How a number lies there.
        byte_count: How many bytes were written.
        divided: How many eots lie inside documents: a text asked for them, a chat template wrote them, or they stand
            around texts beside the last one.
    """

    is_binary = True

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        self.dtype = self.dtype_for(tokenizer, options)
        from bpe_cli.support.hashing import digest

        # Of a pipe nothing is described.
        self._hash = None if output.path is None or output.hashes else digest(options.threads)
        self.byte_count = 0
        self.divided = 0
        self._may_divide = _may_divide(tokenizer, options)
        self._parallel: Beside | None = None  # of the block that is written

    @staticmethod
    def dtype_for(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
        """Choose how a number lies in the file, and check before the work begins that the format can be written.

        Raises:
            UsageError: if an id does not fit, or something that the format needs is not installed.
        """
        return choose_dtype(tokenizer, options)

    @property
    def sha256(self) -> str:
        """The hash of all numbers as they lie in the file; empty for what is not a file, or is hashed anyway."""
        return self._hash.hexdigest() if self._hash is not None else ""

    def write(self, block: Block, ids: memoryview, ends: memoryview, beside: Beside | None = None) -> None:
        """Write the ids of a block's documents, or rows, and flush; ``beside`` is what runs beside them."""
        self._parallel = beside
        super().write(block, ids, ends)

    def _write(self, block: Block, ids: memoryview, ends: memoryview) -> None:
        eot = self.options.edges.eot
        if eot is None and self.dtype == "u32" and sys.byteorder == "little":
            self._write_numbers(ids)  # they lie there as they are to be
            return
        closed = ends[: block.ended]
        if eot is not None:
            self.tokens += len(closed)
            if self._may_divide and (places := places_of(ids, eot)):
                before = self.documents - len(closed)
                self._meet(places, before, ends, eot)
        for numbers in _packed(ids, self.dtype, closed, eot):
            self._write_numbers(numbers)

    def _meet(self, places: list[int], before: int, ends: memoryview, eot: int) -> None:
        """Count the eots inside documents, at these places in the ids of a block.

        Raises:
            InputError: if the eot is an ordinary token: dividing the ids at it would give other documents.
        """
        token = self.tokenizer.special_ids.get(eot)
        if token is not None and token.special:
            self.divided += len(places)
            return
        from bisect import bisect_right

        raise InputError(
            f"document {before + bisect_right(ends, places[0]) + 1:,} holds the token "
            f"{quote(self.tokenizer.token_bytes(eot))} (id {eot}), with which `eot` ends documents",
            hint="name a special token, which text never becomes; `with_special_tokens` adds one",
        )

    def _write_numbers(self, data: Buffer) -> None:
        view = memoryview(data).cast("B")
        self.output.write(view)
        if self._hash is not None:
            self._hash.update(view)
        self.byte_count += len(view)


def _may_divide(tokenizer: Tokenizer, options: SinkOptions) -> bool:
    """Return whether the eot may lie inside documents.

    It does where it stands around texts besides. No text becomes a special token that was not asked for.
    """
    edges = options.edges
    if edges.eot in (*edges.before, *edges.after[:-1]):
        return True
    token = None if edges.eot is None else tokenizer.special_ids.get(edges.eot)
    if token is None or not token.special or options.specials == "all":
        return True
    return any(name.encode("utf-8", "surrogateescape") == token.content for name in options.specials)


def places_of(ids: memoryview, token_id: int) -> list[int]:
    """Find an id among others (u16 or u32); a search in bytes, since it runs over all that is written."""
    width = ids.itemsize
    data, pattern = ids.tobytes(), token_id.to_bytes(width, sys.byteorder)
    places = []
    place = data.find(pattern)
    while place >= 0:
        if place % width == 0:
            places.append(place // width)
        place = data.find(pattern, place + 1)
    return places


def choose_dtype(tokenizer: Tokenizer, options: SinkOptions) -> Dtype:
    """Choose u16 when every id of the tokenizer fits, else u32; check what was chosen already.

    Raises:
        UsageError: if an id does not fit into the requested type, or into u32.
    """
    highest = max(tokenizer.vocab_size - 1, options.edges.eot or 0, options.edges.bos or 0)
    if highest > HIGHEST_ID:
        raise UsageError(f"{highest} cannot be an id")
    if options.dtype == "u16" and highest > 0xFFFF:
        raise UsageError(f"u16 cannot hold the tokenizer's ids, which run to {highest}", hint="use u32")
    return options.dtype or ("u16" if highest <= 0xFFFF else "u32")


def pack(
    ids: memoryview, dtype: Dtype, ends: memoryview | array[int] | None = None, eot: int | None = None, base: int = 0
) -> bytes:
    r"""Pack ids (u32) as little-endian numbers, with an eot behind each of the rows that end at ``ends`` (u64).

    The ends are ``base`` higher than the places in ``ids``.

    >>> pack(memoryview(array("I", [1, 515])), "u16")
    b'\x01\x00\x03\x02'

    Raises:
        OutputError: if an id does not fit into u16.
    """
    try:
        return _core.pack_numbers(ids, array("Q") if ends is None else ends, eot, dtype == "u16", base)
    except ValueError as error:
        raise OutputError(str(error), hint="use u32") from error


_AT_ONCE = 1 << 16
"""So many ids are packed at a time: they are hashed and written while the processor's caches hold them, and memory of
that size is used again and again, where the system would clear fresh pages for more."""


def _packed(ids: memoryview, dtype: Dtype, ends: memoryview, eot: int | None) -> Iterator[bytes]:
    """Pack ids a part at a time; an eot stands with the id before it."""
    if len(ids) <= _AT_ONCE:
        yield pack(ids, dtype, ends, eot)
        return
    from bisect import bisect_right

    before = 0
    for start in range(0, len(ids), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(ids))
        after = bisect_right(ends, stop)
        yield pack(ids[start:stop], dtype, ends[before:after], eot, start)
        before = after


HEADER_BYTES = 128
"""Length of the header: a multiple of 64 with room for any length of array."""

Kind = Literal["u8", "i8", "u16", "u32", "i32", "i64"]
"""The type of the numbers of an array."""

KINDS: dict[str, Kind] = {"uint8": "u8", "int8": "i8", "int32": "i32"}
"""By the name that NumPy has for it."""

_DESCRIPTIONS: dict[Kind, str] = {"u8": "|u1", "i8": "|i1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "i64": "<i8"}


class NpySink(BinSink):
    """Write ids as one array.

    Raises:
        OutputError: if the output is a pipe or the like, whose header could not be completed.
    """

    def __init__(self, output: Output, tokenizer: Tokenizer, options: SinkOptions) -> None:
        super().__init__(output, tokenizer, options)
        if not output.rewritable:
            raise OutputError(
                f"cannot write npy to {output.name}: its header is completed at the end, and this is not a plain file",
                hint='give a file with `output=OUT`, or use `to="bin"`',
            )
        output.reserve_start(header(self.dtype, 0))

    def finish(self) -> None:
        """Complete the header, and flush."""
        self.output.rewrite_start(header(self.dtype, self.tokens))
        super().finish()


def header(kind: Kind, length: int, width: int | None = None) -> bytes:
    """Make the header of an array of ``length`` numbers, or of as many rows of ``width`` numbers.

    >>> header("u16", 3)[10:].decode().rstrip()
    "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }"
    """
    shape = f"({length},)" if width is None else f"({length}, {width})"
    text = f"{{'descr': '{_DESCRIPTIONS[kind]}', 'fortran_order': False, 'shape': {shape}, }}"
    size = HEADER_BYTES - 10
    return b"\x93NUMPY\x01\x00" + size.to_bytes(2, "little") + text.ljust(size - 1).encode() + b"\n"


NPY_MAGIC = b"\x93NUMPY"
"""How .npy files begin."""


@dataclass(frozen=True, slots=True)
class _Number:
    """The layout of a number in a file."""

    width: int
    signed: bool = False
    big_endian: bool = False


def read_bin(stream: IO[bytes], name: str, options: ReadOptions) -> Iterator[Batch]:
    """Read raw little-endian numbers.

    Raises:
        InputError: if their width is not known, or the data ends inside one.
    """
    if options.dtype is None:
        raise InputError(
            f"cannot read {name}: nothing says whether its numbers are u16 or u32",
            hint=f'its sidecar {name}.json says so, or `dtype="u16"`',
        )
    number = _Number(2 if options.dtype == "u16" else 4)
    size = _size_left(stream)
    if size is not None and size % number.width:
        raise InputError(f"{name}: {size:,} bytes are not a whole number of {options.dtype} ids")
    return _documents(_numbers(stream, name, number, None, options.sha256), options, name)


def read_npy(stream: IO[bytes], name: str, options: ReadOptions) -> Iterator[Batch]:
    """Read a 1-D NumPy array of integers (format versions 1 to 3).

    Raises:
        InputError: if the file is not such an array, its data does not have the length that its header says, or a
            number is not an id.
    """
    number, length = _npy_header(stream, name)
    size = _size_left(stream)
    if size is not None and size != length * number.width:
        raise InputError(f"{name}: {length:,} numbers of {number.width} bytes are promised, {size:,} bytes are there")
    return _documents(_numbers(stream, name, number, length, options.sha256), options, name)


def _npy_header(stream: IO[bytes], name: str) -> tuple[_Number, int]:
    """Read the header of an array: how its numbers lie, and how many there are."""
    import ast
    import re
    import warnings

    start = _exactly(stream, 8, name)
    if start[:6] != NPY_MAGIC:
        raise InputError(f"{name}: this is not an .npy file")
    if start[6] not in (1, 2, 3):
        raise InputError(f"{name}: version {start[6]}.{start[7]} of the .npy format is not known")
    length = int.from_bytes(_exactly(stream, 2 if start[6] == 1 else 4, name), "little")
    if length > 1 << 16:
        raise InputError(f"{name}: its header has {length:,} bytes, which no 1-D array needs")
    text = _exactly(stream, length, name)
    header: Any
    try:
        with warnings.catch_warnings(action="ignore"):  # of what stands there by mistake: the message says enough
            header = ast.literal_eval(text.decode("utf-8" if start[6] == 3 else "latin-1").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise InputError(f"{name}: its header is damaged") from error
    shape = header.get("shape") if isinstance(header, dict) else None
    if not isinstance(shape, tuple) or any(type(side) is not int or side < 0 for side in shape):
        raise InputError(f"{name}: its header is damaged")
    if len(shape) != 1:
        raise InputError(f"{name}: the array has {len(shape)} dimensions, ids have 1")
    kind = header.get("descr")
    match = re.fullmatch(r"([<>|])([ui])([1248])", kind) if isinstance(kind, str) else None
    if match is None:
        raise InputError(f"{name}: the array holds {str(kind)[:40]!r}, ids are integers ('<u2', '<u4' and the like)")
    return _Number(int(match[3]), match[2] == "i", match[1] == ">"), shape[0]


def _exactly(stream: IO[bytes], size: int, name: str) -> bytes:
    data = b""
    while len(data) < size and (chunk := stream.read(size - len(data))):
        data += chunk
    if len(data) < size:
        raise InputError(f"{name}: it ends inside its header" if data else f"{name}: it is empty, or ends too early")
    return data


def _numbers(
    stream: IO[bytes], name: str, number: _Number, length: int | None, sha256: str | None
) -> Iterator[array[int]]:
    """Yield numbers to the end of the stream, of which there must be ``length`` (None: any number)."""
    held, place = b"", 0
    digest = None
    if sha256 is not None:
        import hashlib

        digest = hashlib.sha256()
    for chunk in chunks_of(stream):
        if digest is not None:
            digest.update(chunk)
        data = held + chunk if held else chunk
        whole = len(data) // number.width * number.width
        data, held = data[:whole], data[whole:]
        if length is not None and place + whole // number.width > length:
            raise InputError(f"{name}: more follows the {length:,} numbers that its header promises")
        if data:
            yield widen(data, number, place, name)
        place += whole // number.width
    if held:
        counted = plural(place, "whole number")
        raise InputError(f"{name}: it ends inside a number of {number.width} bytes, after {counted}")
    if length is not None and place < length:
        raise InputError(f"{name}: it ends after {place:,} of the {length:,} numbers that its header promises")
    if digest is not None and digest.hexdigest() != sha256:
        raise InputError(f"{name} has other numbers than {name}.json describes", hint=ANOTHER_RUN)


def widen(data: bytes, number: _Number, place: int, name: str) -> array[int]:
    """Turn the bytes of numbers into u32.

    Raises:
        InputError: if a number is negative or too large.
    """
    if not (number.signed or number.big_endian) and sys.byteorder == "little":
        if number.width == 4:
            return array("I", data)
        if number.width == 2:
            wide = array("I")
            wide.frombytes(memoryview(_core.widen_numbers(data)).cast("B"))
            return wide
    code = {1: "B", 2: "H", 4: "I", 8: "Q"}[number.width]
    numbers = array(code.lower() if number.signed else code, data)
    if number.big_endian != (sys.byteorder == "big"):
        numbers.byteswap()
    high = int(sys.byteorder == "little")
    low = 1 - high
    view = memoryview(numbers).cast("B")
    # Strided copies keep the usual widths out of Python's hands; the odd ones go number by number.
    if number.width == 4 and (not number.signed or view[3 * high :: 4].tobytes().isascii()):
        return array("I", view.tobytes())
    if number.width == 2 and not number.signed:
        wide = array("I", bytes(2 * len(data)))
        memoryview(wide).cast("B").cast("H")[low::2] = view.cast("H")
        return wide
    if number.width == 8 and not view.cast("I")[high::2].tobytes().strip(b"\0"):
        return array("I", view.cast("I")[low::2].tobytes())
    try:
        return array("I", numbers)
    except OverflowError:
        at = next(at for at, value in enumerate(numbers) if not 0 <= value <= HIGHEST_ID)
        raise InputError(f"{name}: {numbers[at]} at place {place + at:,} is not a token id") from None


def _documents(batches: Iterable[array[int]], options: ReadOptions, name: str) -> Iterator[Batch]:
    """Cut numbers into documents: at what ends each of them, else before what begins each of them."""
    bos, documents = options.bos, options.documents
    if options.eot is not None or bos is None or documents == 1:
        return _split(batches, options)
    token = None if options.tokenizer is None else options.tokenizer.special_ids.get(bos)
    if documents is None and not (token is not None and token.special):
        return _split(batches, options)  # it may be a part of the text
    return _split_before(batches, bos, documents, name)


def _split_before(batches: Iterable[array[int]], bos: int, documents: int | None, name: str) -> Iterator[Batch]:
    """Cut numbers into documents before each bos, which stays.

    Raises:
        InputError: if there are more than there are documents (None: any number), so that some are inside of documents.
    """
    is_open, begun = False, 0
    for ids in batches:
        start = at = 0
        while True:
            try:
                place = ids.index(bos, at)
            except ValueError:
                break
            if is_open or place > start:
                yield Batch(ids[start:place], True)
            is_open, begun = True, begun + 1
            start, at = place, place + 1
        if start < len(ids):
            yield Batch(ids[start:], False)
            is_open = True
    if is_open:
        yield Batch(array("I"), True)
    if documents is not None and begun > documents:
        raise InputError(
            f"{name} has {plural(documents, 'document')}, and {begun:,} times the id {bos}, which begins each of them",
            hint="move the .json file away: then that id is decoded too, wherever it is",
        )


def _split(batches: Iterable[array[int]], options: ReadOptions) -> Iterator[Batch]:
    """Cut numbers into documents at each eot, which is left out."""
    eot = options.eot
    is_open = eot is None and options.documents != 0
    for ids in batches:
        start = 0
        while eot is not None:
            try:
                end = ids.index(eot, start)
            except ValueError:
                break
            yield Batch(ids[start:end], True, 1)
            start, is_open = end + 1, False
        if start < len(ids):
            yield Batch(ids[start:], False)
            is_open = True
    if is_open:
        yield Batch(array("I"), True)


def _size_left(stream: IO[bytes]) -> int | None:
    """Return how many bytes are left, when that can be known."""
    if not stream.seekable():
        return None
    here = stream.tell()
    size = stream.seek(0, 2) - here
    stream.seek(here)
    return size
