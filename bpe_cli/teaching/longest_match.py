"""Cut a word by its longest tokens, without merges, and record every step: what was tried, what fitted, what was taken.

``from_left`` is the step of WordPiece (Devlin et al., arXiv:1810.04805), of maximum matching with a dictionary, and of
tutorials that apply a BPE vocabulary so; ``anywhere`` is the other one of theirs (after Lei Mao's "Byte Pair
Encoding"), which tries the longest token first, in all of the word. Both need the vocabulary only, and often disagree
with merges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Unit = tuple[str, str, str]
"""What is never cut: what is written before a character, the character, and what is written after it."""

Units = tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """Describe what is written around the characters of a word.

    Attributes:
        end: Written at the end of a word; empty for nothing.
        glued: Whether ``end`` is part of the last character, or a unit by itself (as in the tutorials).
        prefix: Written before each character of a word but the first; in a token, before its first only.
    """

    end: str = "</w>"
    glued: bool = False
    prefix: str = ""

    def word(self, text: str) -> Units:
        """Spell a word in units, with its marks.

        >>> Marks(prefix="##", glued=True).word("ab")
        (('', 'a', ''), ('##', 'b', '</w>'))
        """
        return self._spell(text, inside=False, ends=bool(self.end))

    def token(self, text: str) -> Units:
        """Spell a token in units: what it ends and begins with may be marks, unless there is nothing beside them.

        >>> Marks().token("s</w>"), Marks(prefix="##").token("##s"), Marks(glued=True).token("w>")
        ((('', 's', ''), ('', '', '</w>')), (('##', 's', ''),), (('', 'w', ''), ('', '>', '')))
        """
        ends = bool(self.end) and text.endswith(self.end) and (not self.glued or text != self.end)
        stem = text[: len(text) - len(self.end)] if ends else text
        inside = bool(self.prefix) and stem.startswith(self.prefix) and stem != self.prefix
        return self._spell(stem[len(self.prefix) :] if inside else stem, inside=inside, ends=ends)

    def length(self, text: str) -> int:
        """Count a token's characters: a mark of a word's end is one, a prefix none.

        >>> Marks().length("est</w>"), Marks(glued=True, prefix="##").length("##est</w>")
        (4, 4)
        """
        units = self.token(text)
        return len(units) + (self.glued and bool(units) and units[-1][2] != "")

    def _spell(self, stem: str, *, inside: bool, ends: bool) -> Units:
        units = [(self.prefix if inside or place else "", character, "") for place, character in enumerate(stem)]
        if ends and self.glued and units:
            before, character, _ = units.pop()
            units.append((before, character, self.end))
        elif ends:
            units.append(("", "", self.end))
        return tuple(units)


def text_of(units: Units) -> str:
    """Write units as a token is written: what stands before the first of them counts, the others' does not.

    >>> text_of((("##", "s", ""), ("##", "t", "</w>")))
    '##st</w>'
    """
    return "".join(units[0][:1]) + "".join(character + after for _, character, after in units) if units else ""


Word = TypeVar("Word", str, Units)
"""A word or a token: in characters, or in units that are longer where marks are written."""


@dataclass(frozen=True, slots=True)
class Match(Generic[Word]):
    """One look at what a rest of the word begins with.

    Attributes:
        start: Where the rest begins, in characters (in units).
        end: Where it goes on: after the longest token, or one character later where there is none.
        tried: How many beginnings of the rest were looked up, the longest first, until one was a token.
        fits: The tokens that the rest begins with, as they are written, the longest first.
    """

    start: int
    end: int
    tried: int
    fits: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Lengths:
    """The lengths of tokens, falling: at the beginning of a word, and inside it without the prefix."""

    first: tuple[int, ...]
    inside: tuple[int, ...]


def lengths_of(tokens: Collection[Word], prefix: str = "") -> Lengths:
    """Collect the lengths of tokens.

    >>> lengths_of(["un", "##able", "##a"], "##")
    Lengths(first=(6, 3, 2), inside=(4, 1))
    """
    inside = {len(token) - len(prefix) for token in tokens if not prefix or token[: len(prefix)] == prefix}
    return Lengths(
        tuple(sorted({len(token) for token in tokens if token}, reverse=True)),
        tuple(sorted(inside - {0}, reverse=True)),
    )


def from_left(
    word: Word, tokens: Collection[Word], lengths: Lengths, *, prefix: Word | None = None, longest: int | None = None
) -> Iterator[Match[Word]]:
    """Yield a match at each place that is come to from the left.

    Args:
        word: The word.
        tokens: The tokens.
        lengths: Their lengths, as ``lengths_of`` gives them.
        prefix: Written before tokens inside a word; None for nothing.
        longest: The longest beginning that is tried, in characters; None: all that is left.

    >>> tokens = {"un", "u", "##aff", "##able"}
    >>> for match in from_left("unaffable", tokens, lengths_of(tokens, "##"), prefix="##"):
    ...     print(match.start, match.end, match.tried, *match.fits)
    0 2 8 un u
    2 5 5 ##aff
    5 9 1 ##able
    """
    start = 0
    while start < len(word):
        mark = prefix if prefix is not None and start else word[:0]
        known = lengths.inside if start else lengths.first
        left = len(word) - start
        fits = tuple(
            token for length in known if length <= left and (token := mark + word[start : start + length]) in tokens
        )
        taken = len(fits[0]) - len(mark) if fits else 0
        most = left if longest is None else min(left, longest)
        yield Match(start, start + max(taken, 1), most - max(taken, 1) + 1, fits)
        start += max(taken, 1)


@dataclass(frozen=True, slots=True)
class Cut(Generic[Word]):
    """A token that was cut out of a word.

    Attributes:
        start: Where it begins, in characters (in units).
        end: Where it ends.
        number: Its place in the order in which tokens are tried, from 0.
        token: The token.
    """

    start: int
    end: int
    number: int
    token: Word


def anywhere(word: Word, numbers: Mapping[Word, int], longest: int | None = None) -> Iterator[Cut[Word]]:
    """Yield the tokens that are cut out of a word: tried one after the other, each in all of what is left.

    Args:
        word: The word.
        numbers: The place of each token in the order in which they are tried.
        longest: The length of the longest token, if it is known.

    >>> numbers = {"est": 0, "we": 1, "ne": 2, "n": 3, "w": 4}
    >>> [(cut.start, cut.token) for cut in anywhere("newest", numbers)]
    [(3, 'est'), (0, 'ne'), (2, 'w')]
    """
    most = max(map(len, numbers), default=0) if longest is None else longest
    matches = sorted(
        (numbers[token], start, end)
        for start in range(len(word))
        for end in range(start + 1, min(start + most, len(word)) + 1)
        if (token := word[start:end]) in numbers
    )
    taken = bytearray(len(word))
    for number, start, end in matches:
        if not any(taken[start:end]):
            taken[start:end] = b"\x01" * (end - start)
            yield Cut(start, end, number, word[start:end])


def stretches(length: int, cuts: Mapping[int, int]) -> Iterator[tuple[int, int, bool]]:
    """Yield what is cut out, and what lies between, in order: (start, end, whether it is cut out).

    >>> list(stretches(5, {3: 4, 1: 2}))
    [(0, 1, False), (1, 2, True), (2, 3, False), (3, 4, True), (4, 5, False)]
    """
    place = 0
    for start in sorted(cuts):
        if start > place:
            yield place, start, False
        yield start, cuts[start], True
        place = cuts[start]
    if place < length:
        yield place, length, False
