"""Measure tokens against marked words, as for languages that are written without spaces.

Between two neighbouring words is a *border*: a place, or the stretch of blanks between them. A boundary of tokens hits
a border if it lies in that stretch or at its ends. The beginning and the end of a text are neither.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.boundaries import Cutter, Span, cut_words
from bpe_cli.reports.comparison.measures import Ratio

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

Words = Sequence[tuple[str, bool]]
"""The parts of a text in order, and for each whether it is a word."""


@dataclass(frozen=True, slots=True)
class WordCost:
    """What one tokenizer makes of the words of one file.

    Attributes:
        word_count: Words.
        token_count: Tokens of the texts.
        uncut: Words without a boundary of tokens inside, also inside a character whose bytes are tokens.
        one_token: Those of them whose token has no part of another word: one token by themselves, but for blanks. A
            word of which something is unknown or left out does not count.
        border_count: Borders between words.
        hit_borders: Those of them at which a token ends.
        boundary_count: Boundaries of tokens, each place in a text once.
        hit_boundaries: Those of them that lie at a border.
        unknown_count: Tokens that stand for text not in the vocabulary, and what is left out instead.
    """

    word_count: int
    token_count: int
    uncut: int
    one_token: int
    border_count: int
    hit_borders: int
    boundary_count: int
    hit_boundaries: int
    unknown_count: int

    fertility = Ratio("token_count", "word_count")
    """Tokens per word."""
    uncut_share = Ratio("uncut", "word_count")
    """Share of words that no boundary cuts."""
    one_token_share = Ratio("one_token", "word_count")
    """Share of words that are one token by themselves."""
    precision = Ratio("hit_boundaries", "boundary_count")
    """Share of the tokens' boundaries that lie between words."""
    recall = Ratio("hit_borders", "border_count")
    """Share of the borders between words at which a token ends."""

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where one of them has no value, or both are 0."""
        if not self.precision or not self.recall:
            return None if self.precision is None or self.recall is None else 0.0
        return 2 * self.precision * self.recall / (self.precision + self.recall)


@dataclass(frozen=True, slots=True)
class WordProbe:
    """Texts whose words were given.

    Attributes:
        names: The files.
        text_counts: How many texts each has.
        byte_counts: How many bytes these have, without what separates words in the file.
        results: For each tokenizer, what it makes of each file.
    """

    names: tuple[str, ...]
    text_counts: tuple[int, ...]
    byte_counts: tuple[int, ...]
    results: tuple[tuple[WordCost, ...], ...]


def probe_words(
    tokenizers: Sequence[Tokenizer], files: Mapping[str, Sequence[Words]], *, threads: int = 1
) -> WordProbe:
    """Measure tokens against given words.

    Args:
        tokenizers: The tokenizers.
        files: The texts of each file, with their words.
        threads: How many threads encode; they change no result.

    Raises:
        InputError: if a byte of a text has no token.
    """
    texts = {name: [laid_out(words) for words in each] for name, each in files.items()}
    results = []
    for tokenizer in tokenizers:
        cutter = Cutter(tokenizer, threads=threads)
        results.append(tuple(_cost(cutter, each) for each in texts.values()))
    sizes = tuple(sum(len(text) for text, _ in each) for each in texts.values())
    return WordProbe(tuple(texts), tuple(map(len, texts.values())), sizes, tuple(results))


def laid_out(words: Words) -> tuple[bytes, list[Span]]:
    """Return a text, and where its words lie in it, in bytes.

    >>> laid_out([("New", True), (" ", False), ("York", True)])
    (b'New York', [(0, 3), (4, 8)])
    """
    parts: list[bytes] = []
    spans: list[Span] = []
    place = 0
    for part, is_word in words:
        content = part.encode()
        if is_word:
            spans.append((place, place + len(content)))
        parts.append(content)
        place += len(content)
    return b"".join(parts), spans


def borders_of(spans: Sequence[Span]) -> list[Span]:
    """Return the stretches between neighbouring words; an empty one where nothing is between them.

    >>> borders_of([(0, 2), (2, 3), (4, 5)])
    [(2, 2), (3, 4)]
    """
    return [(one[1], other[0]) for one, other in pairwise(spans)]


def _cost(cutter: Cutter, texts: Sequence[tuple[bytes, list[Span]]]) -> WordCost:
    """Add up what a tokenizer makes of texts."""
    sums = [0] * 9
    cuts = cutter.cut_and_lost([text for text, _ in texts])
    for (text, words), (ids, ends, lost) in zip(texts, cuts, strict=True):
        size = len(text)
        boundaries = sorted({end for end in ends if 0 < end < size})
        cut = cut_words(words, boundaries) | _cut_in_a_character(words, ends)
        hit_borders, hit_boundaries = _hits(borders_of(words), boundaries)
        uncut = [number for number in range(len(words)) if number not in cut]
        places = [0, *boundaries, size]
        one_token = 0
        for number in uncut:
            first, last = _stretch_around(words[number], places)
            single = bisect_right(ends, last) - bisect_right(ends, first) == 1
            known = single and not _is_lost_in_part(words[number], lost)
            one_token += known and _stands_alone(words, number, (first, last), size)
        counts = (
            len(words), len(ids), len(uncut), one_token, max(len(words) - 1, 0), hit_borders, len(boundaries),
            hit_boundaries, len(lost),
        )  # fmt: skip
        sums = [total + each for total, each in zip(sums, counts, strict=True)]
    return WordCost(*sums)


def _cut_in_a_character(words: Sequence[Span], ends: Sequence[int]) -> set[int]:
    """Return the numbers of the words in which several tokens end at one place, as the bytes of a character do.

    >>> _cut_in_a_character([(0, 3), (3, 6)], [3, 6, 6, 6])
    {1}
    """
    numbers = set()
    for place, times in Counter(ends).items():
        number = bisect_left(words, place, key=lambda word: word[1])
        if times > 1 and number < len(words) and words[number][0] < place:
            numbers.add(number)
    return numbers


def _hits(borders: Sequence[Span], boundaries: Sequence[int]) -> tuple[int, int]:
    """Count the borders that have a boundary, and the boundaries that lie at a border; both ascend."""
    hit_borders = hit_boundaries = place = 0
    for start, end in borders:
        while place < len(boundaries) and boundaries[place] < start:
            place += 1
        here = 0
        while place < len(boundaries) and boundaries[place] <= end:
            place, here = place + 1, here + 1
        hit_boundaries += here
        hit_borders += here > 0
    return hit_borders, hit_boundaries


def _is_lost_in_part(word: Span, lost: Sequence[Span]) -> bool:
    """Return whether one of the lost spans, which ascend, has a part of a word; an empty one has what ends there.

    >>> [_is_lost_in_part((2, 4), [span]) for span in ((0, 2), (0, 3), (3, 9), (4, 4), (4, 5))]
    [False, True, True, True, False]
    """
    number = bisect_right(lost, word[0], key=lambda span: span[1])
    return number < len(lost) and (lost[number][0] < word[1] or lost[number][1] == word[1])


def _stretch_around(word: Span, places: Sequence[int]) -> Span:
    """Return the stretch between neighbouring places that an uncut word lies in."""
    return places[bisect_right(places, word[0]) - 1], places[bisect_left(places, word[1])]


def _stands_alone(words: Sequence[Span], number: int, stretch: Span, size: int) -> bool:
    """Return whether the stretch around an uncut word has no part of the words beside it."""
    before = words[number - 1][1] if number else 0
    after = words[number + 1][0] if number + 1 < len(words) else size
    return stretch[0] >= before and stretch[1] <= after
