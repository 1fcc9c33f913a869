"""Choose the tokens that cover most of the words, one after the other, without merges.

Source: Lim, Choo and Lauw, "A Partition Cover Approach to Tokenization", arXiv:2501.06246; package greedtok 0.14.1
(PyPI), ``pco_tokenizer.cpp`` and ``greedy_encoder.cpp``. There, a hash table decides between tokens with the same score
and length; here, the smallest comes first. There, tokens that save nothing are chosen at the end.

Placing a token in a word makes everything inside it one piece. It saves the number of pieces that were there, single
bytes and placed tokens, minus one. It may cover placed tokens, but must not cut one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

Mark = tuple[int, int] | None
"""What covers a byte: the token's rank, and the number of its place in the word; None for nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """A token that was chosen, and by how many pieces it makes all words shorter."""

    token: bytes
    score: int


def cuts(marks: Sequence[object], place: int) -> bool:
    """Return whether an edge at a place is inside a placed token.

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
    """The words, and the tokens that cover them.

    Attributes:
        scores: For each candidate, how many pieces placing it in all words saves.

    >>> cover = Cover({b"abab": 3, b"abc": 2})
    >>> cover.best(), cover.scores[b"abab"], cover.scores[b"abc"]
    (Step(token=b'abab', score=9), 9, 4)
    >>> cover.place(b"abab")
    >>> cover.best(), cover.scores[b"ab"]
    (Step(token=b'abc', score=4), 2)

    In ``abab``, the token ``ab`` would now cut a placed token, so it saves something only in ``abc``.
    """

    def __init__(
        self,
        words: Mapping[bytes, int],
        *,
        max_token_length: int = 255,
        min_word_count: int = 1,
        reserved: Collection[bytes] = (),
    ) -> None:
        """Find the candidates: all substrings of the words.

        Args:
            words: The words with their frequencies.
            max_token_length: Tokens are shorter than this.
            min_word_count: Rarer words are left out.
            reserved: Texts that are not candidates.
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
        """Return how much each candidate saves in one word, at all of its places that do not overlap."""
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
        """Return the candidate that saves most; among equals, the shortest, then the smallest; or None."""
        most = max(self.scores.values(), default=0)
        if not most:
            return None
        tied = (token for token, score in self.scores.items() if score == most)
        return Step(min(tied, key=lambda token: (len(token), token)), most)

    def ranked(self) -> list[tuple[bytes, int]]:
        """Return the candidates that save something, with how much, the best first."""
        saving = ((token, score) for token, score in self.scores.items() if score)
        return sorted(saving, key=lambda item: (-item[1], len(item[0]), item[0]))

    def pieces(self, number: int) -> tuple[bytes, ...]:
        """Return the pieces of a word.

        >>> cover = Cover({b"lower": 1})
        >>> cover.place(b"low")
        >>> cover.pieces(0)
        (b'low', b'e', b'r')
        """
        word, marks = self.words[number], self.marks[number]
        places = [place for place in range(len(word)) if not cuts(marks, place)]
        return tuple(word[start:end] for start, end in pairwise([*places, len(word)]))

    def place(self, token: bytes) -> None:
        """Place a token in all words, wherever it cuts nothing; it is then no longer a candidate."""
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
        """Mark what a token covers in one word, from left to right."""
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
    """Yield the chosen tokens, until there are enough of them, or none saves anything.

    Args:
        words: The words with their frequencies.
        tokens: The number of tokens to choose.
        max_token_length: Tokens are shorter than this.
        min_word_count: Rarer words are left out.

    >>> [step.token for step in learn({b"lower": 3, b"low": 4, b"er": 1}, 3)]
    [b'low', b'lower', b'er']
    """
    cover = Cover(words, max_token_length=max_token_length, min_word_count=min_word_count)
    while len(cover.placed) < tokens and (step := cover.best()) is not None:
        yield step
        cover.place(step.token)


Text = TypeVar("Text", str, bytes)


def beginnings_of(tokens: Iterable[Text]) -> set[Text]:
    """Return all prefixes of tokens.

    >>> sorted(beginnings_of(["low", "er"]))
    ['e', 'er', 'l', 'lo', 'low']
    """
    return {token[:end] for token in tokens for end in range(1, len(token) + 1)}


def stretches_of(piece: Text, beginnings: set[Text]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a piece whose ends no token crosses, as far as the prefixes of tokens show.

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
    """Yield (rank, start, end) of each token, in the order in which tokens are laid over a stretch.

    Two adjacent places of one token count as one that must not be cut, as in the package's code.

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
    """Encode pieces with tokens in the order in which they were chosen.

    Attributes:
        tokens: The tokens by id: the chosen ones, then the bytes that are not among them.

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
        """Return the tokens of a piece, stretch by stretch."""
        stretches = stretches_of(piece, self.beginnings)
        return [token for start, end in stretches for token in self.encode_stretch(piece[start:end])]

    def encode_stretch(self, stretch: bytes) -> list[bytes]:
        """Place tokens in the order of their ranks; a stretch that is itself a token becomes that token."""
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
