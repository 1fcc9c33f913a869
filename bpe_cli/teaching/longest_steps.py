"""Cut a word by its longest tokens, and tell every step: what was tried, what fitted, what was taken.

``from_left`` is the step of WordPiece (Devlin et al., arXiv:1810.04805), of maximum matching with a
dictionary, and of tutorials that apply a BPE vocabulary so; ``anywhere`` is the other one of theirs
(see ``longest_match``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from bpe_cli.teaching.longest_match import Units

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
