"""State where the tokens and the pieces of one text lie in it, in columns and without objects; cut it in parts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

from bpe_cli.errors import InputError
from bpe_cli.support.core_arguments import bytes_of
from bpe_cli.support.fast_dataclass import dataclass


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


@dataclass(frozen=True, slots=True)
class PieceSpans:
    """The pieces of a text in order.

    Attributes:
        text: The text as the stages before the model made it.
        starts: Where each piece begins in that.
        ends: Where it ends in that.
        source_starts: Where what it stands for begins in the text as it was given.
        source_ends: Where that ends.
    """

    text: bytes
    starts: Sequence[int]
    ends: Sequence[int]
    source_starts: Sequence[int]
    source_ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.ends)

    def contents(self) -> list[bytes]:
        """Return the bytes of each piece."""
        return [self.text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]


def well_formed(text: bytes) -> bytes:
    r"""Put question marks for the bytes of a text that are not part of well-formed UTF-8.

    Then exactly the bytes inside a character (not its first) look like continuation bytes.

    >>> well_formed(b"a\xffb")
    b'a?b'
    """
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
    return text


class CharacterOffsets:
    """Turn byte spans of a text, ascending but for short steps back, into spans of characters.

    Characters are those of the text as decoded with ``surrogateescape``: a byte that is not part of well-formed UTF-8
    is one of its own. A character that is spread over several spans belongs to each of them.

    >>> offsets = CharacterOffsets("é你!".encode())
    >>> [offsets.span(start, end) for start, end in ((0, 2), (2, 4), (4, 5), (5, 6))], offsets.total()
    ([(0, 1), (1, 2), (1, 2), (2, 3)], 3)
    """

    _CONTINUATION = bytes(range(0x80, 0xC0))

    def __init__(self, text: bytes) -> None:
        self._data = well_formed(text)
        self._ascii = self._data.isascii()
        self._position = self._begun = 0

    def _begun_before(self, offset: int) -> int:
        """Count the characters that begin before an offset."""
        if offset < self._position:  # tokens that stand for one character have the same span
            return self._begun - len(self._data[offset : self._position].translate(None, self._CONTINUATION))
        stretch = self._data[self._position : offset]
        self._begun += len(stretch.translate(None, self._CONTINUATION))
        self._position = offset
        return self._begun

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters that bytes ``start`` to ``end`` are of; without bytes, it is between two characters."""
        if self._ascii:
            return start, end
        begun = self._begun_before(start)
        inside = start < end and 0x80 <= self._data[start] < 0xC0
        return begun - inside, self._begun_before(end)

    def total(self) -> int:
        """Count all characters."""
        return self._begun_before(len(self._data))


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
    text = well_formed(data)
    found = [(0, 0)]
    highest = 0
    for place in range(1, count):
        highest = max(highest, placed.ends[place - 1])
        start = placed.starts[place]
        if start >= highest and (start == len(text) or not 0x80 <= text[start] < 0xC0):
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
