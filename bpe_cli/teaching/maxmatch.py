"""Learn dictionaries by joining neighbours in rounds.

Source: a Chinese segmenter "by the principle of byte-pair encoding" (pluveto/bpe_v3). Unlike byte-pair encoding, a
round joins all pairs that are frequent enough at once, and a pair is identified only by its text.

A *line* is a list of words, at first its characters; a ``#`` that is not a character stands for punctuation, which
no join crosses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bpe_cli.teaching.stand_in import StandIn

BREAK = StandIn("#")
"""Punctuation, or whitespace. A ``#`` of the text is a character like any other."""

NO_WHITE_SPACE = "\x1c\x1d\x1e\x1f"
"""ASCII separators that count as whitespace for ``str.isspace``, but not for Unicode."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How frequent a pair must be to be joined.

    Attributes:
        factors: The rank of each round, as a multiple of the number of lines divided by ``lines_per_word``;
            rounds beyond the last factor use that one.
        lines_per_word: See ``factors``.
        lines_per_count: The threshold is at least the number of lines divided by this.
        ratio: A pair is not joined if its first word, itself a pair, occurs more than this many times as often.
    """

    factors: Sequence[float] = (1.5, 1.3, 1.1, 1.0)
    lines_per_word: float = 12
    lines_per_count: float = 2000
    ratio: float = 1.1

    def threshold(self, round_number: int, lines: int, counts: Sequence[int]) -> float:
        """Return what a count must exceed: the count of the word at the round's rank, or the share of the lines.

        Args:
            round_number: From 1.
            lines: How many different lines there are.
            counts: The counts of all pairs, in descending order; at least one.

        >>> Rules().threshold(1, lines=24, counts=[9, 7, 5, 3])
        5
        """
        factor = self.factors[min(round_number, len(self.factors)) - 1]
        rank = int(int(lines / self.lines_per_word) * factor)
        return max(lines / self.lines_per_count, counts[: max(rank, 1)][-1])


@dataclass(frozen=True, slots=True)
class Round:
    """The effect of one round.

    Attributes:
        number: From 1.
        words: All pairs with their counts, most frequent first.
        threshold: What a count had to exceed.
        lines: The lines after the round.
    """

    number: int
    words: list[tuple[str, int]]
    threshold: float
    lines: list[list[str]]


def prepare(lines: Iterable[str], breaks: Collection[str], *, joins_over_space: bool = True) -> list[list[str]]:
    """Sort lines, keep each distinct one once, and spell them as characters.

    Args:
        lines: The lines.
        breaks: Characters that become breaks.
        joins_over_space: Whether whitespace is removed; otherwise, it becomes breaks too.

    >>> prepare(["好 。", "你 好 ！", "你好！"], "。！")
    [['你', '好', '#'], ['好', '#']]
    """
    if joins_over_space:
        lines = ("".join(character for character in line if not is_space(character)) for line in lines)
    different = sorted({line for line in lines if line})
    return [
        [BREAK if character in breaks or is_space(character) else character for character in line] for line in different
    ]


def is_space(character: str) -> bool:
    """Return whether a character is whitespace.

    >>> is_space("\\u3000"), is_space("\\x1c")
    (True, False)
    """
    return character.isspace() and character not in NO_WHITE_SPACE


def count_pairs(lines: Iterable[Sequence[str]]) -> Counter[str]:
    """Count the texts of neighbouring words, in order of first occurrence; breaks are in none of them.

    >>> count_pairs([["调", "度", BREAK, "调", "度"], ["软", "实", "时"], ["#", "时"]])
    Counter({'调度': 2, '软实': 1, '实时': 1, '#时': 1})
    """
    return Counter(left + right for line in lines for left, right in pairwise(line) if BREAK not in (left, right))


def join(line: Sequence[str], counts: Mapping[str, int], threshold: float, ratio: float = 1.1) -> list[str]:
    """Join the neighbours of a line that are frequent enough, from left to right.

    After a join, the next word rests: it is not joined in this round.

    >>> join(list("应该运行"), {"应该": 2, "该运": 1, "运行": 2}, threshold=1)
    ['应该', '运', '行']
    >>> join(["时", BREAK, "运", "行"], {"运行": 2}, threshold=1)
    ['时', '#', '运行']
    >>> counts = {"写代码": 10, "代码": 90, "大圣": 48, "大圣道": 20}
    >>> join(["写", "代码"], counts, threshold=1), join(["大圣", "道"], counts, threshold=1)
    (['写代码'], ['大圣', '道'])
    """
    words = list(line)
    place = 0
    while place < len(words) - 1:
        first, second = words[place : place + 2]
        count = counts.get(first + second, 0)
        if BREAK not in (first, second) and count > threshold and counts.get(first, 0) / count <= ratio:
            words[place : place + 2] = [first + second]
            place += 1
        place += 1
    return words


def learn(lines: Iterable[Sequence[str]], rounds: int = 4, rules: Rules | None = None) -> Iterator[Round]:
    """Count and join, round by round, until no pair is left.

    >>> lines = [list("调度实时"), list("实时调度"), list("硬实时")]
    >>> first, second = learn(lines, rounds=2, rules=Rules(lines_per_word=1))
    >>> first.words, first.threshold
    ([('实时', 3), ('调度', 2), ('度实', 1), ('时调', 1), ('硬实', 1)], 1)
    >>> first.lines
    [['调度', '实', '时'], ['实时', '调', '度'], ['硬', '实时']]
    >>> second.words
    [('调度实', 1), ('实时', 1), ('实时调', 1), ('调度', 1), ('硬实时', 1)]
    """
    rules = rules or Rules()
    present = [list(line) for line in lines]
    for number in range(1, rounds + 1):
        counts = count_pairs(present)
        if not counts:
            return
        words = sorted(counts.items(), key=lambda item: item[1], reverse=True)  # equals keep their order
        threshold = rules.threshold(number, len(present), [count for _, count in words])
        present = [join(line, counts, threshold, rules.ratio) for line in present]
        yield Round(number, words, threshold, present)
