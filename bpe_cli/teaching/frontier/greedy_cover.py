"""Choose the tokens that cover most of the words, one after the other, without merges.

Source: Lim, Choo and Lauw, "A Partition Cover Approach to Tokenization", arXiv:2501.06246; package greedtok 0.14.1
(PyPI), ``pco_tokenizer.cpp`` and ``greedy_encoder.cpp``. Which of several tokens with the same score and length comes
first is left to a hash table there; here it is the smallest. There, tokens that save nothing are chosen in the end.

Placing a token in a word makes one piece of all that lies in it. What it saves is how many pieces were there, single
bytes and placed tokens, less one. It may lie over placed tokens, but it must not cut one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

Mark = tuple[int, int] | None
"""What covers a byte: the token's rank, and which of its places in the word it is; None for nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """A token that was chosen, and how many pieces fewer all words have by it."""

    token: bytes
    score: int


def cuts(marks: Sequence[object], place: int) -> bool:
    """Return whether an edge at a place lies inside what is placed.

    >>> [cuts([None, (1, 0), (1, 0), (1, 1)], place) for place in range(5)]
    [False, False, True, False, False]
    """
    return 0 < place < len(marks) and marks[place] is not None and marks[place - 1] == marks[place]


def pieces_in(marks: Sequence[Mark]) -> int:
    """Count the pieces of a stretch: uncovered bytes, and placed tokens.

    >>> pieces_in([None, None, (1, 0), (1, 0), (1, 1)])
    4
    """
    return marks.count(None) + len({mark for mark in marks if mark is not None})


class Cover:
    """The words, and what covers them.

    Attributes:
        scores: Of each candidate, what placing it in all words saves.

    >>> cover = Cover({b"abab": 3, b"abc": 2})
    >>> cover.best(), cover.scores[b"abab"], cover.scores[b"abc"]
    (Step(token=b'abab', score=9), 9, 4)
    >>> cover.place(b"abab")
    >>> cover.best(), cover.scores[b"ab"]
    (Step(token=b'abc', score=4), 2)

    In ``abab`` the token ``ab`` would cut what is placed now, so it saves something in ``abc`` alone.
    """

    def __init__(
        self,
        words: Mapping[bytes, int],
        *,
        max_token_length: int = 255,
        min_word_count: int = 1,
        reserved: Collection[bytes] = (),
    ) -> None:
        """Find the candidates: all that is in the words.

        Args:
            words: With their frequencies.
            max_token_length: Tokens are shorter than this.
            min_word_count: Words that are rarer are left out.
            reserved: What is no candidate.
        """
        self.max_token_length = max_token_length
        frequent = {word: count for word, count in words.items() if count >= min_word_count}
        self.words, self.counts = list(frequent), list(frequent.values())
        self.marks: list[list[Mark]] = [[None] * len(word) for word in self.words]
        self.gains = [self.gains_in(number) for number in range(len(self.words))]
        self.words_with: dict[bytes, list[int]] = {}
        self.scores: Counter[bytes] = Counter()
        for number, gains in enumerate(self.gains):
            self.scores.update(gains)
            for token in gains:
                self.words_with.setdefault(token, []).append(number)
        for token in reserved:
            self.scores.pop(token, None)
        self.placed: list[bytes] = []

    def gains_in(self, number: int) -> dict[bytes, int]:
        """Return what each candidate saves in one word, all its places that do not overlap together."""
        word, count, marks = self.words[number], self.counts[number], self.marks[number]
        gains: dict[bytes, int] = {}
        ends: dict[bytes, int] = {}
        for start in range(len(word) - 1):
            begins_inside = cuts(marks, start)
            for end in range(start + 2, min(start + self.max_token_length, len(word) + 1)):
                token = word[start:end]
                gains.setdefault(token, 0)
                if not begins_inside and start >= ends.get(token, 0) and not cuts(marks, end):
                    gains[token] += count * (pieces_in(marks[start:end]) - 1)
                    ends[token] = end
        return gains

    def best(self) -> Step | None:
        """Return the candidate that saves most; of several the shortest, then the smallest. None if none saves any."""
        most = max(self.scores.values(), default=0)
        if not most:
            return None
        tied = (token for token, score in self.scores.items() if score == most)
        return Step(min(tied, key=lambda token: (len(token), token)), most)

    def ranked(self) -> list[tuple[bytes, int]]:
        """Return the candidates that save something, with what, the best first."""
        saving = ((token, score) for token, score in self.scores.items() if score)
        return sorted(saving, key=lambda item: (-item[1], len(item[0]), item[0]))

    def pieces(self, number: int) -> tuple[bytes, ...]:
        """Return the pieces that a word is.

        >>> cover = Cover({b"lower": 1})
        >>> cover.place(b"low")
        >>> cover.pieces(0)
        (b'low', b'e', b'r')
        """
        word, marks = self.words[number], self.marks[number]
        places = [place for place in range(len(word)) if not cuts(marks, place)]
        return tuple(word[start:end] for start, end in pairwise([*places, len(word)]))

    def place(self, token: bytes) -> None:
        """Place a token in all words, wherever it cuts nothing; it is no candidate any more."""
        self.placed.append(token)
        rank = len(self.placed)
        for number in self.words_with.get(token, ()):
            self.place_in(number, token, rank)
            after = self.gains_in(number)
            for other, gain in self.gains[number].items():
                if other in self.scores:
                    self.scores[other] += after[other] - gain
            self.gains[number] = after
        del self.scores[token]

    def place_in(self, number: int, token: bytes, rank: int) -> None:
        """Mark what a token covers of one word, from left to right."""
        word, marks = self.words[number], self.marks[number]
        running = 0
        start = word.find(token)
        while start >= 0:
            end = start + len(token)
            if not cuts(marks, start) and not cuts(marks, end):
                marks[start:end] = [(rank, running)] * len(token)
                running += 1
            start = word.find(token, start + 1)


def learn(
    words: Mapping[bytes, int], tokens: int, *, max_token_length: int = 255, min_word_count: int = 1
) -> Iterator[Step]:
    """Yield the tokens that are chosen, until there are so many, or none saves anything.

    Args:
        words: With their frequencies.
        tokens: How many.
        max_token_length: Tokens are shorter than this.
        min_word_count: Words that are rarer are left out.

    >>> [step.token for step in learn({b"lower": 3, b"low": 4, b"er": 1}, 3)]
    [b'low', b'lower', b'er']
    """
    cover = Cover(words, max_token_length=max_token_length, min_word_count=min_word_count)
    while len(cover.placed) < tokens and (step := cover.best()) is not None:
        yield step
        cover.place(step.token)


Text = TypeVar("Text", str, bytes)


def beginnings_of(tokens: Iterable[Text]) -> set[Text]:
    """Return all beginnings of tokens.

    >>> sorted(beginnings_of(["low", "er"]))
    ['e', 'er', 'l', 'lo', 'low']
    """
    return {token[:end] for token in tokens for end in range(1, len(token) + 1)}


def stretches_of(piece: Text, beginnings: set[Text]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a piece that no token goes on over the ends of; as far as beginnings of tokens tell.

    >>> list(stretches_of("ababx", beginnings_of(["ab", "abx"]))), list(stretches_of("abax", {"ab", "ba"}))
    ([(0, 2), (2, 5)], [(0, 3), (3, 4)])
    """
    start = 0
    while start < len(piece):
        end = place = start
        while place == start or place < end:
            reach = place + 1
            while reach < len(piece) and piece[place : reach + 1] in beginnings:
                reach += 1
            end = max(end, reach)
            place += 1
        yield start, end
        start = end


def laid(stretch: Text, ranks: Mapping[Text, int], longest: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield (rank, start, end) of tokens in the order in which they are laid over a stretch.

    Two places of one token side by side count as one that must not be cut: so has the package's code.

    Args:
        stretch: The text.
        ranks: The place of each token in that order.
        longest: The length of the longest token, if it is known.

    >>> list(laid("lower", {"er": 0, "low": 1, "lower": 2, "we": 3}))
    [(0, 3, 5), (1, 0, 3), (2, 0, 5)]
    """
    most = max(map(len, ranks), default=0) if longest is None else longest
    places = sorted(
        (ranks[stretch[start:end]], start, end)
        for start in range(len(stretch))
        for end in range(start + 2, min(start + most, len(stretch)) + 1)
        if stretch[start:end] in ranks
    )
    marks: list[int | None] = [None] * len(stretch)
    for rank, start, end in places:
        if not cuts(marks, start) and not cuts(marks, end):
            marks[start:end] = [rank] * (end - start)
            yield rank, start, end


class Encoder:
    """Encodes pieces with tokens in the order chosen.

    Attributes:
        tokens: By id: those chosen, then the bytes that are none of them.

    >>> encoder = Encoder([b"low", b"lower", b"er"])
    >>> encoder.encode(b"lowered"), encoder.encode(b"slower"), encoder.encode(b"lowe")
    ([b'lower', b'e', b'd'], [b's', b'lower'], [b'low', b'e'])
    """

    def __init__(self, chosen: Sequence[bytes]) -> None:
        """Number the tokens."""
        self.tokens = list(dict.fromkeys([*chosen, *(bytes([byte]) for byte in range(256))]))
        self.ranks = {token: rank for rank, token in enumerate(self.tokens)}
        self.longest = max(map(len, self.tokens))
        self.beginnings = beginnings_of(token for token in chosen if len(token) > 1)

    def encode(self, piece: bytes) -> list[bytes]:
        """Return the tokens of a piece: of each stretch that a token may lie over."""
        stretches = stretches_of(piece, self.beginnings)
        return [token for start, end in stretches for token in self.encode_stretch(piece[start:end])]

    def encode_stretch(self, stretch: bytes) -> list[bytes]:
        """Place tokens in the order of their ranks; a stretch that is a token is that, whatever the others."""
        if stretch in self.ranks:
            return [stretch]
        marks: list[int | None] = [None] * len(stretch)
        for rank, start, end in laid(stretch, self.ranks, self.longest):
            marks[start:end] = [rank] * (end - start)
        tokens = []
        start = 0
        while start < len(stretch):
            mark = marks[start]
            tokens.append(stretch[start : start + 1] if mark is None else self.tokens[mark])
            start += len(tokens[-1])
        return tokens
