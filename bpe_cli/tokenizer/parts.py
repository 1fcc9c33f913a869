"""Parts of a text that hold at most so many tokens each, and never half a character."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from bpe_cli.errors import InputError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import re

    from bpe_cli.tokenizer.encoded import Placed

Break = Literal["token", "line", "sentence", "paragraph"]
"""After what a part ends."""

BREAKS: tuple[Break, ...] = ("token", "line", "sentence", "paragraph")

Side = Literal["left", "right", "both"]
"""At which end of a text is cut."""

_FINER: dict[Break, tuple[Break, ...]] = {
    "token": (),
    "line": ("line", "sentence"),
    "sentence": ("sentence",),
    "paragraph": ("paragraph", "line", "sentence"),
}
"""Where a part ends, the best first; after any token where it has none of them."""

_SPACE = rb"[ \t\r\n\f\v]*"
_MARKS = (rb"[.!?]", rb"\xe2\x80\xa6", rb"\xd8\x9f", rb"\xdb\x94", rb"\xe0\xa5\xa4", rb"\xe0\xa5\xa5", rb"\xd6\x89")
_EXPRESSIONS: dict[Break, bytes] = {
    "line": rb"(?<=\n)(?P<rest>" + _SPACE + rb")",
    "paragraph": rb"(?<=\n)[ \t\r]*\n(?P<rest>" + _SPACE + rb")",
    # A mark that ends a sentence and what closes it; those of Latin, Arabic, Devanagari and Armenian want a blank
    # behind them, and no small letter after that ("e.g. this"); the wide ones of Chinese and Japanese do not. Each run
    # of marks is tried once, from its beginning, and gives back nothing, or a long one would take quadratic time.
    "sentence": (
        b"".join(rb"(?<!" + mark + rb")" for mark in _MARKS) + rb"(?:" + rb"|".join(_MARKS) + rb")++"
        rb"(?:[\"')\]]|\xe2\x80[\x99\x9d]|\xc2\xbb)*+(?P<rest>[ \t\r\n\f\v]++|\Z)(?![a-z])"
        rb"|(?:\xe3\x80\x82|\xef\xbc[\x81\x9f])++(?:\xe3\x80[\x8d\x8f]|\xef\xbc\x89|\xe2\x80[\x99\x9d])*+(?P<wide>"
        + _SPACE
        + rb")"
    ),
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text.

    Attributes:
        text: The part. Bytes that are not UTF-8 become lone surrogates, as with ``surrogateescape``.
        ids: The ids of its tokens.
        start: The offset of its first byte in the whole text.
        end: The offset after its last byte.
    """

    text: str
    ids: list[int]
    start: int
    end: int


def cuts(data: bytes, placed: Placed) -> list[tuple[int, int]]:
    """Return where a text can be cut between tokens without cutting a character: (tokens before, offset in bytes).

    What lies between two tokens and belongs to none, as whitespace may, goes with the first of them.
    """
    from bpe_cli.tokenizer.encoded import well_formed

    count = len(placed)
    text = well_formed(data)
    places = [(0, 0)]
    highest = 0
    for place in range(1, count):
        highest = max(highest, placed.ends[place - 1])
        start = placed.starts[place]
        if start >= highest and (start == len(text) or not 0x80 <= text[start] < 0xC0):
            places.append((place, start))
    if count:
        places.append((count, len(data)))
    return places


@cache
def _pattern(kind: Break) -> re.Pattern[bytes]:
    """Compile what ends a part; not when the module is imported, for most commands cut no text into parts."""
    import re

    return re.compile(_EXPRESSIONS[kind])


def breaks(data: bytes, offsets: Sequence[int], kind: Break) -> list[int]:
    r"""Return the numbers of those places, given by their offsets, that are between two lines, sentences or paragraphs.

    Whitespace between two belongs to both: of the places in it the first is returned.

    >>> breaks(b"One.  Two\nthree.", [0, 3, 4, 5, 6, 9, 10, 16], "sentence")
    [2, 7]
    >>> breaks(b"One.  Two\nthree.", [0, 3, 4, 5, 6, 9, 10, 16], "line")
    [6]
    """
    found: list[int] = []
    for match in _pattern(kind).finditer(data):
        group = "wide" if kind == "sentence" and match["rest"] is None else "rest"
        start, end = match.span(group)
        place = bisect_left(offsets, start)
        if place < len(offsets) and offsets[place] <= end and (not found or found[-1] < place):
            found.append(place)
    return found


def chunks(data: bytes, placed: Placed, max_tokens: int, overlap: int, break_at: Break = "token") -> Iterator[Chunk]:
    """Yield parts of a text of at most so many tokens each; ``Tokenizer.chunks`` says how.

    Raises:
        InputError: if one character alone has more tokens than that.
    """
    places = cuts(data, placed)
    numbers, offsets = [number for number, _ in places], [offset for _, offset in places]
    kinds = [breaks(data, offsets, kind) for kind in _FINER[break_at]]
    first = reached = 0
    while first < len(places) - 1:
        start, offset = places[first]
        last = bisect_right(numbers, start + max_tokens) - 1
        if last == first:
            number, end = places[first + 1]
            shown = data[offset:end].decode("utf-8", "replace")
            raise InputError(
                f"{shown!r} at byte {offset:,} has {number - start} tokens, and a part may have {max_tokens}",
                hint=f"a character is not cut in two: allow parts of {number - start} tokens or more",
            )
        if last < len(places) - 1:
            last = next(filter(None, (_last_between(kind, reached, last) for kind in kinds)), last)
        stop, end = places[last]
        text = data[offset:end].decode("utf-8", "surrogateescape")
        yield Chunk(text, placed.ids[start:stop].tolist(), offset, end)
        if last == len(places) - 1:
            return
        # What is repeated leaves room for what comes next, so that every part goes further.
        repeated = max(stop - overlap, numbers[last + 1] - max_tokens)
        earliest = min(max(first + 1, bisect_left(numbers, repeated)), last)
        first = next(filter(None, (_first_between(kind, earliest, last) for kind in kinds)), earliest)
        reached = last


def _last_between(places: list[int], after: int, last: int) -> int | None:
    """Return the last of some places that is after one and not after another."""
    at = bisect_right(places, last) - 1
    return places[at] if at >= 0 and places[at] > after else None


def _first_between(places: list[int], first: int, before: int) -> int | None:
    """Return the first of some places that is not before one, and before another."""
    at = bisect_left(places, first)
    return places[at] if at < len(places) and places[at] < before else None


def truncated(data: bytes, placed: Placed, max_tokens: int, side: Side, count: Callable[[bytes], int]) -> bytes:
    """Return the longest part of a text that has at most so many tokens, also when it is encoded alone.

    Args:
        data: The text.
        placed: Its tokens.
        max_tokens: The most tokens.
        side: The end at which is cut; with ``both``, what is in the middle stays.
        count: Counts the tokens of a text.
    """
    total = len(placed)
    if total <= max_tokens:
        return data
    places = cuts(data, placed)
    numbers = [number for number, _ in places]
    first, last = 0, len(places) - 1
    if side == "right":
        last = bisect_right(numbers, max_tokens) - 1
    elif side == "left":
        first = bisect_left(numbers, total - max_tokens)
    else:
        first = bisect_left(numbers, (total - max_tokens) // 2)
        last = max(first, bisect_right(numbers, numbers[first] + max_tokens) - 1)
    while first < last:
        part = data[places[first][1] : places[last][1]]
        if count(part) <= max_tokens:
            return part
        if side == "left":
            first += 1
        else:
            last -= 1
    return b""
