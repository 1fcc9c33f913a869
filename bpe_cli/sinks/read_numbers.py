"""Read ids back from .npy files and raw numbers, in bounded memory and without NumPy."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.sinks.base import HIGHEST_ID
from bpe_cli.sinks.batches import ANOTHER_RUN, Batch, ReadOptions, chunks_of

NPY_MAGIC = b"\x93NUMPY"
"""How .npy files begin."""


class _Number(NamedTuple):
    """How a number lies in a file."""

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
        raise InputError(f"{name}: {size:,} bytes are no whole number of {options.dtype} ids")
    return _split(_numbers(stream, name, number, None, options.sha256), options.eot)


def read_npy(stream: IO[bytes], name: str, options: ReadOptions) -> Iterator[Batch]:
    """Read a 1-D NumPy array of integers (format versions 1 to 3).

    Raises:
        InputError: if it is no such array, its data has another length than its header says, or a
            number is not an id.
    """
    number, length = _npy_header(stream, name)
    size = _size_left(stream)
    if size is not None and size != length * number.width:
        raise InputError(f"{name}: {length:,} numbers of {number.width} bytes are promised, {size:,} bytes are there")
    return _split(_numbers(stream, name, number, length, options.sha256), options.eot)


def _npy_header(stream: IO[bytes], name: str) -> tuple[_Number, int]:
    """Read the header of an array: how its numbers lie, and how many there are.

    Raises:
        InputError: if it is damaged, or the array is not 1-D or not of integers.
    """
    import ast

    start = _exactly(stream, 8, name)
    if start[:6] != NPY_MAGIC:
        raise InputError(f"{name}: this is no .npy file")
    if start[6] not in (1, 2, 3):
        raise InputError(f"{name}: version {start[6]}.{start[7]} of the .npy format is not known")
    length = int.from_bytes(_exactly(stream, 2 if start[6] == 1 else 4, name), "little")
    if length > 1 << 16:
        raise InputError(f"{name}: its header has {length:,} bytes, which no 1-D array needs")
    text = _exactly(stream, length, name)
    header: Any
    try:
        header = ast.literal_eval(text.decode("utf-8" if start[6] == 3 else "latin-1").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
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
    """Yield numbers to the end of the stream, of which there must be ``length`` (None: any number).

    Raises:
        InputError: if there are more or fewer, or their hash is not ``sha256`` (None: any hash).
    """
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
        raise InputError(f"{name}: it ends inside a number of {number.width} bytes, after {place:,} whole ones")
    if length is not None and place < length:
        raise InputError(f"{name}: it ends after {place:,} of the {length:,} numbers that its header promises")
    if digest is not None and digest.hexdigest() != sha256:
        raise InputError(f"{name} has other numbers than {name}.json describes", hint=ANOTHER_RUN)


def widen(data: bytes, number: _Number, place: int, name: str) -> array[int]:
    """Turn the bytes of numbers into u32.

    Args:
        data: A whole number of numbers.
        number: How they lie.
        place: The place of the first one in the file, for messages.
        name: What messages call the file.

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
    low, high = (0, 1) if sys.byteorder == "little" else (1, 0)
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


def _split(batches: Iterable[array[int]], eot: int | None) -> Iterator[Batch]:
    """Cut numbers into documents at each eot, which is left out."""
    is_open = eot is None
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
