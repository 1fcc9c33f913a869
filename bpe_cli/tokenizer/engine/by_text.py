"""Text whose way depends on it: what the normalizer leaves as it is goes the short way, the rest through all stages."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from bpe_cli import _core
from bpe_cli.support.blocks import Block


def parts(block: Block, stages: _core.Stages, matcher: _core.SpecialMatcher | None) -> Iterator[tuple[Block, bool]]:
    """Take a block apart, and say of each part whether the normalizer leaves it as it is.

    A part is ``unfinished`` if its last document goes on in the next one.

    Args:
        block: The documents.
        stages: The stages before the model.
        matcher: What is looked for in the documents, which are cut outside of it.
    """
    data = memoryview(block.data)
    begin = taken = 0
    continued = block.continued
    for end, leaves in zip(*_core.parts_by_stages(stages, block.data, block.ends, matcher), strict=True):
        after = bisect_right(block.ends, end, taken)
        ends = array("Q", (each - begin for each in block.ends[taken:after]))
        unfinished = not ends or ends[-1] < end - begin
        if unfinished:
            ends.append(end - begin)
        yield Block(data[begin:end], ends, continued, unfinished), leaves
        begin, taken, continued = end, after, unfinished


def joined(encoded: Iterable[tuple[Block, tuple[memoryview, memoryview]]]) -> tuple[memoryview, memoryview]:
    """Join what parts were encoded to, ids and their ends, to that of the whole."""
    ids, ends = array("I"), array("Q")
    for part, (part_ids, part_ends) in encoded:
        before = len(ids)
        ids.frombytes(part_ids.cast("B"))
        stops = part_ends.tolist()
        ends.extend(before + stop for stop in (stops[:-1] if part.unfinished else stops))
    return memoryview(ids), memoryview(ends)


def added(counted: Iterable[tuple[Block, memoryview]]) -> memoryview:
    """Join the tokens that the documents of parts have, each a number, to those of the whole."""
    counts, waiting = array("Q"), 0
    for part, part_counts in counted:
        numbers = part_counts.tolist()
        numbers[0] += waiting
        waiting = numbers.pop() if part.unfinished else 0
        counts.extend(numbers)
    return memoryview(counts)
