"""Text that knows, character by character, who wrote it: the template, or the messages.

A template cuts, joins and rewrites strings. ``Traced`` is a string that takes along where each of its
characters comes from, through everything that templates do. Invariant: what is called the template's is
a literal of it. A method that this module does not follow gives a plain ``str``, of which nothing is known.

Every string that grows is weighed before it is made (``Meter``): a template cannot make much of little.

Why not marks around the texts of messages, looked for in the result? Templates read these texts before they write
them: they trim, slice, split, compare, count and quote them, so of the eight kinds of templates in the tests four write
another text if there are marks, and a fifth keeps only one of the two. Nor can the marks be put on afterwards, since a
template may write a message's text anywhere, changed or in part, and what it wrote itself may be equal to it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex

TEMPLATE, MESSAGE, ASSISTANT, UNKNOWN = b"t", b"m", b"a", b"?"
"""Where a character comes from: one byte a character. Of messages, what the model has said is the assistant's."""

_GENERATED = bytes.maketrans(b"tma?", b"TMA!")
_PLAIN = bytes.maketrans(b"TMA!", b"tma?")


def plain_origins(origins: bytes) -> bytes:
    """Return origins without the marks of what the model generates."""
    return origins.translate(_PLAIN)


class TooMuch(Exception):  # it stops a rendering; the user meets a FormatError
    """Stop a rendering that takes more memory or time than its input explains."""


class Meter:
    """Limit the memory and the time of a rendering.

    Bytes and steps are counted, so that a template that is stopped is stopped on every machine. A step is about
    half a microsecond: a round of a loop, four nodes of its body, 64 characters looked at. The clock, of the
    processor, is there for what is not foreseen.
    """

    BYTES = 48 << 20
    STEPS = 1_000_000
    SECONDS = 10.0

    def __init__(self) -> None:
        self._left = self.BYTES
        self._steps = self.STEPS
        self._deadline = float("inf")
        self._ticks = 0

    def start(self, size: int) -> None:
        """Begin a rendering of an input with so many characters."""
        self._left = self.BYTES + 100 * size
        self._steps = self.STEPS + 2 * size
        self._deadline = time.thread_time() + self.SECONDS + size / 1_000_000
        self._ticks = 0

    def charge(self, size: int) -> None:
        """Account for bytes that are about to be made.

        Raises:
            TooMuch: if the limit is exceeded.
        """
        self._left -= size
        if self._left < 0:
            raise TooMuch("it makes too much data from too little input")

    def tick(self, steps: int = 1) -> None:
        """Account for steps that are about to be taken.

        Raises:
            TooMuch: if there are too many steps, or the time is up.
        """
        self._steps -= steps
        self._ticks += 1
        if self._steps < 0 or (not self._ticks & 15 and time.thread_time() > self._deadline):
            raise TooMuch("it takes too long")

    def weigh(self, value: Any) -> None:
        """Account for examining a value and everything in it: at most what comparing it costs.

        Raises:
            TooMuch: if that is too much.
        """
        waiting = [value]
        while waiting:
            each = waiting.pop()
            if isinstance(each, (str, range)):
                self.tick(1 + len(each) // (64 if isinstance(each, str) else 4))
            elif isinstance(each, dict):
                self.tick(1 + len(each))
                waiting.extend((*each.keys(), *each.values()))
            elif isinstance(each, (list, tuple)):
                self.tick(1 + len(each))
                waiting.extend(each)


class Traced(str):
    """A string and the origin of each of its characters.

    Attributes:
        origins: One byte a character: ``TEMPLATE``, ``MESSAGE`` or ``UNKNOWN``.
        meter: What bounds the strings made from it.
    """

    __slots__ = ("meter", "origins")
    origins: bytes
    meter: Meter

    @classmethod
    def of(cls, text: str, origins: bytes, meter: Meter) -> Traced:
        """Make one; ``origins`` has a byte for each character, or one for all.

        >>> whole = Traced.of("<a>", TEMPLATE, Meter()) + Traced.of("<b>", MESSAGE, Meter())
        >>> whole.strip("<>"), whole.strip("<>").origins
        ('a><b', b'ttmm')
        """
        if len(origins) != len(text):
            origins = origins * len(text) if len(origins) == 1 else UNKNOWN * len(text)
        meter.charge(2 * len(text))
        self = str.__new__(cls, text)
        self.origins = origins
        self.meter = meter
        return self

    def _like(self, text: str, origins: bytes) -> Traced:
        return Traced.of(text, origins, self.meter)

    def rewritten(self, text: str) -> Traced:
        """Return a text that was made from this one character by character."""
        if len(text) == len(self):
            return self._like(text, self.origins)
        one = self.origins[:1] if len(set(self.origins)) == 1 else UNKNOWN
        return self._like(text, one)

    def generated(self) -> Traced:
        """Return the same text, marked as what the model generates.

        >>> whole = Traced.of("a", TEMPLATE, Meter()) + Traced.of("b", MESSAGE, Meter()).generated()
        >>> whole.origins, whole.generated_spans()
        (b'tM', [(1, 2)])
        """
        return self._like(self, self.origins.translate(_GENERATED))

    def generated_spans(self) -> list[tuple[int, int]]:
        """Return the stretches of characters that are marked as what the model generates."""
        return [(match.start(), match.end()) for match in re.finditer(rb"[TMA!]+", self.origins)]

    def _pieces(self, pieces: Iterable[str], gap: int = 0) -> list[str]:
        """Return pieces that lie in this text one after the other, ``gap`` characters apart or at the next place."""
        traced: list[str] = []
        place = 0
        for piece in pieces:
            self.meter.charge(64)
            place = place if gap else str.find(self, piece, place)
            traced.append(self._like(piece, self.origins[place : place + len(piece)]))
            place += len(piece) + gap
        return traced

    # `str` of a string gives a plain one, unless it says otherwise.
    def __str__(self) -> str:
        return self

    def __iter__(self) -> Iterator[str]:
        for place, character in enumerate(str.__iter__(self)):
            yield self._like(character, self.origins[place : place + 1])

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        text = str.__getitem__(self, key)
        if isinstance(key, slice):
            return self._like(text, self.origins[key])
        return self._like(text, bytes((self.origins[key],)))

    def __add__(self, other: str) -> str:
        if not isinstance(other, str):
            return NotImplemented
        self.meter.charge(4 * (len(self) + len(other)))
        return self._like(str.__add__(self, other), self.origins + origins_of(other))

    def __radd__(self, other: str) -> str:
        if not isinstance(other, str):
            return NotImplemented
        self.meter.charge(4 * (len(self) + len(other)))
        return self._like(str.__add__(other, self), origins_of(other) + self.origins)

    def __mul__(self, times: SupportsIndex) -> str:
        number = max(0, times.__index__())
        self.meter.charge(4 * number * len(self))
        return self._like(str.__mul__(self, number), self.origins * number)

    __rmul__ = __mul__

    def lstrip(self, characters: str | None = None, /) -> str:
        """As ``str.lstrip``."""
        text = str.lstrip(self, characters)
        return self._like(text, self.origins[len(self) - len(text) :])

    def rstrip(self, characters: str | None = None, /) -> str:
        """As ``str.rstrip``."""
        text = str.rstrip(self, characters)
        return self._like(text, self.origins[: len(text)])

    def strip(self, characters: str | None = None, /) -> str:
        """As ``str.strip``."""
        return self.lstrip(characters).rstrip(characters)

    def removeprefix(self, prefix: str, /) -> str:
        """As ``str.removeprefix``."""
        return self[len(prefix) :] if prefix and self.startswith(prefix) else self

    def removesuffix(self, suffix: str, /) -> str:
        """As ``str.removesuffix``."""
        return self[: len(self) - len(suffix)] if suffix and self.endswith(suffix) else self

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """As ``str.split``."""
        return self._pieces(str.split(self, sep, maxsplit), len(sep or ""))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """As ``str.rsplit``."""
        return self._pieces(str.rsplit(self, sep, maxsplit), len(sep or ""))

    def splitlines(self, keepends: bool = False) -> list[str]:
        """As ``str.splitlines``."""
        whole = self._pieces(str.splitlines(self, True))
        return whole if keepends else [line[: len(str.splitlines(line)[0])] for line in whole]

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        """As ``str.partition``."""
        first, middle, last = self._pieces(str.partition(self, sep))
        return first, middle, self[len(self) - len(last) :]

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:
        """As ``str.rpartition``."""
        first, middle, last = str.rpartition(self, sep)
        return self[: len(first)], self[len(first) : len(first) + len(middle)], self[len(self) - len(last) :]

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        """As ``str.replace``."""
        if not old:  # before every character
            number = count.__index__()
            pieces = ["", *self] if number < 0 or number > len(self) else ["", *self[: number - 1], self[number - 1 :]]
            pieces = [*pieces, ""] if number < 0 or number > len(self) else pieces if number else [self]
        else:
            pieces = self.split(old, count)
        return joined(new, pieces, self.meter)

    def join(self, parts: Iterable[str], /) -> str:
        """As ``str.join``."""
        return joined(self, parts, self.meter)

    def upper(self) -> str:
        """As ``str.upper``."""
        return self.rewritten(str.upper(self))

    def lower(self) -> str:
        """As ``str.lower``."""
        return self.rewritten(str.lower(self))

    def casefold(self) -> str:
        """As ``str.casefold``."""
        return self.rewritten(str.casefold(self))

    def title(self) -> str:
        """As ``str.title``."""
        return self.rewritten(str.title(self))

    def capitalize(self) -> str:
        """As ``str.capitalize``."""
        return self.rewritten(str.capitalize(self))

    def swapcase(self) -> str:
        """As ``str.swapcase``."""
        return self.rewritten(str.swapcase(self))


def origins_of(text: str) -> bytes:
    """Return the origins of a string's characters; None for a plain string."""
    return text.origins if isinstance(text, Traced) else UNKNOWN * len(text)


def joined(between: str, parts: Iterable[str], meter: Meter) -> Traced:
    """Join strings as ``str.join`` does.

    Raises:
        TypeError: if a part is not a string.
    """
    listed: list[str] = []
    size = 0
    for part in parts:
        meter.tick()
        size += len(part) + len(between)
        meter.charge(64 + 4 * (len(part) + len(between)))
        listed.append(part)
    return Traced.of(str.join(between, listed), origins_of(between).join(map(origins_of, listed)), meter)


def origin_of_value(value: Any) -> bytes:
    """Return whose text a value is, written out: the assistant's if one of its strings is, else a message's."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            if ASSISTANT in plain_origins(origins_of(each)):
                return ASSISTANT
        elif isinstance(each, dict):
            waiting.extend((*each.keys(), *each.values()))
        elif isinstance(each, (list, tuple)):
            waiting.extend(each)
    return MESSAGE


def expanded(value: Any, meter: Meter, *, texts: bool = True) -> int:
    """Return about how many characters a value has when written out; shared parts count as often as they occur.

    Without ``texts`` only lists and the like count, which is what a value costs that refers to its texts.

    Complexity: linear in what there is, however often it is shared.

    Raises:
        TooMuch: if the limit is exceeded.
    """
    found: dict[int, tuple[int, int]] = {}  # what each list and the like costs, which is looked into once
    begun: set[int] = set()
    whole = [value]
    waiting: list[Any] = [whole]
    while waiting:
        each = waiting[-1]
        if isinstance(each, range):
            found[id(each)] = 16 + 24 * len(each), 8 + 8 * len(each)
        elif id(each) not in found:
            inside = (*each.keys(), *each.values()) if isinstance(each, dict) else each
            kinds = {*map(type, inside)}
            holding = {kind for kind in kinds if issubclass(kind, (list, tuple, dict, range))}
            holders = [part for part in inside if type(part) in holding] if holding else []
            unknown = [part for part in holders if id(part) not in found]
            if unknown:
                if id(each) in begun:  # it holds itself
                    raise TooMuch("it makes too much data from too little input")
                begun.add(id(each))
                waiting += unknown
                continue
            others = len(inside) - len(holders)
            charge = 16 + (16 if isinstance(each, dict) else 8) * len(each) + 16 * others
            size = 8 + 8 * others
            if texts and any(issubclass(kind, str) for kind in kinds):
                size += sum([len(part) for part in inside if isinstance(part, str)])
            for part in holders:
                charge += found[id(part)][0]
                size += found[id(part)][1]
            found[id(each)] = charge, size
        waiting.pop()
    charge, size = (of_whole - of_list for of_whole, of_list in zip(found[id(whole)], (24, 8), strict=True))
    meter.charge(charge)
    meter.charge(2 * size if texts else 0)
    return size
