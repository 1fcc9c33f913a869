"""Write text in subwords: ``low@@ er``, as subword-nmt's ``apply-bpe`` does (Sennrich et al., arXiv:1508.07909).

Here a word's text is kept, whatever the vocabulary has: no ids, nothing unknown. Where subword-nmt's
answer is an accident of its code (glossaries with groups or alternatives, a vocabulary without words)
this gives what its documentation says; the tests name each case.
"""

from __future__ import annotations

import heapq
import random
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

from bpe_cli.errors import UsageError

_CACHE_WORDS = 1 << 16
"""Words whose segmentation is remembered; more than that begin anew."""

Encoder = Callable[[str], list[str]]
"""Cuts a word into subwords, the last with what marks the end of a word."""


class Segmenter:
    """Cut the words of lines into subwords.

    Args:
        merges: Pairs in order of priority; of a pair that stands twice the first counts.
        suffix: What marks the end of a word in them.
        separate_suffix: Whether it is a symbol of its own (codes of version 0.1).
        vocabulary: Subwords that may be written, with ``separator`` where a word goes on: all others are
            taken apart again, merge by merge, down to characters. None: all may be.
        glossaries: Expressions in the syntax of ``re``; what they match in a word is left whole, and
            apart from the rest of the word.
        separator: What stands after a subword that does not end its word.
        dropout: Probability to leave out each place of a merge, drawn anew at each step (Provilkov et
            al., arXiv:1910.13267).
        seed: What draws depend on, with the number of the line.
        encode_word: Cuts words instead of the merges; it is not called for words of one character.

    Raises:
        UsageError: A glossary does not compile, or ``dropout`` is no probability.

    >>> Segmenter([("l", "o"), ("lo", "w</w>")]).segment("low  lower")
    'low lo@@ w@@ e@@ r'
    """

    def __init__(
        self,
        merges: Iterable[tuple[str, str]],
        suffix: str = "</w>",
        *,
        separate_suffix: bool = False,
        vocabulary: Collection[str] | None = None,
        glossaries: Sequence[str] = (),
        separator: str = "@@",
        dropout: float = 0.0,
        seed: int = 0,
        encode_word: Encoder | None = None,
    ) -> None:
        if not 0 <= dropout <= 1:
            raise UsageError(f"a dropout of {dropout} is no probability: it lies between 0 and 1")
        self._ranks: dict[tuple[str, str], int] = {}
        self._parts: dict[str, tuple[str, str]] = {}
        for left, right in merges:
            self._ranks.setdefault((left, right), len(self._ranks))
            self._parts.setdefault(left + right, (left, right))
        self._suffix, self._separate = suffix, separate_suffix
        self._vocabulary = vocabulary
        self._glossaries = [_compile(glossary) for glossary in glossaries]
        self._separator = separator
        self._dropout, self._seed = dropout, seed
        self._encode_word = encode_word
        self._cache: dict[str, list[str]] = {}

    def line(self, line: str, number: int = 0) -> str:
        """Segment a line, and keep the blanks and line ends around it.

        Blanks inside become one. ``number`` is the line's in the whole input: draws depend on it.
        """
        stripped = line.strip("\r\n ")
        if not stripped:
            return line
        start = line.index(stripped)
        return line[:start] + self.segment(stripped, number) + line[start + len(stripped) :]

    def segment(self, text: str, number: int = 0) -> str:
        """Segment words with blanks between them, and write them so."""
        draw = random.Random(f"{self._seed} {number}") if self._dropout else None
        separated: list[str] = []
        for word in text.split(" "):
            if word:
                *inner, last = self._word(word, draw)
                separated += [part + self._separator for part in inner]
                separated.append(last)
        return " ".join(separated)

    def word(self, word: str) -> list[str]:
        """Give the subwords of a word (not empty), glossaries left whole. Without dropout."""
        return self._word(word, None)

    def _word(self, word: str, draw: random.Random | None) -> list[str]:
        stretches = [(word, False)]
        for glossary in self._glossaries:
            stretches = [
                found for text, whole in stretches for found in ([(text, True)] if whole else _isolate(text, glossary))
            ]
        return [part for text, whole in stretches for part in ([text] if whole else self._subwords(text, draw))]

    def _subwords(self, text: str, draw: random.Random | None) -> list[str]:
        if len(text) == 1:
            return [text]
        known = self._cache.get(text) if draw is None else None
        if known is not None:
            return known
        if draw is None and self._encode_word is not None:
            parts = self._encode_word(text)
        else:
            symbols = [*text, self._suffix] if self._separate else [*text[:-1], text[-1] + self._suffix]
            merge = merge_by_rank if draw is None else merge_with_dropout
            parts = merge(symbols, self._ranks, *((self._dropout, draw) if draw else ()))
        if parts[-1] == self._suffix:
            parts = parts[:-1]
        else:
            parts = [*parts[:-1], parts[-1].removesuffix(self._suffix)]
        if self._vocabulary is not None:
            last = len(parts) - 1
            parts = [known for place, part in enumerate(parts) for known in self._take_apart(part, place == last)]
        if draw is None:
            if len(self._cache) >= _CACHE_WORDS:
                self._cache.clear()
            self._cache[text] = parts
        return parts

    def _take_apart(self, part: str, final: bool) -> list[str]:
        """Undo merges until all is in the vocabulary, or is no product."""
        done: list[str] = []
        waiting = [(part, final)]
        while waiting:
            text, final = waiting.pop()
            pair = None
            if not self._is_known(text, final):
                pair = self._parts.get(text + self._suffix if final else text)
                while pair is not None and final and pair[1] == self._suffix:
                    pair = self._parts.get(pair[0])  # the suffix alone is no subword
            if pair is None:
                done.append(text)
            else:
                right = pair[1].removesuffix(self._suffix) if final else pair[1]
                waiting += [(right, final), (pair[0], False)]
        return done

    def _is_known(self, text: str, final: bool) -> bool:
        return self._vocabulary is not None and (text if final else text + self._separator) in self._vocabulary


def _compile(glossary: str) -> re.Pattern[str]:
    try:
        return re.compile(glossary)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"the glossary {glossary!r} does not compile: {error}") from error


def _isolate(word: str, glossary: re.Pattern[str]) -> list[tuple[str, bool]]:
    """Cut a word into what a glossary matches (True) and what stands between."""
    if glossary.fullmatch(word):
        return [(word, True)]
    stretches = []
    position = 0
    for match in glossary.finditer(word):
        if match.end() > match.start():
            stretches += [(word[position : match.start()], False), (match[0], True)]
            position = match.end()
    stretches.append((word[position:], False))
    return [(text, whole) for text, whole in stretches if text]


def merge_by_rank(symbols: Sequence[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    """Take the pair with the lowest rank and merge it everywhere from left to right, again and again.

    A pair with a lower rank that comes about on the way waits until then. Complexity: n log n.

    >>> merge_by_rank("abab", {("a", "b"): 0, ("ab", "ab"): 1})
    ['abab']
    """
    texts = list(symbols)  # "": merged into what stands before
    after = list(range(1, len(texts) + 1))
    before = list(range(-1, len(texts) - 1))
    heap: list[tuple[int, int]] = []

    def rank_at(left: int) -> int | None:
        return ranks.get((texts[left], texts[after[left]])) if after[left] < len(texts) else None

    def push(left: int) -> None:
        rank = rank_at(left)
        if rank is not None:
            heapq.heappush(heap, (rank, left))

    for place in range(len(texts)):
        push(place)
    while heap:
        rank = heap[0][0]
        merged = []
        while heap and heap[0][0] == rank:
            _, left = heapq.heappop(heap)
            if not texts[left] or rank_at(left) != rank:
                continue  # a neighbour was merged since
            right = after[left]
            texts[left] += texts[right]
            texts[right] = ""
            after[left] = after[right]
            if after[left] < len(texts):
                before[after[left]] = left
            merged.append(left)
        for left in merged:
            if before[left] >= 0:
                push(before[left])
            push(left)
    return [text for text in texts if text]


def merge_with_dropout(
    symbols: Sequence[str], ranks: dict[tuple[str, str], int], dropout: float, draw: random.Random
) -> list[str]:
    """The same, with each place of a pair left out with a probability, drawn anew at each step.

    Complexity: length times number of steps, as every place is drawn for at every step.
    """
    parts = list(symbols)
    while len(parts) > 1:
        found = [
            (ranks[pair], place)
            for place, pair in enumerate(pairwise(parts))
            if pair in ranks and draw.random() > dropout
        ]
        if not found:
            break
        rank = min(found)[0]
        places = {place for each, place in found if each == rank}
        merged: list[str] = []
        place = 0
        while place < len(parts):
            width = 2 if place in places else 1
            merged.append("".join(parts[place : place + width]))
            place += width
        parts = merged
    return parts
