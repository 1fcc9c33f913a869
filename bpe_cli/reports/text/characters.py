"""Read tokens and texts as characters: how a token is read, what it shares with its neighbours, and what is odd.

A token is read as its vocabulary spells it, but for bytes, which are given as bytes: the visible alphabet of
byte-level vocabularies, and the names ``<0xE4>`` of byte fallback. Marks of words (``▁``, ``##``, ``</w>``) stay, for
they tell one token from another. What is odd about a text is so whatever the tokenizer: its encoding, its whitespace,
what cannot be seen.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.contents import read_named_byte, read_visible
from bpe_cli.stages.components import ByteLevel, ByteLevelNormalizer
from bpe_cli.support.messages import plural

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


def reading_of(tokenizer: Tokenizer) -> Callable[[bytes], bytes]:
    """Return a function that reads an ordinary token.

    >>> from array import array
    >>> from bpe_cli.stages import Unigram
    >>> from bpe_cli.tokenizer import Tokenizer
    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> model = Unigram(Vocabulary.from_tokens([b"<0xE8>"]), array("d", [0.0]), byte_fallback=True)
    >>> reading_of(Tokenizer(model))(b"<0xE8>"), reading_of(Tokenizer(model))(b"ab")
    (b'\\xe8', b'ab')
    """
    if tokenizer.model.byte_level:
        return _as_it_is
    if tokenizer.model.byte_fallback:
        return _fallback
    stages = (*tokenizer.normalizer, *tokenizer.pre_tokenizer)
    if any(isinstance(stage, (ByteLevel, ByteLevelNormalizer)) for stage in stages):
        return read_visible
    return _as_it_is


def _as_it_is(token: bytes) -> bytes:
    return token


def _fallback(token: bytes) -> bytes:
    return read_named_byte(token) or token


def text_of(content: bytes) -> str:
    """Read bytes as characters, what is not UTF-8 each as one."""
    return content.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Write characters as bytes, the inverse of ``text_of``."""
    return text.encode("utf-8", "surrogateescape")


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
        return text_of(b"".join(self.contents))


def split_words(readings: Sequence[bytes], first: int, suffix: str) -> Iterator[SplitGrapheme]:
    """Yield the clusters that tokens share, none of which goes on behind the mark of a word's end.

    Args:
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

    >>> [split.contents for split in split_graphemes([b"ab\xe8", b"\xb0\x81c"])]
    [(b'\xe8', b'\xb0\x81')]
    """
    data = b"".join(contents)
    if data.isascii():
        return
    ends = list(accumulate(map(len, contents)))
    token = 0
    for start, stop in _grapheme_spans(text_of(data)):
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
            position += len(bytes_of(match.group()))
            yield start, position


_SHOWN = 4
"""How many different things a message names."""
_LONGEST = 24
"""Characters of what a message quotes."""


@dataclass(frozen=True, slots=True)
class TextWarning:
    """A property of a text that its author hardly intended.

    Attributes:
        kind: What it is; one of ``warnings.KINDS``.
        message: What is the matter, in a sentence; what is quoted stands in it as it is.
        start: Byte offset of the first place in the text.
    """

    kind: str
    message: str
    hint: str
    start: int
    end: int
    count: int = 1


def excerpt(content: bytes, *, quoted: bool = True) -> str:
    r"""Quote a part of a text, cut when long; bytes that are not UTF-8 are named.

    >>> excerpt(b"ab"), excerpt(b"a" * 30), excerpt(b"\xff")
    ("'ab'", "'aaaaaaaaaaaaaaaaaaaaaaaa…'", "'\\xff'")
    """
    string = content.decode("utf-8", "backslashreplace")
    string = string if len(string) <= _LONGEST else string[:_LONGEST] + "…"
    return f"'{string}'" if quoted else string


def listed(contents: Iterable[bytes] | Counter[bytes]) -> list[str]:
    """Quote the most frequent of many things, or of things that are counted already, with how often each is there.

    >>> listed([b"a", b"b", b"a"])
    ["'a' (2 times)", "'b'"]
    """
    counts = contents if isinstance(contents, Counter) else Counter(contents)
    shown = [
        excerpt(content) + (f" ({times:,} times)" if times > 1 else "") for content, times in counts.most_common(_SHOWN)
    ]
    if len(counts) > _SHOWN:
        shown.append(f"{len(counts) - _SHOWN:,} more")
    return shown


def suspicions(text: bytes, string: str) -> Iterator[TextWarning]:
    """Yield warnings about a text, which is also given as ``string``, decoded with ``surrogateescape``."""
    yield from _not_utf8(text, string)
    yield from _byte_order_mark(text)
    yield from _line_ends(text)
    if not string.isascii():
        yield from _hidden(string)


_STRAY = re.compile("[\udc80-\udcff]")


def _not_utf8(text: bytes, string: str) -> Iterator[TextWarning]:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        start = error.start
        if error.reason == "unexpected end of data":
            yield TextWarning(
                "not-utf-8",
                f"the text ends inside a character, with {text[start:].hex(' ')}",
                "cut texts between characters",
                start,
                len(text),
            )
            return
        stray = len(_STRAY.findall(string))
        what = "byte is" if stray == 1 else "bytes are"
        hint = "if the text is in another encoding, convert it: iconv -f LATIN1 -t UTF-8"
        if text.startswith((b"\xff\xfe", b"\xfe\xff")):
            hint = "it begins as UTF-16 does: iconv -f UTF-16 -t UTF-8"
        message = f"{stray:,} {what} not UTF-8, {'' if stray == 1 else 'first '}0x{text[start]:02x}"
        yield TextWarning("not-utf-8", message, hint, start, start + 1, stray)


def _byte_order_mark(text: bytes) -> Iterator[TextWarning]:
    if text.startswith(BOM_UTF8):
        yield TextWarning(
            "byte-order-mark",
            "the text begins with a byte order mark (U+FEFF), which is encoded with it",
            "leave out its first three bytes: tail -c +4",
            0,
            3,
        )


def _line_ends(text: bytes) -> Iterator[TextWarning]:
    returns = text.count(b"\r")
    if not returns:
        return
    pairs, feeds = text.count(b"\r\n"), text.count(b"\n")
    if returns > pairs:
        message = f"{plural(returns - pairs, 'carriage return')} without a line feed"
        start = re.search(rb"\r(?!\n)", text)
    elif feeds > pairs:
        message = f"{pairs:,} of {feeds:,} lines end with CR LF, the others with LF"
        start = re.search(rb"\r\n", text)
    else:
        message = f"lines end with CR LF ({plural(pairs, 'line')})"
        start = re.search(rb"\r\n", text)
    place = start.start() if start else 0
    hint = "models have mostly seen LF: tr -d '\\r' leaves the others out"
    yield TextWarning("line-ends", message, hint, place, place + 1, returns)


# In French a no-break space stands before some punctuation, and between digits anywhere: that is as it
# should be. So are marks without width between letters of Thai or Khmer, and joiners in Persian or emoji.
_NO_BREAK = re.compile("(?:(?<=[A-Za-z])|^)\u00a0+(?=[A-Za-z(\\[{])", re.MULTILINE)
# Soft hyphens, separators of lines and paragraphs, and overrides of direction are odd anywhere.
_INVISIBLE = re.compile(
    "(?<=[\\x00-\\x7f])[\u200b\u2060\ufeff]|[\u200b\u2060\ufeff](?=[\\x00-\\x7f])|[\u00ad\u2028\u2029\u202d\u202e]"
)


def _hidden(string: str) -> Iterator[TextWarning]:
    if "\u00a0" in string and (matches := _NO_BREAK.findall(string)):
        start = _offset(string, _NO_BREAK)
        yield TextWarning(
            "no-break-space",
            f"{plural(len(matches), 'no-break space')} (U+00A0) where a space is usual",
            "often copied from web pages: replace them, sed 's/\\xc2\\xa0/ /g'",
            start,
            start + 2,
            len(matches),
        )
    matches = _INVISIBLE.findall(string, 1)  # the first character may be a byte order mark
    if matches:
        start = _offset(string, _INVISIBLE, 1)
        names = sorted({f"U+{ord(character):04X}" for character in matches})
        yield TextWarning(
            "invisible",
            f"{plural(len(matches), 'character')} that cannot be seen: {', '.join(names)}",
            "they are tokens all the same: leave them out, unless they are meant",
            start,
            start + len(matches[0].encode()),
            len(matches),
        )


def _offset(string: str, pattern: re.Pattern[str], first: int = 0) -> int:
    match = pattern.search(string, first)
    return len(bytes_of(string[: match.start()])) if match else 0
