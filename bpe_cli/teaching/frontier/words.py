"""Keep the counts of all pairs while pairs are merged, so that thousands of merges can be learnt in a moment.

``bpe_cli.teaching.bpe`` recounts everything at every step, which is simpler, and slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Generic

from bpe_cli.teaching.bpe import Symbol, merge_word


class Words(Generic[Symbol]):
    """Words with their frequencies, and the counts of the pairs in them.

    Attributes:
        words: The words as they are cut now.
        frequencies: The frequency of each word.
        counts: The count of each pair that occurs; other pairs are not in it.
        length: The number of symbols in all words, weighted by frequency.

    >>> words = Words({("a", "b", "a", "b"): 2, ("b", "a"): 1})
    >>> words.counts, words.length
    ({('a', 'b'): 4, ('b', 'a'): 3}, 10)
    >>> words.merge(("a", "b"), "ab")
    [0]
    >>> words.words, words.counts, words.length
    ([('ab', 'ab'), ('b', 'a')], {('b', 'a'): 1, ('ab', 'ab'): 2}, 6)
    """

    def __init__(
        self,
        words: Mapping[tuple[Symbol, ...], int] | Iterable[tuple[tuple[Symbol, ...], int]],
        pairs_of: Callable[[tuple[Symbol, ...]], Iterable[tuple[Symbol, Symbol]]] | None = None,
    ) -> None:
        """Count the pairs of words.

        Args:
            words: Words with their frequencies.
            pairs_of: Returns the pairs of a word to count; None for all neighbours, including overlapping ones.
        """
        items = list(words.items() if isinstance(words, Mapping) else words)
        self.words = [word for word, _ in items]
        self.frequencies = [frequency for _, frequency in items]
        self.pairs_of: Callable[[tuple[Symbol, ...]], Iterable[tuple[Symbol, Symbol]]] = pairs_of or pairwise
        self.counts: dict[tuple[Symbol, Symbol], int] = {}
        self.length = 0
        self._where: dict[tuple[Symbol, Symbol], set[int]] = {}
        for number in range(len(items)):
            self._add(number)

    def _add(self, number: int) -> None:
        frequency = self.frequencies[number]
        self.length += frequency * len(self.words[number])
        for pair in self.pairs_of(self.words[number]):
            self.counts[pair] = self.counts.get(pair, 0) + frequency
            self._where.setdefault(pair, set()).add(number)

    def _remove(self, number: int) -> None:
        frequency = self.frequencies[number]
        self.length -= frequency * len(self.words[number])
        for pair in self.pairs_of(self.words[number]):
            self.counts[pair] -= frequency
            self._where[pair].discard(number)
            if not self.counts[pair]:
                del self.counts[pair]

    def replace(self, number: int, word: tuple[Symbol, ...]) -> None:
        """Cut a word, given by its number, in another way."""
        self._remove(number)
        self.words[number] = word
        self._add(number)

    def merge(self, pair: tuple[Symbol, Symbol], product: Symbol) -> list[int]:
        """Replace a pair by its product everywhere; return the numbers of the words that changed."""
        numbers = sorted(self._where.get(pair, ()))
        for number in numbers:
            self.replace(number, merge_word(self.words[number], pair, product))
        return numbers

    def recount(self, numbers: Iterable[int], change: Callable[[], None]) -> None:
        """Make a change that affects what ``pairs_of`` returns for some words, and count their pairs again."""
        numbers = list(numbers)
        for number in numbers:
            self._remove(number)
        change()
        for number in numbers:
            self._add(number)

    def forget(self, pair: tuple[Symbol, Symbol]) -> None:
        """Stop counting a pair, which ``pairs_of`` no longer returns."""
        self.counts.pop(pair, None)
        self._where.pop(pair, None)
