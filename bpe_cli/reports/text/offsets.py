"""Count bytes and characters of texts, and find where two texts part.

Characters are those of a text as decoded with ``surrogateescape``: a byte that is not part of well-formed
UTF-8 is a character of its own.
"""

from __future__ import annotations

import re

_STRAY = re.compile("[\udc80-\udcff]")


def well_formed(text: bytes) -> bytes:
    r"""Put question marks for the bytes of a text that are not part of well-formed UTF-8.

    Then exactly the bytes inside a character (not its first) look like continuation bytes.

    >>> well_formed(b"a\xffb")
    b'a?b'
    """
    try:
        text.decode()
    except UnicodeDecodeError:
        return _STRAY.sub("?", text.decode("utf-8", "surrogateescape")).encode()
    return text


class CharacterOffsets:
    """Turn byte spans of a text, ascending but for short steps back, into spans of characters."""

    _CONTINUATION = bytes(range(0x80, 0xC0))

    def __init__(self, text: bytes) -> None:
        self._data = well_formed(text)
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
        """Return the characters that bytes ``start`` to ``end`` are of."""
        begun = self._begun_before(start)
        inside = start < len(self._data) and 0x80 <= self._data[start] < 0xC0
        return begun - inside, self._begun_before(end)

    def total(self) -> int:
        """Count all characters."""
        return self._begun_before(len(self._data))


def first_difference(one: bytes, other: bytes) -> int | None:
    """Return the first offset at which two byte strings differ, or None.

    >>> first_difference(b"abc", b"abd"), first_difference(b"ab", b"abc"), first_difference(b"", b"")
    (2, 2, None)

    Complexity: linear, in comparisons of whole stretches of memory.
    """
    if one == other:
        return None
    same, end = 0, min(len(one), len(other))
    if one[:end] == other[:end]:
        return end
    while end - same > 1:  # Invariant: equal before ``same``, and not before ``end``
        middle = (same + end) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle
    return same
