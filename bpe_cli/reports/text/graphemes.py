"""Find the grapheme clusters (what a reader takes for one character) that lie in several tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class SplitGrapheme:
    """A grapheme cluster (what a reader takes for one character) that lies in several tokens.

    Attributes:
        first: Number of the first of its tokens.
        offset: Where in that token's reading it begins.
        contents: The bytes that each of the tokens has of it.
    """

    first: int
    offset: int
    contents: tuple[bytes, ...]

    @property
    def text(self) -> str:
        """The grapheme cluster."""
        return _decode(b"".join(self.contents))


def split_words(readings: Sequence[bytes], first: int, suffix: str) -> Iterator[SplitGrapheme]:
    """Yield the clusters that tokens share, none of which goes on behind the mark of a word's end.

    Args:
        readings: What the tokens read as.
        first: Number of the first token.
        suffix: What a token ends with at the end of a word; empty for no such mark.
    """
    if not suffix:
        yield from split_graphemes(readings, first)
        return
    mark, begin = suffix.encode(), 0
    for number, reading in enumerate(readings, start=1):
        if reading.endswith(mark) or number == len(readings):
            yield from split_graphemes(readings[begin:number], first + begin)
            begin = number


def split_graphemes(contents: Sequence[bytes], first: int = 0) -> Iterator[SplitGrapheme]:
    r"""Yield the grapheme clusters that neighbouring tokens share.

    A carriage return and the line feed after it count as two, for they are shown as two.

    Args:
        contents: The tokens' bytes.
        first: Number of the first token.

    >>> [split.contents for split in split_graphemes([b"ab\xe8", b"\xb0\x81c"])]
    [(b'\xe8', b'\xb0\x81')]
    """
    data = b"".join(contents)
    if data.isascii():
        return
    ends = list(accumulate(map(len, contents)))
    token = 0
    for start, stop in _grapheme_spans(_decode(data)):
        while ends[token] <= start:
            token += 1
        if ends[token] >= stop:
            continue
        begin, position, shares = token, start, []
        while True:
            end = min(ends[token], stop)
            shares.append(data[position:end])
            position = end
            if position == stop:
                break
            token += 1
        yield SplitGrapheme(first + begin, start - (ends[begin - 1] if begin else 0), tuple(shares))


def _grapheme_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the byte spans of grapheme clusters, those of one ASCII character among others left out."""
    import regex  # imported here: it costs 20 ms

    # Between two ASCII characters there is always a boundary (CR LF apart, which is cut on purpose), so
    # only what stands beside other characters must be looked at.
    cluster = regex.compile(r"\r|\X")
    position = done = 0
    for stretch in regex.finditer(r"[\x00-\x7f]?(?:[^\x00-\x7f]++[\x00-\x7f]?+)++", text):
        position += stretch.start() - done
        done = stretch.end()
        for match in cluster.finditer(stretch.group()):
            start = position
            position += len(match.group().encode("utf-8", "surrogateescape"))
            yield start, position


def _decode(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
