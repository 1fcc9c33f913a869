r"""Measure a regular expression before it is compiled: how large it would become, how little it can match.

Both are read off its text, and so is what would go wrong, or mean something else elsewhere. An engine that unrolls
counted repeats needs memory for each of them, times those they stand in: ``(?:(?:a{1000}){1000}){1000}`` is 30
characters, and hundreds of gigabytes. The size given here is never too small; what cannot be told is taken for the
worst.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from math import prod

from bpe_cli.errors import UsageError
from bpe_cli.support.fast_dataclass import dataclass, field

MAX_LENGTH = 1 << 16
"""Most characters of an expression; the longest in use have a few hundred."""

MAX_SIZE = 100_000
"""Most characters, classes and groups of all expressions together, when their counted repeats are written out.

The `regex` module needs up to a kilobyte for each."""

# In this order: an escape with what belongs to it, what matches nothing, the beginning of a group, a class, a repeat.
_PARTS = re.compile(
    r"(?P<escape>\\(?:[pP](?:\{[^{}]*\}|\w)|N\{[^{}]*\}|[gkL]<[^>]*>|x\{\w*\}|x\w\w|u\w{4}|U\w{8}|[0-9]+|.))"
    r"|(?P<nothing>\(\?(?:\#[^)]*|[\w&>=+-]*)\))"
    r"|(?P<look>\(\?<?[=!])"
    r"|(?P<group>\((?:\?(?:P?<\w*>|[a-zA-Z-]*:|>|\|)|(?![?*])))"
    r"|(?P<end>\))"
    r"|(?P<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?)"
    r"|(?P<repeat>(?:[*+?]|\{(?P<least>\d*),?(?P<most>\d*)\})[+?]?)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_COUNT = re.compile(r"\{(\d*),?(\d*)\}")
_OTHER_SYNTAX = re.compile(r"\(\?[a-zA-Z0-9]*(?:x|V1)")
"""Options under which blanks, comments and brackets mean something else."""

_WITH_SETS = re.compile(r"\(\?[a-zA-Z0-9]*V1")
"""The option under which a class has sets in it."""

_IN_CLASS = re.compile(r"\[:\^?\w+:\]|\\.|(?P<sets>\[|&&|--|~~)", re.DOTALL)

_FOLDED = re.compile(r"\(\?[a-zA-Z0-9]*i")
"""The option under which a letter can match one that has fewer bytes."""

_NO_TEXT = frozenset("bBAzZGKmMyYgkXRLN0123456789")
"""What stands behind the backslash of an escape that may match nothing."""

_PLAIN_CLASS = re.compile(r"\[([^]\\[^&|~][^]\\[&|~]*)\]")
_RANGE = re.compile("(?<=.)-(?=.)", re.DOTALL)
_LONGEST_COUNT = 9


@dataclass(frozen=True, slots=True)
class Measure:
    """The size of an expression.

    Attributes:
        size: How many parts it has, its counted repeats written out.
        shortest: How many bytes it matches at least.
        gives_up: Whether it may prefer to match nothing where it could match text: ``a??``, or ``a*|b`` before a b.
            False if that cannot be told.
    """

    size: int
    shortest: int
    gives_up: bool = False


@dataclass(slots=True)
class _Group:
    """The sum of the parts of an open group.

    Attributes:
        looks: Whether it only looks, and matches nothing itself.
        atomic: Whether its first way to match is the only one.
        size: Parts before the last one.
        shortest: Bytes that the present alternative matches at least, before the last part.
        gives_up: Whether any alternative may prefer to match nothing, before the last part.
        least: The least that an alternative before it matches; None if there is none.
        last: The last part, which a repeat may follow.
    """

    looks: bool = False
    atomic: bool = False
    size: int = 1
    shortest: int = 0
    gives_up: bool = False
    least: int | None = None
    last: Measure = field(default=Measure(0, 0))

    def add(self, part: Measure) -> None:
        self.size += self.last.size
        self.shortest += self.last.shortest
        self.gives_up |= self.last.gives_up
        self.last = part

    def repeat(self, least: int, most: int, *, is_lazy: bool) -> None:
        may_be_empty = least == 0 or not self.last.shortest
        gives_up = self.last.gives_up or (may_be_empty and (is_lazy or (most != least and not self.last.shortest)))
        self.last = Measure(self.last.size * max(most, 1), self.last.shortest * least, gives_up)

    def alternative(self) -> None:
        self.gives_up |= self.least == 0  # the one before has been tried first
        self.add(Measure(1, 0))
        self.least = self.shortest if self.least is None else min(self.least, self.shortest)
        self.shortest = 0

    def closed(self) -> Measure:
        self.alternative()
        least = 0 if self.looks else self.least or 0
        return Measure(self.size + 1, least, self.gives_up and least == 0 and not (self.looks or self.atomic))


@lru_cache(maxsize=64)  # reading a tokenizer asks several times
def measure(pattern: str) -> Measure:
    r"""Measure an expression in the syntax of the ``regex`` module, or of Hugging Face's engine.

    >>> measure(r"(?:ab{10}){1000}").size, measure(r"\s+|é{2,}")
    (13002, Measure(size=6, shortest=1, gives_up=False))
    >>> [measure(each).gives_up for each in ("a*|b", "b|a*", "(?>a*|b)", "a*?b", "a*?")]
    [True, False, False, False, True]

    Complexity: linear in the expression.
    """
    if _OTHER_SYNTAX.search(pattern):
        return _flat(pattern)
    bytes_of = (lambda _: 1) if _FOLDED.search(pattern) else _bytes
    groups = [_Group()]
    for part in _PARTS.finditer(pattern):
        text = part[0]
        group = groups[-1]
        match part.lastgroup:
            case "look" | "group":
                groups.append(_Group(looks=part.lastgroup == "look", atomic=text == "(?>"))
            case "end":
                if len(groups) == 1:
                    return _flat(pattern)
                closed = groups.pop().closed()
                groups[-1].add(closed)
            case "repeat":
                group.repeat(*_counts(part), is_lazy=text[1:].endswith("?"))
            case "escape":
                group.add(Measure(1, 0 if text[1] in _NO_TEXT else 1))
            case "class":
                plain = _PLAIN_CLASS.fullmatch(text)
                group.add(Measure(1, min(map(bytes_of, _RANGE.sub("", plain[1]))) if plain else 1))
            case "other" if text == "|":
                group.alternative()
            case "other" if text in "({":  # a verb, a condition, a fuzzy match
                return _flat(pattern)
            case "other":
                group.add(Measure(1, 0 if text in "^$" else bytes_of(text)))
            case _:
                group.add(Measure(1, 0))
    return groups[0].closed() if len(groups) == 1 else _flat(pattern)


def check_size(patterns: Iterable[str]) -> None:
    """Refuse expressions that would take too much memory once they are compiled.

    Raises:
        UsageError: if an expression is too long, or all of them together are too large.
    """
    size = 0
    for pattern in patterns:
        if len(pattern) > MAX_LENGTH:
            raise UsageError(f"the pattern has {len(pattern):,} characters; it may have {MAX_LENGTH:,}")
        size += measure(pattern).size
        if size > MAX_SIZE:
            shown = pattern if len(pattern) <= 60 else pattern[:57] + "..."
            raise UsageError(
                f"the pattern {shown!r} is too large: with its counted repeats written out, the patterns have "
                f"more than {MAX_SIZE:,} parts",
                hint="repeat less often, or without a limit: + in the place of {1,1000}",
            )


def keeps_out_around(pattern: str) -> bool:
    r"""Return whether an expression sets the start of its match, by ``\K``, inside a look-around.

    Such a match can begin before the last one ended, or end before it begins: the ``regex`` module then finds the
    same again and again. Where it cannot be told what stands in what, the answer is yes.

    >>> keeps_out_around(r"a|(?<=\Ka)b"), keeps_out_around(r"a\Kb(?=c)"), keeps_out_around(r"(?=[K]\\K)")
    (True, False, False)
    """
    if r"\K" not in pattern:
        return False
    looks = [False]
    kept = unclear = False
    for part in _PARTS.finditer(pattern):
        text = part[0]
        match part.lastgroup:
            case "look" | "group":
                looks.append(looks[-1] or part.lastgroup == "look")
            case "end" if len(looks) > 1:
                looks.pop()
            case "escape" if text == r"\K":
                if looks[-1]:
                    return True
                kept = True
            case "nothing" if text.startswith("(?="):
                pass
            case "nothing" | "end":  # a call, an option or a comment; an end too many
                unclear = True
            case "other" if text == "(":
                unclear = True
    return kept and (unclear or _OTHER_SYNTAX.search(pattern) is not None) and "(?" in pattern


def set_operation(pattern: str) -> str | None:
    r"""Return what stands in a class for a set in it, or for what is done with two; None if there is nothing such.

    The ``regex`` module takes it for characters, unless ``(?V1)`` tells it otherwise; tiktoken's engine never does.

    >>> set_operation(r"[\p{L}&&[^\p{Han}]]+"), set_operation(r"\s|[\w--\d]"), set_operation("(?V1)[\\w--\\d]")
    ('&&', '--', None)
    >>> set_operation(r"[[:alpha:]&\[\-\-]+|&&--"), set_operation("[a[]")
    (None, '[')
    """
    if "[" not in pattern or len(pattern) > MAX_LENGTH or _WITH_SETS.search(pattern):
        return None  # one that is too long is refused anyway
    for part in _PARTS.finditer(pattern):
        if part.lastgroup == "class":
            for found in _IN_CLASS.finditer(part[0], 1):
                if found["sets"]:
                    return str(found["sets"])
    return None


def _counts(repeat: re.Match[str]) -> tuple[int, int]:
    """Return the lower and upper count of a repeat; no engine expands one without a limit."""
    text = repeat[0]
    if text[0] != "{":
        return (1 if text[0] == "+" else 0), 1
    least = _number(repeat["least"] or "0")
    return least, max(least, _number(repeat["most"] or "0"))


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= _LONGEST_COUNT else 10**_LONGEST_COUNT


def _bytes(character: str) -> int:
    return len(character.encode("utf-8", "surrogatepass"))


def _flat(pattern: str) -> Measure:
    """Measure as if every counted repeat stood in every other."""
    counts = [max(_number(least or "1"), _number(most or "1")) for least, most in _COUNT.findall(pattern)]
    size = 1 + len(pattern)
    return Measure(size * prod(max(count, 1) for count in counts[:64]), 0)
