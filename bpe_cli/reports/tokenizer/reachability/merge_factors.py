r"""Prove that no match of a split pattern holds a text.

The pattern becomes a finite automaton that accepts at least what the pattern matches: what it only looks at
(``(?!\S)``, ``$``) is left out, and possessive repeats give back what they took. A text that is on no way through
the automaton is inside no match. Expressions outside a common subset are not judged.

Sources: Thompson 1968, "Regular Expression Search Algorithm"; the syntax is that of the ``regex`` module.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache

from bpe_cli.errors import UsageError
from bpe_cli.support.regex_size import check_size

_MOST_STATES = 1000
_MOST_REPEATS = 64
_MOST_MEMBERS = 32
_MOST_MATCHES = 1000
_LONGEST_MATCH = 200
_MOST_REMEMBERED = 1 << 16
_PART = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<open>\((?:\?(?:(?P<fold>i)?:|>))?)|(?P<close>\))|(?P<or>\|)"
    r"|(?P<class>\[\^?(?:\\[pP]\{\w+\}|\\.|[^\]\\\[&|~])+\])|(?P<escape>\\(?:[pP]\{\w+\}|[pP]\w|[sSdDwWrntfv]|[^\w]))"
    r"|(?P<end>[$^])|(?P<any>\.)|(?P<literal>[^\\()\[\]{}*+?|^$.])",
    re.DOTALL,
)
_REPEAT = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})([+?]?)")


class _Unknown(Exception):
    """The expression has something that is not judged."""


@dataclass(slots=True)
class _State:
    """A state: what it reads with where that leads, and where it goes on without reading.

    Attributes:
        reads: Class and next state.
        jumps: Next states, each with a class that must not come next (the rest of a possessive repeat), or
            None, and whether the way there only looks at text.
    """

    reads: list[tuple[str, int]] = field(default_factory=list)
    jumps: list[tuple[int, str | None, bool]] = field(default_factory=list)


class Factors:
    """The automaton of a pattern.

    >>> words = factors_of(r" ?\\p{L}+|\\s+")
    >>> [words.may_hold(text) for text in ("ab", " ab", "a b")]
    [True, True, False]
    >>> words.matches_somehow("ab"), words.always_begins("a"), words.always_begins("1")
    (True, True, False)
    """

    def __init__(self, pattern: str) -> None:
        self._states: list[_State] = []
        self._pattern = pattern
        self._at = 0
        self._start, self._accept = self._alternatives(fold=False)
        if self._at != len(pattern):
            raise _Unknown
        self._closures = [self._closure(number) for number in range(len(self._states))]
        self._everywhere = frozenset(range(len(self._states)))
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._beginning: dict[str, bool] = {}

    # -- reading the expression

    def _new(self) -> int:
        if len(self._states) >= _MOST_STATES:
            raise _Unknown
        self._states.append(_State())
        return len(self._states) - 1

    def _jump(self, source: int, target: int, unless: str | None = None, looks: bool = False) -> None:
        self._states[source].jumps.append((target, unless, looks))

    def _alternatives(self, fold: bool) -> tuple[int, int]:
        start, end = self._new(), self._new()
        while True:
            first, last = self._sequence(fold)
            self._jump(start, first)
            self._jump(last, end)
            if self._pattern[self._at : self._at + 1] != "|":
                return start, end
            self._at += 1

    def _sequence(self, fold: bool) -> tuple[int, int]:
        start = last = self._new()
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            begun = self._at
            part = self._one(fold)
            ended = self._at
            repeat = _REPEAT.match(self._pattern, self._at)
            if repeat is None:
                self._jump(last, part[0])
                last = part[1]
                continue
            self._at = repeat.end()
            last = self._repeated(last, part, (begun, ended), repeat, fold)
        return start, last

    def _repeated(
        self, last: int, part: tuple[int, int], span: tuple[int, int], repeat: re.Match[str], fold: bool
    ) -> int:
        """Lay a part out as often as it is repeated."""
        mark = repeat[1]
        least = int(repeat[2]) if repeat[2] else int(mark == "+")
        most = (
            (int(repeat[4]) if repeat[4] else None if repeat[3] else least) if repeat[2] else 1 if mark == "?" else None
        )
        if max(least, most or 0) > _MOST_REPEATS:
            raise _Unknown
        behind = self._at
        reads = self._states[part[0]].reads
        single = reads[0][0] if len(reads) == 1 and reads[0][1] == part[1] else None
        possessive = repeat[5] == "+"
        copies = max(least, most if most is not None else least + 1)
        end = self._new()
        if copies == 0:
            self._jump(last, end)
            return end
        for number in range(copies):
            if number:
                self._at = span[0]
                part = self._one(fold)
            if number >= least:  # what a possessive repeat can take it takes
                self._jump(last, end, single if possessive else None, possessive and single is None)
            self._jump(last, part[0])
            last = part[1]
        if most is None:
            self._jump(last, part[0])
        self._jump(last, end, single if possessive and most is None else None, possessive and single is None)
        self._at = behind
        return end

    def _one(self, fold: bool) -> tuple[int, int]:
        part = _PART.match(self._pattern, self._at)
        if part is None:
            raise _Unknown
        self._at = part.end()
        start, end = self._new(), self._new()
        if part["open"] or part["look"]:
            if part["open"] and "?>" in part["open"]:
                raise _Unknown
            inner = self._alternatives(fold or bool(part["fold"]))
            if self._pattern[self._at : self._at + 1] != ")":
                raise _Unknown
            self._at += 1
            if part["look"]:
                self._jump(start, end, looks=True)
            else:
                self._jump(start, inner[0])
                self._jump(inner[1], end)
        elif part["end"]:
            self._jump(start, end, looks=True)
        elif part["close"] or part["or"]:
            raise _Unknown
        else:
            self._states[start].reads.append((("(?i)" if fold else "") + part[0], end))
        return start, end

    # -- running it

    def _closure(self, number: int) -> frozenset[int]:
        """Return the states reached without reading."""
        reached = {number}
        waiting = [number]
        while waiting:
            for target, _, _ in self._states[waiting.pop()].jumps:
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
        return frozenset(reached)

    def _after(self, states: frozenset[int], character: str) -> frozenset[int]:
        step = states, character
        reached = self._steps.get(step)
        if reached is None:
            if len(self._steps) >= _MOST_REMEMBERED:
                self._steps.clear()
            reads = [read for state in states for read in self._states[state].reads]
            closures = [self._closures[target] for source, target in reads if _is_in(source, character)]
            reached = self._steps[step] = frozenset().union(*closures)
        return reached

    def may_hold(self, text: str) -> bool:
        """Return whether some match may hold a text; when this is false, none does."""
        return bool(self._read(self._everywhere, text))

    def may_go_on(self, text: str) -> bool:
        """Return whether some match may hold a text and something behind it; when this is false, none does."""
        return any(self._states[state].reads for state in self._read(self._everywhere, text))

    def matches_somehow(self, text: str) -> bool:
        """Return whether a text may be a whole match; when this is false, it is none."""
        return self._accept in self._read(self._closures[self._start], text)

    def beginning_with(self, text: str) -> list[str] | None:
        """Return all matches that may hold a text, if they are few and it stands at their beginning.

        None where it may stand elsewhere, or too many texts may follow.
        """
        first = self._closures[self._start]
        later = {target for state in self._states for _, target in state.reads}
        for state in set().union(*(self._closures[number] for number in later)):
            if self._read(frozenset((state,)), text):
                return None
        return self._continued(self._read(first, text), text, [])

    def _read(self, states: frozenset[int], text: str) -> frozenset[int]:
        for character in text:
            states = self._after(states, character)
        return states

    def _continued(self, states: frozenset[int], text: str, matches: list[str]) -> list[str] | None:
        """Add all matches that go on from some states to those that are found."""
        if self._accept in states:
            matches.append(text)
        sources = dict.fromkeys(source for state in sorted(states) for source, _ in self._states[state].reads)
        following: dict[str, None] = {}
        for source in sources:
            members = _members(source)
            if members is None:
                return None
            following.update(dict.fromkeys(members))
        for character in following:
            if len(matches) > _MOST_MATCHES or len(text) > _LONGEST_MATCH:
                return None
            if self._continued(self._after(states, character), text + character, matches) is None:
                return None
        return matches

    def always_begins(self, character: str) -> bool:
        """Return whether, wherever a character stands, a match can begin with it: it stands between no matches.

        So it is if a way through the automaton reads it alone and looks at nothing else.
        """
        if character not in self._beginning:
            self._beginning[character] = self._begins(character)
        return self._beginning[character]

    def _begins(self, character: str) -> bool:
        ahead = self._unconditional({self._start}, character)
        read = {target for state in ahead for source, target in self._states[state].reads if _is_in(source, character)}
        return self._accept in self._unconditional(read, None)

    def _unconditional(self, states: set[int], character: str | None) -> set[int]:
        """Follow the jumps that depend on no more than the character that comes next; None: on nothing."""
        reached = set(states)
        waiting = list(states)
        while waiting:
            for target, unless, looks in self._states[waiting.pop()].jumps:
                # Behind the character a repeat may take more, but need not find any to end.
                free = unless is None or character is None or not _is_in(unless, character)
                if free and not looks and target not in reached:
                    reached.add(target)
                    waiting.append(target)
        return reached


@cache
def factors_of(pattern: str) -> Factors | None:
    """Return a pattern's automaton; None if the pattern is not judged."""
    try:
        check_size([pattern])
        return Factors(pattern)
    except (_Unknown, UsageError, RecursionError, ValueError):
        return None


@cache
def _expression(source: str) -> object:
    import regex

    return regex.compile(source)


@cache
def _members(source: str) -> tuple[str, ...] | None:
    """Return the characters of a class, if they are few."""
    members = []
    for match in _expression(source).finditer(_all_characters()):  # type: ignore[attr-defined]
        members.append(match.group())
        if len(members) > _MOST_MEMBERS:
            return None
    return tuple(members)


@cache
def _all_characters() -> str:
    return "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)


@cache
def _is_in(source: str, character: str) -> bool:
    """Return whether a class holds a character."""
    return bool(_expression(source).match(character))  # type: ignore[attr-defined]  # regex ships no types


def is_settled(text: str) -> bool:
    """Return whether all characters are older than any Unicode table in use, so that all tables agree on them."""
    return all(unicodedata.category(character) not in ("Cn", "Co") for character in text)
