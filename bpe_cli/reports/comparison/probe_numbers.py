"""Measure how numbers are cut: into how many tokens, where, and whether all of a length alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bpe_cli.reports.comparison.boundaries import Cutter

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

DIGITS = 12
"""Numbers have up to so many digits."""

SAMPLED = 500
"""Of numbers with more than four digits so many of each length are asked; of shorter ones, all."""

Grouping = Literal["left to right", "right to left", "single digits", "irregular"]

EXAMPLES = (
    "-1", "-12345", "+7", "3.14159", "1,234,567", "1_000_000", "1e-9", "6.022e23", "99.9%", "$1,250.00",
    "2024-02-29", "29.02.2024", "12:34:56", "2031-07-19T04:08:15Z", "192.168.0.1", "0xFF", "0xDEADBEEF", "#ff8800",
    "v1.10.2", "3/4",
)  # fmt: skip
"""Numbers as they stand in texts: signs, decimals, dates, hexadecimal."""


@dataclass(frozen=True, slots=True)
class LengthResult:
    """How one tokenizer cuts numbers of one length.

    Attributes:
        fewest: Tokens of the number with the fewest.
        most: Tokens of the number with the most.
        usual: The cut that most have, as the digits of each token; of two as frequent ones the smaller tuple. It is
            empty for a number of which something is unknown or left out: such a number counts as having no tokens.
        consistency: Share of the numbers that are cut so.
    """

    digits: int
    numbers: int
    mean_tokens: float
    fewest: int
    most: int
    usual: tuple[int, ...]
    consistency: float


@dataclass(frozen=True, slots=True)
class NumberResult:
    """How one tokenizer cuts numbers.

    Attributes:
        lengths: By number of digits, from 1 to ``DIGITS``.
        one_token: How many of 0 to 9999 are one token at the beginning of a text.
        one_token_spaced: How many of them are one token with a space before, that space in the token or in none.
        grouping: Whether every number is cut into groups of equal size from its left or its right, or into single
            digits; irregular where one is not.
        group_size: Digits in such a group; None where it is irregular.
        consistency: Share of all numbers that have their length's usual cut.
        examples: For each of ``EXAMPLES`` the parts it is cut into, in bytes.
    """

    lengths: tuple[LengthResult, ...]
    one_token: int
    one_token_spaced: int
    grouping: Grouping
    group_size: int | None
    consistency: float
    examples: tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True, slots=True)
class NumberProbe:
    """How tokenizers cut numbers."""

    results: tuple[NumberResult, ...]


def probe_numbers(tokenizers: Sequence[Tokenizer], *, threads: int = 1) -> NumberProbe:
    """Measure how numbers are cut, each a text of its own.

    A token counts for a number when it covers a digit of it: a mark before the first word is none.
    """
    return NumberProbe(tuple(_result(Cutter(tokenizer, threads=threads)) for tokenizer in tokenizers))


def sampled(digits: int) -> list[bytes]:
    """Return numbers of a length, without leading zeros: all up to four digits, else ``SAMPLED`` spread evenly.

    >>> sampled(1)[:3], len(sampled(4)), sampled(5)[:2]
    ([b'0', b'1', b'2'], 9000, [b'10000', b'65623'])
    """
    low, high = (10 ** (digits - 1) if digits > 1 else 0), 10**digits
    if digits <= 4:
        return [b"%d" % number for number in range(low, high)]
    # Steps by the golden ratio, in whole numbers, spread evenly and repeat no digit's rhythm.
    span = high - low
    step = span * 618_033_988_749_895 // 10**15 | 1
    return [b"%d" % (low + number * step % span) for number in range(SAMPLED)]


def _result(cutter: Cutter) -> NumberResult:
    lengths = []
    one_token = alike = asked = 0
    for digits in range(1, DIGITS + 1):
        numbers = sampled(digits)
        cuts = [*cuts_of(cutter, numbers)]
        if digits <= 4:
            one_token += sum(len(cut) == 1 for cut in cuts)
        tally = Counter(cuts)
        usual, times = min(tally.items(), key=lambda item: (-item[1], item[0]))
        sizes = [len(cut) for cut in cuts]
        lengths.append(
            LengthResult(digits, len(cuts), sum(sizes) / len(cuts), min(sizes), max(sizes), usual, times / len(cuts))
        )
        alike += times
        asked += len(cuts)
    spaced = cuts_of(cutter, [b" %d" % number for number in range(10_000)])
    # " 42" is one token, or a space by itself and one token.
    one_spaced = sum(len(cut) == 1 or (len(cut) == 2 and cut[0] == 1) for cut in spaced)
    examples = [example.encode() for example in EXAMPLES]
    shown = tuple(_parts(text, cut) for text, cut in zip(examples, cuts_of(cutter, examples), strict=True))
    grouping, size = grouping_of([each.usual for each in lengths]) if alike == asked else ("irregular", None)
    return NumberResult(tuple(lengths), one_token, one_spaced, grouping, size, alike / asked, shown)


def cuts_of(cutter: Cutter, numbers: Sequence[bytes]) -> Iterator[tuple[int, ...]]:
    """Yield how many bytes each token of a number covers; no token counts if any of the number is lost."""
    for _, ends, lost in cutter.cut_and_lost(numbers):
        yield () if lost else groups(ends)


def groups(ends: Sequence[int]) -> tuple[int, ...]:
    """Return how many bytes each token covers; those that cover none are left out.

    >>> groups([0, 3, 4])
    (3, 1)
    """
    sizes, start = [], 0
    for end in ends:
        if end > start:
            sizes.append(end - start)
            start = end
    return tuple(sizes)


def grouping_of(cuts: Sequence[tuple[int, ...]]) -> tuple[Grouping, int | None]:
    """Return the rule by which numbers of growing length are cut, if there is one.

    >>> grouping_of([(1,), (2,), (3,), (3, 1), (3, 2)])
    ('left to right', 3)
    >>> grouping_of([(1,), (2,), (3,), (1, 3), (2, 3)])
    ('right to left', 3)
    >>> grouping_of([(1,), (1, 1)]), grouping_of([(1,), (2,), (3,), (2, 2)])
    (('single digits', 1), ('irregular', None))
    >>> grouping_of([(), ()])
    ('irregular', None)
    """
    if not all(cuts):  # some have no token at all
        return "irregular", None
    size = max(max(cut) for cut in cuts)
    if size == 1:
        return "single digits", 1
    if all(cut == _from_left(sum(cut), size) for cut in cuts):
        return "left to right", size
    if all(cut == _from_left(sum(cut), size)[::-1] for cut in cuts):
        return "right to left", size
    return "irregular", None


def _from_left(digits: int, size: int) -> tuple[int, ...]:
    whole, rest = divmod(digits, size)
    return (size,) * whole + ((rest,) if rest else ())


def _parts(text: bytes, cut: Sequence[int]) -> tuple[bytes, ...]:
    parts, start = [], 0
    for size in cut:
        parts.append(text[start : start + size])
        start += size
    return tuple(parts)
