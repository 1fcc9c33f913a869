"""Estimate what a data set will have, and how long it takes, from a sample of its inputs.

The statistic: places are drawn, one in each of as many equal stretches of all bytes, and at each some text is encoded:
128 KiB of lines where a plain file is cut at lines, else the first MiB or so of the file that holds the place. The
tokens a byte on disk are the mean of those of the places (Hansen and Hurwitz: files are drawn by their bytes), and the
interval is that in which the truth lies 95 times of 100: Student's t times the standard error of that mean. Places are
drawn by a fixed hash: the same inputs have the same estimate. Of files that are not cut, only beginnings are
known.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from hashlib import blake2b
from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING

from bpe_cli.corpus import Inputs, read_blocks
from bpe_cli.corpus.extents import holds_lines
from bpe_cli.corpus.opening import NO_STDIN
from bpe_cli.corpus.rows import ALL_WHOLE, Rows
from bpe_cli.jobs.documents import with_edges_counted
from bpe_cli.jobs.parts import size_of
from bpe_cli.support.fast_dataclass import dataclass, replace

if TYPE_CHECKING:
    from bpe_cli.corpus import Input, Source
    from bpe_cli.jobs.parts import Part
    from bpe_cli.jobs.prepare.part import PrepareOptions
    from bpe_cli.tokenizer import Tokenizer

PLACES, BEGINNINGS = 32, 12
"""How many places are drawn where files can be cut, and where they cannot."""

_AT_A_PLACE, _OF_A_FILE = 128 << 10, 1 << 20
_BLOCK = 64 << 10
_OVERHEAD = {"npy-offsets": 8, "megatron": 20, "datatrove": 8, "mds": 10, "webdataset": 896, "arrow": 4, "datasets": 4}
"""How many bytes a format has for a row, beside the ids."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A number that was estimated.

    Attributes:
        value: The estimate.
        low: Where the truth lies 95 times of 100, from here ...
        high: ... to here; None if one place says nothing of others. All three are equal if all was counted.
    """

    value: int
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """A part that a data set would have.

    Attributes:
        name: What its files are called, without their endings.
        bytes: How many bytes on disk it is made of.
        tokens: How many ids it would have, estimated.
        inputs: The names of its inputs, with the bytes of it if it is an extent.
    """

    name: str
    bytes: int
    tokens: int
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """What a data set would have.

    Attributes:
        parts: Its parts.
        bytes: How many bytes on disk they are made of.
        sampled: How many of these were encoded for the estimates.
        places: At how many places.
        documents: How many documents there would be.
        tokens: How many ids, with those around documents and those that fill sequences.
        disk: How many bytes the files of the parts would have, without their headers; of Parquet, before it is
            compressed.
        seconds: How long it would take with all processes, if they are as fast as the sample was.
        processes: How many those are.
        free: How many bytes are free where it would lie; None if that is not known.
    """

    parts: tuple[PlannedPart, ...]
    bytes: int
    sampled: int
    places: int
    documents: Interval
    tokens: Interval
    disk: Interval
    seconds: float
    processes: int
    free: int | None


@dataclass(frozen=True, slots=True)
class _Place:
    """What was found at a place: bytes on disk, documents, ids, seconds of the processor; how often it was drawn."""

    bytes: int
    documents: int
    tokens: int
    seconds: float
    times: int = 1


def estimate(
    parts: Sequence[Part],
    source: Source,
    model: Tokenizer,
    options: PrepareOptions,
    *,
    width: int,
    processes: int,
    free: int | None,
) -> Planned:
    """Estimate what a data set would have.

    Args:
        parts: Its parts.
        source: How documents are made of inputs.
        model: The tokenizer.
        options: What would be written.
        width: How many bytes an id has.
        processes: How many processes would work.
        free: How many bytes are free on the disk.

    Raises:
        UsageError: if there is no such token as goes around documents.
        InputError: if an input cannot be read, or holds what cannot be encoded.
    """
    total = sum(part.size for part in parts)
    found = [replace(_encoded(item, source, model, options), times=times) for item, times in _drawn(parts, source)]
    sampled = sum(each.bytes for each in found)
    tokens = _estimated([(each.tokens, each.bytes, each.times) for each in found], total)
    documents = _estimated([(each.documents, each.bytes, each.times) for each in found], total)
    inputs = [item for part in parts for item in part.inputs]
    if source.documents == "whole" and not any(item.kind and item.kind.is_table for item in inputs):
        documents = Interval(len(inputs), len(inputs), len(inputs))
    a_row = _OVERHEAD.get(options.to, 0)
    rows = documents.value if options.length is None or options.way == "truncate" else tokens.value // options.length
    seconds = sum(each.seconds for each in found) * total / sampled if sampled else 0.0
    return Planned(
        tuple(
            PlannedPart(part.name, part.size, part.size * tokens.value // total if total else 0, _names(part))
            for part in parts
        ),
        total,
        sampled,
        len(found),
        documents,
        tokens,
        _scaled(tokens, width, rows * a_row),
        seconds / max(1, min(processes, len(parts))),
        processes,
        free,
    )


def _scaled(tokens: Interval, width: int, more: int) -> Interval:
    """Return the bytes of so many ids, and of what stands beside them."""
    low, high = (None if each is None else each * width + more for each in (tokens.low, tokens.high))
    return Interval(tokens.value * width + more, low, high)


def _names(part: Part) -> tuple[str, ...]:
    return tuple(
        item.name if item.extent is None else f"{item.name}[{item.extent[0]}:{item.extent[1]}]" for item in part.inputs
    )


def _drawn(parts: Sequence[Part], source: Source) -> list[tuple[Input, int]]:
    """Draw places; return what is read there, and how often it was drawn."""
    items = [item for part in parts for item in part.inputs]
    ends = list(accumulate(map(size_of, items)))
    total = ends[-1] if ends else 0
    in_lines = source.documents != "whole"
    count = PLACES if in_lines and any(item.extent is not None for item in items) else BEGINNINGS
    if total <= count * _AT_A_PLACE:
        return [(item, 1) for item in items]
    drawn: list[Input] = []
    for number in range(count):
        within = int.from_bytes(blake2b(b"bpe estimate %d" % number, digest_size=4).digest(), "little") / 2**32
        at = min(int((number + within) / count * total), total - 1)
        which = bisect_right(ends, at)
        item = items[which]
        start, end = item.extent or (0, size_of(item))
        if end - start > _AT_A_PLACE and in_lines and holds_lines(item, decompressed=source.decompress):
            place = min(start + at - (ends[which] - size_of(item)), end - _AT_A_PLACE)
            drawn.append(replace(item, extent=(place, place + _AT_A_PLACE)))
        else:
            drawn.append(item)
    return [(item, drawn.count(item)) for at, item in enumerate(drawn) if item not in drawn[:at]]


def _encoded(item: Input, source: Source, model: Tokenizer, options: PrepareOptions) -> _Place:
    """Encode what is read of an input: all of an extent, or else the beginning.

    A chunk is read from the disk, and then its text comes in many blocks: so a beginning ends where the next chunk is
    read, and is as long as those before it.
    """
    began = time.process_time()
    edges, matcher = options.edges(model), model.matcher(options.specials)
    raw, before, documents, tokens = 0, 0, 0, 0

    def on_bytes(count: int) -> None:
        nonlocal raw, before
        raw, before = raw + count, raw

    is_beginning = size_of(item) > _OF_A_FILE and (item.extent is None or item.extent[1] - item.extent[0] > _AT_A_PLACE)
    size = size_of(item)
    rows = ALL_WHOLE if options.on_error == "fail" else Rows(lambda _: None)
    source = replace(source, block_bytes=_BLOCK)
    blocks = read_blocks(source, stdin=NO_STDIN, inputs=Inputs((item,)), on_bytes=on_bytes, rows=rows)
    for block in model.settle(blocks, matcher, whole_pieces=False):
        if is_beginning and before >= _OF_A_FILE:
            size = before
            break
        documents += block.ended
        counts = with_edges_counted(block, model.count_block(block, matcher), edges)
        tokens += sum(_written(int(each), options) for each in counts)
    return _Place(size, documents, tokens, time.process_time() - began)


def _written(count: int, options: PrepareOptions) -> int:
    """Return how many ids are written of a document of so many."""
    length = options.length
    if length is None or options.way in ("concatenate", "best-fit"):
        return count
    if options.way == "truncate":
        return min(count, length) if options.pad is None or not count else length
    return count if options.pad is None else -(-count // length) * length


def _estimated(places: Sequence[tuple[int, int, int]], total: int) -> Interval:
    """Estimate a total from what was counted at places: the count, the bytes, and how often each was drawn.

    >>> _estimated([(10, 100, 1), (20, 200, 1)], 300), _estimated([(10, 100, 1), (20, 200, 1)], 3000)
    (Interval(value=30, low=30, high=30), Interval(value=300, low=300, high=300))
    >>> _estimated([(10, 100, 1), (12, 100, 1), (11, 100, 1)], 3000)
    Interval(value=330, low=255, high=405)
    """
    count = sum(each for each, _, _ in places)
    if sum(size for _, size, _ in places) >= total:
        return Interval(count, count, count)
    places = [each for each in places if each[1]]  # empty files say nothing of others
    draws = sum(times for _, _, times in places)
    mean = sum(each / size * times for each, size, times in places) / draws
    value = round(mean * total)
    if len(places) < 2:
        return Interval(value, None, None)
    spread = sum((each / size - mean) ** 2 * times for each, size, times in places) / (draws - 1)
    margin = _student(len(places) - 1) * sqrt(spread / len(places)) * total
    return Interval(value, max(0, round(value - margin)), round(value + margin))


def _student(freedom: int) -> float:
    """Return Student's t of 97.5 % for some degrees of freedom.

    >>> [round(_student(freedom), 2) for freedom in (1, 2, 3, 11, 31)]
    [12.71, 4.3, 3.18, 2.2, 2.04]
    """
    if freedom < len(_FEW):
        return _FEW[freedom]
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


_FEW = (0.0, 12.706, 4.303, 3.182, 2.776, 2.571)
"""For the first ones, for which the expansion is too coarse."""
