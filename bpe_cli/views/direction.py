"""Keep what reads from right to left in its place on terminals that apply the bidirectional algorithm.

There (VTE, Konsole, iTerm2 ...) neighbouring Arabic or Hebrew tokens, and the bars between them, would
become one run, whose last token stands leftmost. A LEFT-TO-RIGHT MARK at the border of two tokens ends the
run, so that tokens stand from left to right and the letters inside of each in their own order
(Unicode Standard Annex 9, rules W1 to N2).

Why this mark, and not isolates (FSI ... PDI) around tokens: terminals keep a character without width with
the cell *before* it, so that what opens an isolate is lost at the beginning of a line or bound to another
token; and a mark that is lost does no harm, while half a pair does. It takes no column, there and in
``rich``; a terminal without the algorithm shows nothing of it. It is written to terminals only: a pipe, a
file and a pager get the tokens and nothing else. One that stands in the text itself is shown as <U+200E>.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

MARK = "\u200e"


@lru_cache(maxsize=1)
def _strong() -> regex.Pattern[str]:
    """Compile what finds the last character that has a direction; Arabic numbers make runs as letters do."""
    import regex

    return regex.compile(r"(?r)(?P<right>[\p{bc=R}\p{bc=AL}\p{bc=AN}])|\p{bc=L}")


def direction(unit: str) -> bool | None:
    """Return whether the last letter of what is shown reads from the right; None where there is no letter.

    >>> direction("ש!"), direction("a"), direction("·"), direction("٣")
    (True, False, None, True)
    """
    if unit.isascii():
        return False if any(map(str.isalpha, unit)) else None
    found = _strong().search(unit)
    return None if found is None else found["right"] is not None


class Borders:
    """State where a mark is due, as a line is written from left to right."""

    def __init__(self, *, active: bool) -> None:
        """Begin a line; one that is not ``active`` never asks for a mark."""
        self._active = active
        self._run: bool | None = None  # whether the last letter reads from the right

    def before(self, unit: str) -> str:
        """Return what must stand before the next unit: where a line begins from the right, its direction."""
        if not self._active:
            return ""
        found = direction(unit)
        opens = found is True and self._run is None
        if found is not None:
            self._run = found
        return MARK if opens else ""

    def here(self) -> str:
        """Return what must stand at a border."""
        if not self._run:
            return ""
        self._run = False
        return MARK

    def line(self) -> None:
        """Begin a new line."""
        self._run = None


def bordered(shown: str, *, active: bool) -> str:
    """Write one token so that what stands around it keeps its place.

    >>> bordered("שלום", active=True), bordered("hello", active=True), bordered("שלום", active=False)
    ('\\u200eשלום\\u200e', 'hello', 'שלום')
    """
    borders = Borders(active=active)
    return borders.before(shown) + shown + borders.here()
