"""Split a word by its longest tokens, without merges: anywhere in it first, or from the left.

Source: the encoder of many BPE tutorials, after Lei Mao's "Byte Pair Encoding". It keeps the
vocabulary only, so it needs no merges, and it often disagrees with ``encode``. Three slips that are copied
along with it are not made here: text in which no token occurs was dropped unless all tokens had been
tried before, a token with a dot never matched, and a mark was cut like text (the token ``w`` was found in
``</w>``).

The tutorials describe their encoder as going "from left to right"; that is another one, which is here too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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


TUTORIALS = Marks()
"""The marks of the tutorials."""


def text_of(units: Units) -> str:
    """Write units as a token is written: what stands before the first of them counts, the others' does not.

    >>> text_of((("##", "s", ""), ("##", "t", "</w>")))
    '##st</w>'
    """
    return "".join(units[0][:1]) + "".join(character + after for _, character, after in units) if units else ""


def token_length(token: str, end: str = "</w>") -> int:
    """Count a token's characters, a mark of a word's end being one.

    >>> token_length("est</w>")
    4
    """
    return len(token) - len(end) + 1 if end and token.endswith(end) else len(token)


def longest_first(counts: Mapping[str, int], end: str = "</w>") -> list[str]:
    """Sort tokens by length and then by frequency, both falling; equals keep their order.

    >>> longest_first({"n": 4150, "s</w>": 4698, "in": 3363, "m": 7476})
    ['s</w>', 'in', 'm', 'n']
    """
    return sorted(counts, key=lambda token: (token_length(token, end), counts[token]), reverse=True)


def encode(word: str, tokens: Sequence[str], unknown: str = "<unk>", marks: Marks = TUTORIALS) -> list[str]:
    """Cut a word at the first token that occurs in it, and what is left by the tokens after that.

    Args:
        word: The word, with its end mark.
        tokens: Tokens in the order in which they are tried.
        unknown: What stands for a stretch in which no token occurs.
        marks: What is not cut.

    >>> encode("newest</w>", ["est</w>", "new"]), encode("old", ["l"]), encode("hi</w>", ["hi", "w", "</w>"])
    (['new', 'est</w>'], ['<unk>', 'l', '<unk>'], ['hi', '</w>'])
    """
    return cut(marks.token(word), [(marks.token(token), token) for token in tokens], unknown)


def cut(word: Units, tokens: Sequence[tuple[Units, str]], unknown: str = "<unk>") -> list[str]:
    """Cut a word in units; ``encode`` in every other respect."""
    if not word:
        return []
    for place, (units, token) in enumerate(tokens):
        parts = _split(word, units)
        if len(parts) > 1:
            first, *others = (cut(part, tokens[place + 1 :], unknown) for part in parts)
            return first + [found for other in others for found in (token, *other)]
    return [unknown]


def _split(word: Units, units: Units) -> list[Units]:
    """Take units out of a word wherever they stand, from the left; give what is left between."""
    parts, start, place = [], 0, 0
    while units and place + len(units) <= len(word):
        if word[place : place + len(units)] == units:
            parts.append(word[start:place])
            start = place = place + len(units)
        else:
            place += 1
    return [*parts, word[start:]]


def encode_from_left(word: str, tokens: Collection[str], unknown: str = "<unk>", marks: Marks = TUTORIALS) -> list[str]:
    """Take the longest token that the word begins with, then what follows.

    Characters with which no token begins become one unknown token together with their neighbours.

    >>> encode_from_left("xxabcd", ["ab", "abc", "bcd", "d"]), encode("abcd", ["bcd", "abc", "d"])
    (['<unk>', 'abc', 'd'], ['<unk>', 'bcd'])
    """
    return cut_from_left(marks.token(word), {marks.token(token): token for token in tokens}, unknown)


def cut_from_left(word: Units, tokens: Mapping[Units, str], unknown: str = "<unk>") -> list[str]:
    """Cut a word in units; ``encode_from_left`` in every other respect."""
    found: list[str] = []
    after_unknown = False
    while word:
        longest = max((units for units in tokens if units and word[: len(units)] == units), key=len, default=())
        if longest or not after_unknown:
            found.append(tokens[longest] if longest else unknown)
        after_unknown = not longest
        word = word[len(longest) or 1 :]
    return found


# --------------------------------------------------------------------------------------------------
# Cut a word by its longest tokens, and tell every step: what was tried, what fitted, what was taken.
#
# ``from_left`` is the step of WordPiece (Devlin et al., arXiv:1810.04805), of maximum matching with a
# dictionary, and of tutorials that apply a BPE vocabulary so; ``anywhere`` is the other one of theirs
# (see ``longest_match``).


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
    found = sorted(
        (numbers[token], start, end)
        for start in range(len(word))
        for end in range(start + 1, min(start + most, len(word)) + 1)
        if (token := word[start:end]) in numbers
    )
    taken = bytearray(len(word))
    for number, start, end in found:
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
