"""Describe what is odd about a text whatever the tokenizer: its encoding, its white space, what cannot be seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bpe_cli.support.messages import plural

_SHOWN = 4
"""How many different things a message names."""
_LONGEST = 24
"""Characters of what a message quotes."""


@dataclass(frozen=True, slots=True)
class TextWarning:
    """Something about a text that its author hardly meant.

    Attributes:
        kind: What it is; one of ``warnings.KINDS``.
        message: What is the matter, in a sentence; what is quoted stands in it as it is.
        hint: How to get out of it.
        start: Byte offset of the first place in the text.
        end: Byte offset after it.
        count: In how many places.
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
    """Yield what is odd about a text, which is also given as ``string``, decoded with ``surrogateescape``."""
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
    if text.startswith(b"\xef\xbb\xbf"):
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
    if "\u00a0" in string and (found := _NO_BREAK.findall(string)):
        start = _offset(string, _NO_BREAK)
        yield TextWarning(
            "no-break-space",
            f"{plural(len(found), 'no-break space')} (U+00A0) where a space is usual",
            "often copied from web pages: replace them, sed 's/\\xc2\\xa0/ /g'",
            start,
            start + 2,
            len(found),
        )
    found = _INVISIBLE.findall(string, 1)  # the first character may be a byte order mark
    if found:
        start = _offset(string, _INVISIBLE, 1)
        names = sorted({f"U+{ord(character):04X}" for character in found})
        yield TextWarning(
            "invisible",
            f"{plural(len(found), 'character')} that cannot be seen: {', '.join(names)}",
            "they are tokens all the same: leave them out, unless they are meant",
            start,
            start + len(found[0].encode()),
            len(found),
        )


def _offset(string: str, pattern: re.Pattern[str], first: int = 0) -> int:
    match = pattern.search(string, first)
    return len(string[: match.start()].encode("utf-8", "surrogateescape")) if match else 0
