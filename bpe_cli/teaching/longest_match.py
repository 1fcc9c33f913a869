"""Cut a word at its longest tokens, without merges, and record each step: what was tried, what fit, what was taken.

``from_left`` is the method of WordPiece (Devlin et al., arXiv:1810.04805), of maximum matching with a dictionary, and
of tutorials that apply a BPE vocabulary in this way; ``anywhere`` is their other method (after Lei Mao's "Byte Pair
Encoding"), which tries the longest token first, anywhere in the word. Both need only the vocabulary, and often disagree
with merges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Unit = tuple[str, str, str]
"""Something that is never cut: the mark before a character, the character, and the mark after it."""

Units = tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks around the characters of a word.

    Attributes:
        end: The mark at the end of a word; empty for none.
        glued: Whether ``end`` is attached to the last character, or is a separate unit (as in the tutorials).
        prefix: The mark before each character of a word except the first; in a token, only before its first one.
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
        """Spell a token in units: its beginning and end may be marks, unless it consists only of them.

        >>> Marks().token("s</w>"), Marks(prefix="##").token("##s"), Marks(glued=True).token("w>")
        ((('', 's', ''), ('', '', '</w>')), (('##', 's', ''),), (('', 'w', ''), ('', '>', '')))
        """
        ends = bool(self.end) and text.endswith(self.end) and (not self.glued or text != self.end)
        stem = text[: len(text) - len(self.end)] if ends else text
        inside = bool(self.prefix) and stem.startswith(self.prefix) and stem != self.prefix
        return self._spell(stem[len(self.prefix) :] if inside else stem, inside=inside, ends=ends)

    def length(self, text: str) -> int:
        """Count a token's characters: the mark at the end of a word counts as one, a prefix as none.

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
    """Join units into the spelling of a token: the first one keeps its prefix, the others lose theirs.

    >>> text_of((("##", "s", ""), ("##", "t", "</w>")))
    '##st</w>'
    """
    return "".join(units[0][:1]) + "".join(character + after for _, character, after in units) if units else ""


Word = TypeVar("Word", str, Units)
"""A word or a token: in characters, or in units, which are longer where there are marks."""


@dataclass(frozen=True, slots=True)
class Match(Generic[Word]):
    """The result of looking up what the rest of a word begins with.

    Attributes:
        start: Where the rest begins, in characters (or units).
        end: Where the next rest begins: after the longest token, or one character later if there is none.
        tried: How many prefixes of the rest were looked up, the longest first, until one was a token.
        fits: The tokens that the rest begins with, as the vocabulary writes them, the longest first.
    """

    start: int
    end: int
    tried: int
    fits: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Lengths:
    """The lengths of tokens, in descending order: at the beginning of a word, and inside one without the prefix."""

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
    """Yield a match at each place that is reached, from left to right.

    Args:
        word: The word.
        tokens: The tokens.
        lengths: Their lengths, from ``lengths_of``.
        prefix: The mark before tokens inside a word; None for none.
        longest: The longest prefix that is tried, in characters; None for the whole rest.

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
        start: Where it begins, in characters (or units).
        end: Where it ends.
        number: Its place in the order in which tokens are tried, from 0.
        token: The token.
    """

    start: int
    end: int
    number: int
    token: Word


def anywhere(word: Word, numbers: Mapping[Word, int], longest: int | None = None) -> Iterator[Cut[Word]]:
    """Yield the tokens that are cut out of a word: they are tried one after the other, each in everything that is left.

    Args:
        word: The word.
        numbers: The place of each token in the order in which tokens are tried.
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
    """Yield the stretches that are cut out, and those between them, in order: (start, end, whether it is cut out).

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
