"""Where the tokens of one text lie in it, in columns (a few bytes for each token, and no object); parts of texts."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.errors import InputError
from bpe_cli.stages.splitters import segments
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import bytes_of

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

    def character_spans(self, data: bytes) -> tuple[Sequence[int], Sequence[int]]:
        """Return the first character of each token, and the one after its last; the text is given again.

        A character that is spread over several tokens belongs to each of them; a byte that is no UTF-8 counts as one.
        """
        if data.isascii():
            return self.starts, self.ends
        begins = _characters(data)
        ends = array("Q", (bisect_left(begins, end) for end in self.ends))
        starts = array("Q", (bisect_right(begins, start) - 1 for start in self.starts))
        for place, start in enumerate(self.starts):  # what is empty is between two characters
            if start == self.ends[place]:
                starts[place] = ends[place]
        return starts, ends


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


def _characters(data: bytes) -> array[int]:
    """Return the offset of each character of a text."""
    text = data.decode("utf-8", "surrogateescape")
    return array("Q", accumulate(map(_size, text), initial=0))[:-1]


def _size(character: str) -> int:
    """Return the number of bytes of a character; a lone surrogate stands for one."""
    if character < "\x80" or "\udc80" <= character <= "\udcff":
        return 1
    return 2 if character < "\u0800" else 3 if character < "\U00010000" else 4


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text.

    Attributes:
        text: The part; bytes that are no UTF-8 are lone surrogates, as ``surrogateescape`` makes them.
        ids: The ids of its tokens.
        start: Its first byte in the whole text.
        end: The byte after its last one.
    """

    text: str
    ids: list[int]
    start: int
    end: int


def cuts(data: bytes, placed: Placed) -> list[tuple[int, int]]:
    """Return where a text can be cut between tokens without cutting a character: (tokens before, offset in bytes).

    What lies between two tokens and belongs to none, as white space may, goes with the first of them.
    """
    count = len(placed)
    begins = None if data.isascii() else set(_characters(data))
    found = [(0, 0)]
    highest = 0
    for place in range(1, count):
        highest = max(highest, placed.ends[place - 1])
        start = placed.starts[place]
        if start >= highest and (begins is None or start in begins):
            found.append((place, start))
    if count:
        found.append((count, len(data)))
    return found


def chunks(data: bytes, placed: Placed, max_tokens: int, overlap: int) -> Iterator[Chunk]:
    """Yield parts of a text of at most so many tokens each; ``Tokenizer.chunks`` says how.

    Raises:
        InputError: if one character alone has more tokens than that.
    """
    places = cuts(data, placed)
    numbers = [number for number, _ in places]
    first = 0
    while first < len(places) - 1:
        start, offset = places[first]
        last = bisect_right(numbers, start + max_tokens) - 1
        if last == first:
            number, end = places[first + 1]
            shown = data[offset:end].decode("utf-8", "replace")
            raise InputError(
                f"{shown!r} at byte {offset:,} has {number - start} tokens, and a part may have {max_tokens}",
                hint="a character is not cut in two: give a greater max_tokens",
            )
        stop, end = places[last]
        text = data[offset:end].decode("utf-8", "surrogateescape")
        yield Chunk(text, placed.ids[start:stop].tolist(), offset, end)
        if last == len(places) - 1:
            return
        # What is repeated leaves room for what comes next, so that every part goes further.
        repeated = max(stop - overlap, numbers[last + 1] - max_tokens)
        first = min(max(first + 1, bisect_left(numbers, repeated)), last)


class Vocab(Mapping[str, int]):
    """Tokens by their text; bytes are looked up as well."""

    def __init__(self, ids: Mapping[bytes, int]) -> None:
        self._ids = ids

    def __getitem__(self, token: str | bytes) -> int:
        try:
            return self._ids[bytes_of(token, "token")]
        except (TypeError, InputError):
            raise KeyError(token) from None

    def __iter__(self) -> Iterator[str]:
        return (token.decode("utf-8", "surrogateescape") for token in self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return f"<{len(self):,} tokens>"
