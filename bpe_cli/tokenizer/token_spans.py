"""State where the tokens of one text lie in it, in columns: a few bytes for each token, and no object."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.stages.splitters import segments
from bpe_cli.support.blocks import Block

if TYPE_CHECKING:
    from bpe_cli import _core
    from bpe_cli.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Placed:
    """The tokens of a text in order, one column for each thing to know.

    Attributes:
        ids: Their ids (u32).
        starts: Byte offset in the text of the first byte of each (u64).
        ends: Byte offset after its last byte (u64).
        special: For each one byte: 1 for a special or added token that was found in the text, else 0.
    """

    ids: memoryview
    starts: Sequence[int]
    ends: Sequence[int]
    special: bytes

    def __len__(self) -> int:
        return len(self.ids)


def place(tokenizer: Tokenizer, data: bytes, matcher: _core.SpecialMatcher | None) -> Placed:
    """Encode one text; ``Tokenizer.tokens`` says what spans mean.

    Raises:
        InputError: A byte of the text has no token.

    Complexity: linear; 21 bytes of memory for each token.
    """
    if not tokenizer.has_spans:
        ids, begins, stops = tokenizer.staged_runner.spans(data, matcher)
        return Placed(ids, begins, stops, bytes(map(tokenizer.special_ids.__contains__, ids)))
    ids, _ = tokenizer.encode_block(Block.of([data]), matcher)
    sizes = {token_id: len(tokenizer.token_bytes(token_id)) for token_id in set(ids)}
    joined = array("Q", accumulate(map(sizes.__getitem__, ids)))
    if matcher is None and not tokenizer.prefix_space:
        return Placed(ids, array("Q", [0])[: len(ids)] + joined[:-1], joined, bytes(len(ids)))
    starts, ends, special = array("Q"), array("Q"), bytearray()
    position = spaces = first = 0
    for segment, special_id in segments(data, matcher):
        # A space that is put before a segment is in its first token, and nowhere in the text.
        spaces += special_id is None and tokenizer.prefix_space and not segment.startswith(b" ")
        starts.append(position)
        position += len(segment)
        last = bisect_left(joined, position + spaces, first) + 1
        ends.extend(end - spaces for end in joined[first:last])
        starts.extend(ends[first : last - 1])
        special += bytes([special_id is not None]) * (last - first)
        first = last
    return Placed(ids, starts, ends, bytes(special))
