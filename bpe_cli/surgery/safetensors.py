"""Read where a safetensors file has its tensors: eight bytes of length, a JSON header, the data.

The library of that name holds whole tensors in memory when it writes, and hands NumPy no bfloat16; here rows go from
one file to the other by a memory map. Format: github.com/huggingface/safetensors, "Format".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bpe_cli.errors import FormatError

_LONGEST = 100_000_000
"""The longest header that the library reads, in bytes."""


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file.

    Attributes:
        dtype: Its type, as the format names it.
        shape: Its shape.
        start: Where its data begins, counted from the beginning of all data.
        end: Where it ends.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Header:
    """What a file says of its tensors.

    Attributes:
        tensors: By name, in the order in which their data lies.
        metadata: What else it says.
        data: Where the data begins in the file.
    """

    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str]
    data: int


def read_header(data: memoryview) -> Header:
    """Read the header of a file.

    Raises:
        FormatError: if it is damaged, or data is missing or belongs to no tensor.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(_LONGEST, len(data) - 8):
        raise FormatError("this is no safetensors file: its header is not there")
    try:
        parsed = json.loads(bytes(data[8 : 8 + length]))
        metadata = _metadata(parsed.pop("__metadata__", None))
        tensors = {name: _tensor(entry) for name, entry in parsed.items()}
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise FormatError("the header of the safetensors file is broken") from error
    ordered = dict(sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end)))
    place = 0
    for name, tensor in ordered.items():
        if tensor.start != place:
            raise FormatError(f"the data of the tensor {name!r} is not where that of the one before it ends")
        place = tensor.end
    if place != len(data) - 8 - length:
        raise FormatError("the safetensors file has more or less data than its header says")
    return Header(ordered, metadata, 8 + length)


def _metadata(value: object) -> dict[str, str]:
    """Check what a header says besides its tensors; the library takes null too."""
    metadata = {} if value is None else value
    if not isinstance(metadata, dict) or not all(isinstance(each, str) for each in metadata.values()):
        raise ValueError
    return metadata


def _tensor(entry: Mapping[str, Any]) -> Tensor:
    shape, (start, end) = tuple(entry["shape"]), entry["data_offsets"]
    numbers = (*shape, start, end)
    if not all(type(each) is int and each >= 0 for each in numbers) or start > end or type(entry["dtype"]) is not str:
        raise ValueError
    return Tensor(entry["dtype"], shape, start, end)


def write_header(tensors: Iterable[tuple[str, str, tuple[int, ...], int]], metadata: Mapping[str, str]) -> bytes:
    """Return the first bytes of a file, padded as the library pads them.

    Args:
        tensors: Name, type, shape and number of bytes of each, in the order of their data.
        metadata: What else the file says.
    """
    entries: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    place = 0
    for name, dtype, shape, size in tensors:
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [place, place + size]}
        place += size
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text
