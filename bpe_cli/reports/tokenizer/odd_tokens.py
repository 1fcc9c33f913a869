"""Count odd tokens: those that cut characters, hold invisible ones, or repeat one thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from bpe_cli.reports.tokenizer.contents import WHITE_SPACE, Contents, NamedToken

EXAMPLES = 5
"""How many tokens of each kind are reported."""

STARTS_INSIDE, ENDS_INSIDE, BOTH, IMPOSSIBLE = "starts inside", "ends inside", "both", "impossible"


@dataclass(frozen=True, slots=True)
class Cut:
    """Tokens that cut characters in one way.

    Attributes:
        name: ``starts inside`` a character: begins with bytes that only go on; ``ends inside`` one; ``both``;
            ``impossible``: no UTF-8 text has these bytes, whatever stands around them.
        single_bytes: How many of them are one byte, which a byte-level vocabulary must have.
        examples: The first of them that are not single bytes.
    """

    name: str
    tokens: int
    single_bytes: int
    examples: tuple[NamedToken, ...]


def count_cuts(contents: Contents) -> tuple[Cut, ...]:
    """Count the ordinary tokens that are not UTF-8 by how they cut characters; kinds without tokens are left out."""
    ids_of: dict[str, list[int]] = defaultdict(list)
    for token_id, content in contents.meanings.items():
        if token_id not in contents.texts:
            ids_of[kind_of_cut(content)].append(token_id)
    cuts = []
    for name in (STARTS_INSIDE, ENDS_INSIDE, BOTH, IMPOSSIBLE):
        if token_ids := ids_of[name]:
            longer = [token_id for token_id in token_ids if len(contents.meanings[token_id]) > 1]
            examples = contents.examples(longer, EXAMPLES)
            cuts.append(Cut(name, len(token_ids), len(token_ids) - len(longer), examples))
    return tuple(cuts)


def kind_of_cut(content: bytes) -> str:
    r"""Return how bytes that are not UTF-8 cut characters.

    Up to three bytes that only go on end some character, whatever they are. What follows them has to be
    UTF-8 but for a character that is begun and not ended.

    >>> [kind_of_cut(content) for content in (b"\x81 a", b" \xe8\xb0", b"\x81\xe8", b"\xc0", b"\x80\x80\x80\x80")]
    ['starts inside', 'ends inside', 'both', 'impossible', 'impossible']
    """
    going_on = 0
    while going_on < len(content) and 0x80 <= content[going_on] < 0xC0:
        going_on += 1
    if going_on > 3:
        return IMPOSSIBLE
    try:
        content[going_on:].decode()
    except UnicodeDecodeError as error:
        # CPython says this of a proper beginning of a character, and only of that.
        if error.reason != "unexpected end of data":
            return IMPOSSIBLE
        return BOTH if going_on else ENDS_INSIDE
    return STARTS_INSIDE


_KINDS = {
    "control characters": r"[\p{Cc}--[\t\n\r]]",
    "invisible characters": r"[[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]--[\ufe00-\ufe0f]]",
    "replacement characters": r"\ufffd",
    "private or unassigned characters": r"[\p{Co}\p{Cn}]",
}


@dataclass(frozen=True, slots=True)
class Unseen:
    """Tokens that hold characters of a kind.

    Attributes:
        name: ``control characters`` (without tab, line feed and carriage return), ``invisible characters``
            (format characters and other default-ignorable ones, without variation selectors),
            ``replacement characters`` (U+FFFD, where text was decoded wrongly), ``private or unassigned characters``.
        tokens: How many tokens; those of a single byte are not counted, which a byte-level vocabulary must have.
    """

    name: str
    tokens: int
    examples: tuple[NamedToken, ...]


def count_unseen(contents: Contents) -> tuple[Unseen, ...]:
    """Count the tokens with invisible characters; kinds without tokens are left out."""
    import regex

    patterns = {name: regex.compile(expression, regex.VERSION1) for name, expression in _KINDS.items()}
    kind_of = {}
    for character in set().union(*contents.texts.values()):
        if name := next((name for name, pattern in patterns.items() if pattern.match(character)), None):
            kind_of[character] = name
    ids_of: dict[str, list[int]] = defaultdict(list)
    unseen = set(kind_of)
    for token_id, text in contents.texts.items():
        if not unseen.isdisjoint(text) and len(contents.meanings[token_id]) > 1:
            for name in {kind_of[character] for character in text if character in unseen}:
                ids_of[name].append(token_id)
    return tuple(
        Unseen(name, len(ids_of[name]), contents.examples(ids_of[name], EXAMPLES)) for name in _KINDS if name in ids_of
    )


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
    """Tokens that are runs of one kind of whitespace.

    Attributes:
        kind: What is repeated; ``mixed`` for everything else that is only whitespace, whose lengths are in characters.
        stretches: The lengths that have a token, as (first, last).
    """

    kind: str
    tokens: int
    stretches: tuple[tuple[int, int], ...]
    longest: int


@dataclass(frozen=True, slots=True)
class DigitRun:
    """Which numbers of a length in ASCII digits are one token.

    Attributes:
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
    """Tokens that are one thing at least ``FEWEST_REPEATS`` times, and how often the longest of them is."""

    unit: str
    tokens: int
    longest: NamedToken
    times: int


def stretches_of(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Combine numbers into ranges.

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
    """Count the tokens that are only whitespace, by kind, in the order of kinds."""
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
    """Find the tokens that repeat one thing, whitespace aside: how many, and the longest of each thing."""
    lengths: dict[str, list[tuple[int, int]]] = defaultdict(list)
    total = 0
    for token_id, text in contents.texts.items():
        # A text that is its unit again and again meets itself shifted by one unit.
        if len(text) >= FEWEST_REPEATS and (size := (text + text).find(text, 1)) * FEWEST_REPEATS <= len(text):
            unit = text[:size]
            if not WHITE_SPACE.issuperset(unit):
                total += 1
                lengths[unit].append((len(text), token_id))
    repeats = []
    for unit, tokens in lengths.items():
        length, token_id = max(tokens, key=lambda item: (item[0], -item[1]))
        repeats.append(Repeat(unit, len(tokens), contents.example(token_id), length // len(unit)))
    repeats.sort(key=lambda repeat: (-len(repeat.longest.content), repeat.longest.token_id))
    return total, tuple(repeats[:REPEATS])
