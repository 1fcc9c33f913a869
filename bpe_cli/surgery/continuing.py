"""Go on with byte-pair encoding in Python, with ties decided as tokenizer-extension decides them.

Source: Purason et al., arXiv:2512.03989, and their code. It is what ``_core.resume_bpe`` does but for the tie: the most
frequent pair, overlapping windows counted, and of equals the one with the smallest (left text, right text).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

from bpe_cli.surgery.operation import Progress

_Pair = tuple[int, int]
_Entry = tuple[int, str, str, _Pair]


class Continued:
    """A corpus as tokens, and the pairs in it.

    Args:
        words: Pieces as ids; merging changes them.
        numbers: How often each occurs.
        tokens: Texts by id; an empty one is left alone.
        reserved: Texts that no product has.
        prefix: Stands before every symbol of a word but the first; a product leaves out its right part's.
        longest: Most bytes in a product; None for no limit.
        written: How a text is written for comparing.
    """

    def __init__(
        self,
        words: list[list[int]],
        numbers: Iterable[int],
        tokens: Iterable[bytes],
        reserved: Collection[bytes],
        prefix: bytes,
        longest: int | None,
        written: Callable[[bytes], str],
    ) -> None:
        self._words, self._numbers, self._tokens = words, [*numbers], [*tokens]
        self._reserved, self._prefix, self._longest, self._written = reserved, prefix, longest, written
        self._ids = {text: token_id for token_id, text in enumerate(self._tokens) if text}
        self._keys = [written(text) for text in self._tokens]
        self._counts: dict[_Pair, int] = {}
        self._places: dict[_Pair, set[int]] = {}
        for place in range(len(words)):
            self._put(place, words[place])

    def run(self, number: int, minimum: int, progress: Progress | None) -> tuple[list[bytes], array[int], bool]:
        """Learn tokens; return their texts, the merges, flat, and whether no pair was left before there were enough."""
        first = len(self._tokens)
        merges = array("I")
        queue = [self._entry(pair) for pair in self._counts]
        heapify(queue)
        while len(self._tokens) < first + number:
            pair = self._best(queue, minimum)
            if pair is None:
                return self._tokens[first:], merges, True
            product = self._product(pair)
            merges.extend((*pair, product))
            for changed in self._merge(pair, product):
                heappush(queue, self._entry(changed))
            if progress is not None:
                progress(len(self._tokens), first + number)
        return self._tokens[first:], merges, False

    def _entry(self, pair: _Pair) -> _Entry:
        return -self._counts[pair], self._keys[pair[0]], self._keys[pair[1]], pair

    def _best(self, queue: list[_Entry], minimum: int) -> _Pair | None:
        """Take the best pair; an entry whose count has changed since is passed over: there is a newer one."""
        while queue:
            negative, _, _, pair = heappop(queue)
            if -negative == self._counts.get(pair) and -negative >= minimum and self._may_be(self._text(pair)):
                return pair
        return None

    def _text(self, pair: _Pair) -> bytes:
        return self._tokens[pair[0]] + self._tokens[pair[1]].removeprefix(self._prefix)

    def _may_be(self, product: bytes) -> bool:
        return product not in self._reserved and (self._longest is None or len(product) <= self._longest)

    def _product(self, pair: _Pair) -> int:
        """Return the id of a pair's product: a token that there is, or a new one."""
        text = self._text(pair)
        token_id = self._ids.setdefault(text, len(self._tokens))
        if token_id == len(self._tokens):
            self._tokens.append(text)
            self._keys.append(self._written(text))
        return token_id

    def _merge(self, pair: _Pair, product: int) -> set[_Pair]:
        """Merge a pair wherever it stands, from left to right; return the pairs whose counts changed."""
        changed: set[_Pair] = set()
        for place in self._places.pop(pair):
            word = self._words[place]
            new: list[int] = []
            at = 0
            while at < len(word):
                if at + 1 < len(word) and (word[at], word[at + 1]) == pair:
                    new.append(product)
                    at += 2
                else:
                    new.append(word[at])
                    at += 1
            if len(new) < len(word):
                changed.update(self._put(place, word, -1), self._put(place, new))
                self._words[place] = new
        self._counts.pop(pair, None)
        return {each for each in changed if self._counts.get(each)}

    def _put(self, place: int, word: Sequence[int], sign: int = 1) -> set[_Pair]:
        """Count a word's pairs, or with -1 take them back; return them."""
        pairs = set()
        for pair in pairwise(word):
            if self._tokens[pair[0]] and self._tokens[pair[1]]:
                self._counts[pair] = self._counts.get(pair, 0) + sign * self._numbers[place]
                pairs.add(pair)
        if sign > 0:
            for pair in pairs:
                self._places.setdefault(pair, set()).add(place)
        return pairs
