"""Cut a word by its longest tokens, and tell every step: what was tried, what fitted, what was taken.

``from_left`` is the step of WordPiece (Devlin et al., arXiv:1810.04805), of maximum matching with a
dictionary, and of tutorials that apply a BPE vocabulary so; ``anywhere`` is the other one of theirs
(see ``longest_match``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """One look at what a rest of the word begins with.

    Attributes:
        start: Where the rest begins, in characters.
        end: Where it goes on: after the longest token, or one character later where there is none.
        tried: How many beginnings of the rest were looked up, the longest first, until one was a token.
        fits: The tokens that the rest begins with, as they are written, the longest first.
    """

    start: int
    end: int
    tried: int
    fits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lengths:
    """The lengths of tokens, falling: at the beginning of a word, and inside it without the prefix."""

    first: tuple[int, ...]
    inside: tuple[int, ...]


def lengths_of(tokens: Collection[str], prefix: str = "") -> Lengths:
    """Collect the lengths of tokens.

    >>> lengths_of(["un", "##able", "##a"], "##")
    Lengths(first=(6, 3, 2), inside=(4, 1))
    """
    inside = {len(token) - len(prefix) for token in tokens if token.startswith(prefix)}
    return Lengths(
        tuple(sorted({len(token) for token in tokens if token}, reverse=True)),
        tuple(sorted(inside - {0}, reverse=True)),
    )


def from_left(
    word: str, tokens: Collection[str], lengths: Lengths, *, prefix: str = "", longest: int | None = None
) -> Iterator[Match]:
    """Yield a match at each place that is come to from the left.

    Args:
        word: The word.
        tokens: The tokens.
        lengths: Their lengths, as ``lengths_of`` gives them.
        prefix: Written before tokens inside a word.
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
        mark, known = (prefix, lengths.inside) if start else ("", lengths.first)
        left = len(word) - start
        fits = tuple(
            token for length in known if length <= left and (token := mark + word[start : start + length]) in tokens
        )
        taken = len(fits[0]) - len(mark) if fits else 0
        most = left if longest is None else min(left, longest)
        yield Match(start, start + max(taken, 1), most - max(taken, 1) + 1, fits)
        start += max(taken, 1)


@dataclass(frozen=True, slots=True)
class Cut:
    """A token that was cut out of a word.

    Attributes:
        start: Where it begins, in characters.
        end: Where it ends.
        number: Its place in the order in which tokens are tried, from 0.
        token: The token.
    """

    start: int
    end: int
    number: int
    token: str


def anywhere(word: str, tokens: Sequence[str]) -> Iterator[Cut]:
    """Yield the tokens that are cut out of a word: tried one after the other, each in all of what is left.

    >>> [(cut.start, cut.token) for cut in anywhere("newest</w>", ["est</w>", "we", "ne", "n", "w"])]
    [(3, 'est</w>'), (0, 'ne'), (2, 'w')]
    """
    free = [(0, len(word))]
    for number, token in enumerate(tokens):
        if not free:
            return
        if not token or token not in word:
            continue
        left = []
        for start, end in free:
            while (at := word.find(token, start, end)) >= 0:
                yield Cut(at, at + len(token), number, token)
                if at > start:
                    left.append((start, at))
                start = at + len(token)
            if start < end:
                left.append((start, end))
        free = left


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
