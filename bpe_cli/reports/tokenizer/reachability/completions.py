"""Complete tokens that hold parts of characters to well-formed text.

A token of a byte-level model may begin within a character and end within another. Whether whole characters
ever become it depends on which: most of them are tokens of their own or are merged elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import TypeVar

Each = TypeVar("Each")

MOST = 4096
"""How many completions of a token are tried at most."""

FIRST = 64
"""How many of them in the first round."""

_CONTINUING = range(0x80, 0xC0)


def is_text(content: bytes) -> bool:
    """Return whether bytes are well-formed UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def completions(token: bytes) -> list[bytes]:
    r"""Return well-formed texts that hold a token, at most ``MOST`` of them, those spread widest first.

    Empty if there is none: a byte of it is in no text, or parts of characters stand in its middle.

    >>> texts = completions(b"\xe8\xb0")
    >>> len(texts), texts[0].decode()
    (64, '谀')
    >>> completions(b"\xff"), completions(b"\x80a\x80")
    ([], [])
    """
    start = 0
    while start < len(token) and token[start] in _CONTINUING:
        start += 1
    if start > 3:
        return []
    if start == len(token):  # nothing but the inside of a character
        return _spread([head + token + tail for head, tail in _around(token)])
    end = len(token)
    for length in (1, 2, 3):
        if length <= len(token) - start and token[-length] >= 0xC0:
            end -= length
            break
    if end < start:
        end = start
    middle, tail = token[start:end], token[end:]
    if not is_text(middle):
        return []
    if is_text(tail):
        middle, tail = middle + tail, b""
    if not middle and not tail:
        return []
    before = _heads(token[:start]) if start else (b"",)
    after = _tails(tail) if tail else (b"",)
    if not before or not after:
        return []
    return [before[head] + token + after[rest] for head, rest in _paired(len(before), len(after))]


@lru_cache(maxsize=64)
def _paired(before: int, after: int) -> Sequence[tuple[int, int]]:
    """Return the numbers of what goes before and of what follows, in an order of ``_spread``."""
    if before == 1 or after == 1:
        return [divmod(number, after) for number in _spread(range(before * after))]
    # Both at once: each goes on at its own pace.
    most = max(before, after)
    pairs = dict.fromkeys(
        (number % before, (number + shift) % after) for shift in range(max(1, MOST // most)) for number in range(most)
    )
    return _spread([*pairs])


def _spread(texts: Sequence[Each]) -> list[Each]:
    """Take at most ``MOST``, in an order in which the first few lie far apart."""
    most = texts[:: -(-len(texts) // MOST)] if texts else []
    step = max(1, len(most) // FIRST)
    return [text for first in range(step) for text in most[first::step]]


@cache
def _characters(lead: int) -> tuple[bytes, ...]:
    """Return the characters that begin with a byte: all of two or three bytes, of four each seventh."""
    if 0xC2 <= lead <= 0xDF:
        first, last = (lead & 0x1F) << 6, ((lead & 0x1F) << 6) + 0x40
    elif 0xE0 <= lead <= 0xEF:
        first, last = max(0x800, (lead & 0xF) << 12), ((lead & 0xF) + 1) << 12
    elif 0xF0 <= lead <= 0xF4:
        first, last = max(0x10000, (lead & 7) << 18), min(0x110000, ((lead & 7) + 1) << 18)
    else:
        return ()
    step = 7 if lead >= 0xF0 else 1
    return tuple(chr(code).encode() for code in range(first, last, step) if not 0xD800 <= code < 0xE000)


@cache
def _tails(beginning: bytes) -> tuple[bytes, ...]:
    """Return what follows the beginning of a character up to its end."""
    length = 2 if beginning[0] < 0xE0 else 3 if beginning[0] < 0xF0 else 4
    missing = length - len(beginning)
    if missing <= 0 or beginning[0] > 0xF4:
        return ()
    if missing == 1:
        return tuple(tail for code in _CONTINUING if is_text(beginning + (tail := bytes([code]))))
    found = (each[len(beginning) :] for each in _characters(beginning[0]) if each.startswith(beginning))
    return tuple(islice(found, MOST * 16))


@cache
def _heads(ending: bytes) -> tuple[bytes, ...]:
    """Return what goes before the end of a character, from its beginning."""
    heads: list[bytes] = []
    for length in (2, 3, 4):
        missing = length - len(ending)
        if missing < 1:
            continue
        leads = (range(0xC2, 0xE0), range(0xE0, 0xF0), range(0xF0, 0xF5))[length - 2]
        if missing == 1:
            candidates = [bytes([lead]) for lead in leads]
        elif missing == 2:
            candidates = [bytes([lead, code]) for lead in leads for code in _CONTINUING]
        else:
            candidates = [bytes([lead, code, 0x80 + (code * 5) % 64]) for lead in leads for code in _CONTINUING]
        heads += [head for head in candidates if is_text(head + ending)]
    return tuple(heads)


def _around(inside: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield what goes before and after bytes from the inside of a character."""
    for head in _heads(inside):
        yield head, b""
    for length in (3, 4):
        missing = length - len(inside)
        if missing < 2:
            continue
        for lead in range(0xE0, 0xF0) if length == 3 else range(0xF0, 0xF5):
            for after in range(1, missing):
                before = missing - after - 1
                for code in _CONTINUING[:: 4 * after]:
                    head = bytes([lead]) + bytes([0x80 + (code * 7) % 64] * before)
                    tail = bytes([code] * after)
                    if is_text(head + inside + tail):
                        yield head, tail
