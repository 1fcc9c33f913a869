"""Count tokens that are runs of one thing: white space, digits, a character again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from bpe_cli.reports.tokenizer.contents import Contents, NamedToken
from bpe_cli.reports.white_space import WHITE_SPACE

DIGIT_LENGTHS = 3
"""Numbers of so many digits are asked for in any case; longer ones only if there are any."""

MISSING_NUMBERS = 20
"""How many of the numbers without a token are named."""

FEWEST_REPEATS = 4
"""Repeated so often, something is a long repeat."""

REPEATS = 10
"""How many long repeats are reported."""

_SPACES = {" ": "spaces", "\t": "tabs", "\n": "newlines", "\r": "carriage returns", "\r\n": "CR LF pairs"}


@dataclass(frozen=True, slots=True)
class WhiteSpaceRun:
    """Tokens that are runs of one kind of white space.

    Attributes:
        kind: What is repeated; ``mixed`` for everything else that is only white space, whose lengths are in characters.
        tokens: How many tokens.
        stretches: The lengths that have a token, as (first, last).
        longest: The greatest length.
    """

    kind: str
    tokens: int
    stretches: tuple[tuple[int, int], ...]
    longest: int


@dataclass(frozen=True, slots=True)
class DigitRun:
    """Which numbers of a length in ASCII digits are one token.

    Attributes:
        length: How many digits.
        possible: Ten to the power of ``length``.
        present: How many of them are a token without a space before them.
        present_spaced: How many are one with a space before them.
        missing: The first that are no token, if some of this length are.
    """

    length: int
    possible: int
    present: int
    present_spaced: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Tokens that are one thing at least ``FEWEST_REPEATS`` times.

    Attributes:
        unit: What is repeated.
        tokens: How many tokens.
        longest: The longest of them.
        times: How often that one repeats the unit.
    """

    unit: str
    tokens: int
    longest: NamedToken
    times: int


def stretches_of(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Write numbers as stretches.

    >>> stretches_of([1, 2, 3, 7])
    ((1, 3), (7, 7))
    """
    stretches: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if stretches and stretches[-1][1] == number - 1:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return tuple(stretches)


def white_space_runs(contents: Contents) -> tuple[WhiteSpaceRun, ...]:
    """Count the tokens that are only white space, by kind, in the order of kinds."""
    lengths: dict[str, list[int]] = defaultdict(list)
    for text in contents.texts.values():
        if text[0] in WHITE_SPACE and WHITE_SPACE.issuperset(text):
            unit = text[:2] if text.startswith("\r\n") else text[0]
            times = len(text) // len(unit)
            kind = _SPACES.get(unit)
            lengths[kind if kind is not None and text == unit * times else "mixed"].append(
                times if kind is not None and text == unit * times else len(text)
            )
    return tuple(
        WhiteSpaceRun(kind, len(lengths[kind]), stretches_of(lengths[kind]), max(lengths[kind]))
        for kind in (*_SPACES.values(), "mixed")
        if kind in lengths
    )


def digit_runs(contents: Contents) -> tuple[DigitRun, ...]:
    """Count which numbers are one token, by their length in digits."""
    plain: dict[int, set[bytes]] = defaultdict(set)
    spaced: dict[int, set[bytes]] = defaultdict(set)
    for content in contents.meanings.values():
        number = content.removeprefix(b" ")
        if number.isdigit():
            (plain if len(number) == len(content) else spaced)[len(number)].add(number)
    return tuple(
        DigitRun(length, 10**length, len(plain[length]), len(spaced[length]), tuple(_missing(plain[length], length)))
        for length in sorted({*range(1, DIGIT_LENGTHS + 1), *plain, *spaced})
    )


def _missing(present: set[bytes], length: int) -> Iterable[str]:
    """Yield the first numbers that have no token; none where no number has one, or all of a length that is long."""
    if not present or length > DIGIT_LENGTHS:
        return
    named = 0
    for number in range(10**length):
        text = f"{number:0{length}}"
        if text.encode() not in present:
            yield text
            named += 1
            if named == MISSING_NUMBERS:
                return


def long_repeats(contents: Contents) -> tuple[int, tuple[Repeat, ...]]:
    """Find the tokens that repeat one thing, white space aside: how many, and the longest of each thing."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    total = 0
    for token_id, text in contents.texts.items():
        # A text that is its unit again and again meets itself shifted by one unit.
        if len(text) >= FEWEST_REPEATS and (size := (text + text).find(text, 1)) * FEWEST_REPEATS <= len(text):
            unit = text[:size]
            if not WHITE_SPACE.issuperset(unit):
                total += 1
                found[unit].append((len(text), token_id))
    repeats = []
    for unit, tokens in found.items():
        length, token_id = max(tokens, key=lambda item: (item[0], -item[1]))
        repeats.append(Repeat(unit, len(tokens), contents.example(token_id), length // len(unit)))
    repeats.sort(key=lambda repeat: (-len(repeat.longest.content), repeat.longest.token_id))
    return total, tuple(repeats[:REPEATS])
