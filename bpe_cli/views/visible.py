r"""Write any text so that everything in it is visible, nothing in it moves the cursor, and it keeps its place.

Whitespace gets marks, a byte that is not UTF-8 becomes ``\xff``, and what has no shape of its own
becomes ``<U+200B>``. A combining mark without a character before it is put on a dotted circle. Where one of
these marks is in the text itself, a backslash comes before it (and before each backslash), so that what is shown can be
read back without doubt.

On terminals that apply the bidirectional algorithm (VTE, Konsole, iTerm2 ...) neighbouring Arabic or Hebrew tokens, and
the bars between them, would become one run, whose last token stands leftmost. A LEFT-TO-RIGHT MARK at the border of two
tokens ends the run, so that tokens stand from left to right and the letters inside of each in their own order
(Unicode Standard Annex 9, rules W1 to N2).

Why this mark, and not isolates (FSI ... PDI) around tokens: terminals keep a character without width with
the cell *before* it, so that what opens an isolate is lost at the beginning of a line or bound to another
token; and a mark that is lost does no harm, while half a pair does. It takes no column, there and in
``rich``; a terminal without the algorithm shows nothing of it. It is written to terminals only: a pipe, a
file and a pager get the tokens and nothing else. One that stands in the text itself is shown as <U+200E>.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    import regex


NEWLINE = "⏎"
"""How a line feed is shown; nothing else is shown like that."""

MARKS = {chr(code): chr(0x2400 + code) for code in range(32)} | {
    " ": "·",
    "\n": NEWLINE,
    "\t": "→",
    "\r": "␍",
    "\x7f": "␡",
}
"""What stands for whitespace and control characters."""

BAR = "|"
"""Stands between tokens when there is no colour."""

BRACKETS = "⟨⟩⟦⟧"
"""Around the bytes of a split character, and around a special token."""

CIRCLE = "◌"
"""Carries a combining mark that has no character before it in what is shown."""

_ESCAPED = frozenset(MARKS.values()) | frozenset(BRACKETS) | {CIRCLE, "\\"}

HIDDEN = (
    r"[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]"
    r"--[ \ufe00-\ufe0f]]"
)
"""Matches a character without a shape or width one could rely on: a set for ``regex`` with ``VERSION1``."""

_UNSEEN_MARKS = frozenset(map(chr, range(0xFE00, 0xFE10)))  # variation selectors: on a circle they would be invisible

# More marks than any script puts on one character; without an end they would cover the lines around.
_MOST_COMBINING = 8


@lru_cache(maxsize=1)
def _hidden() -> regex.Pattern[str]:
    """Compile the pattern of characters without a reliable shape or width."""
    import regex  # its tables are the same under every Python, those of unicodedata are not

    return regex.compile(HIDDEN, regex.VERSION1)


@lru_cache(maxsize=1)
def _mark() -> regex.Pattern[str]:
    """Compile the pattern of a combining mark."""
    import regex

    return regex.compile(r"\p{M}")


def needs_circle(character: str) -> bool:
    """Return whether a character is a combining mark that is visible only on another character.

    >>> needs_circle("\u0e31"), needs_circle("e")
    (True, False)
    """
    seen = character not in _UNSEEN_MARKS and cell_len(character) == 0
    return seen and _mark().match(character) is not None


def units(text: str, *, bars: bool = False) -> Iterator[str]:
    r"""Yield what to print for a text, decoded with ``surrogateescape``, in units that no line should break.

    Where bars mean boundaries, one in the text needs a backslash.

    >>> list(units("a b\n"))
    ['a', '·', 'b', '⏎']
    >>> "".join(units("\x1b[31m\u202e \\ ·\udcff"))
    '␛[31m<U+202E>·\\\\·\\·\\xff'
    >>> "".join(units("\u0301 ◌"))
    '◌\u0301·\\◌'
    """
    hidden = _hidden()
    held = ""  # a plain character, to which combining ones may come
    combining = 0
    piled = False  # whether the marks before are too many for one character
    for place, character in enumerate(text):
        if " " < character < "\x7f" and character not in "\\<|":
            unit, plain = character, True
        elif character in MARKS:
            unit, plain = MARKS[character], False
        elif character in _ESCAPED or (bars and character == BAR):
            unit, plain = "\\" + character, False
        elif character == "<" and text.startswith("U+", place + 1):
            unit, plain = "\\<", False
        elif hidden.match(character):
            unit, plain = _escape(character), False
        elif cell_len(character) == 0:
            if held and combining < _MOST_COMBINING:
                held += character
                combining += 1
                continue
            piled = piled or bool(held)
            if piled or not needs_circle(character):
                if held:
                    yield held
                held, combining = "", 0
                yield _escape(character)
                continue
            held, combining = CIRCLE + character, 1
            continue
        else:
            unit, plain = character, True
        if held:
            yield held
        held, combining, piled = "", 0, False
        if plain:
            held = unit
        else:
            yield unit
    if held:
        yield held


def shares(contents: Sequence[bytes], *, bars: bool = True) -> list[list[str]]:
    r"""Return what to print for the parts of a grapheme cluster that lie in several tokens, each in units.

    Parts that are whole characters are shown as these, else all of them as their bytes. No part that is shown as text
    looks like bytes: a cluster has no two letters or digits of ASCII.

    >>> shares(["e".encode(), "\u0301".encode()]), shares(["谁".encode()[:2], "谁".encode()[2:]])
    ([['e'], ['◌\u0301']], [['e8', ' b0'], ['81']])
    """
    try:
        texts = [content.decode() for content in contents]
    except UnicodeDecodeError:
        texts = []
    if texts and all(texts):
        return [list(units(text, bars=bars)) for text in texts]
    return [[f" {byte:02x}" if place else f"{byte:02x}" for place, byte in enumerate(each)] for each in contents]


def visible(content: bytes, *, bars: bool = False) -> str:
    r"""Write bytes on one line.

    >>> visible(b"\xe8\xb0 x\n")
    '\\xe8\\xb0·x⏎'
    """
    return "".join(units(content.decode("utf-8", "surrogateescape"), bars=bars))


def harmless(name: str) -> str:
    r"""Write a name from outside (of a file, say) as it is, except what could harm a terminal.

    >>> harmless("my file\x1b[2J.txt")
    'my file␛[2J.txt'
    """
    hidden = _hidden()
    return "".join(
        character if character == " " or not hidden.match(character) else MARKS.get(character) or _escape(character)
        for character in name
    )


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"<U+{code:04X}>"


MARK = "\u200e"


@lru_cache(maxsize=1)
def _strong() -> regex.Pattern[str]:
    """Compile the pattern of the last character with a direction; Arabic numbers make runs as letters do."""
    import regex

    return regex.compile(r"(?r)(?P<right>[\p{bc=R}\p{bc=AL}\p{bc=AN}])|\p{bc=L}")


def direction(unit: str) -> bool | None:
    """Return whether the last letter of what is shown reads from the right; None where there is no letter.

    >>> direction("ש!"), direction("a"), direction("·"), direction("٣")
    (True, False, None, True)
    """
    if unit.isascii():
        return False if any(map(str.isalpha, unit)) else None
    match = _strong().search(unit)
    return None if match is None else match["right"] is not None


class Borders:
    """Decide where marks of direction are needed, as a line is written from left to right."""

    def __init__(self, *, active: bool) -> None:
        """Begin a line; one that is not ``active`` never asks for a mark."""
        self._active = active
        self._run: bool | None = None  # whether the last letter reads from the right

    def before(self, unit: str) -> str:
        """Return what must stand before the next unit: where a line begins from the right, its direction."""
        if not self._active:
            return ""
        right_to_left = direction(unit)
        opens = right_to_left is True and self._run is None
        if right_to_left is not None:
            self._run = right_to_left
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
    """Write one token so that its neighbours keep their places.

    >>> bordered("שלום", active=True), bordered("hello", active=True), bordered("שלום", active=False)
    ('\\u200eשלום\\u200e', 'hello', 'שלום')
    """
    borders = Borders(active=active)
    return borders.before(shown) + shown + borders.here()
