"""Choose what splits text: the core for nearly all patterns, the ``regex`` module for what the core refuses.

``RegexSplitter`` is the slow way, and the meaning of the fast one: the tests hold the core to it.

There are two dialects, and a pattern's home decides which one it is in. A tokenizer without stages, such as a rank file
or what ``bbpe`` trains, has patterns as tiktoken has them, in the dialect of the ``regex`` module: this module runs
them. The stages of Hugging Face's files have those of their engine, and the core runs them
(``core/src/text/pattern.rs``). Both refuse what searches backwards.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from bpe_cli import _core
from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import name_of, scanner_for
from bpe_cli.support.fast_typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import Any


def show_pattern(pattern: str) -> str:
    """Write a pattern for a message: its name if it has one, else quoted, and cut when long.

    >>> from bpe_cli.stages.patterns import PATTERNS
    >>> show_pattern(PATTERNS["o200k"].regex), show_pattern("a|b")
    ('o200k', "'a|b'")
    """
    return name_of(pattern) or repr(pattern if len(pattern) <= 60 else pattern[:57] + "...")


SHOWN_PATTERNS = 3
"""How many patterns a note names: a file may have a thousand."""


def slow_patterns_notes(patterns: Sequence[str]) -> Iterator[str]:
    """Describe the patterns that take the slow path, if there are any."""
    if patterns:
        shown = ", ".join(map(show_pattern, patterns[:SHOWN_PATTERNS]))
        if len(patterns) > SHOWN_PATTERNS:
            shown += f" and {len(patterns) - SHOWN_PATTERNS:,} more"
        yield (
            f"the core has no scanner for the pattern {shown}; the `regex` module runs it, on one thread and "
            "many times slower"
        )


_STRAY = {0xDC00 + byte: 0x14400 + byte for byte in range(0x80, 0x100)}
"""What an expression sees of stray bytes, which ``surrogateescape`` decodes to lone surrogates: letters
without case, of a script (Anatolian hieroglyphs) that no pattern singles out."""


def as_seen(text: str) -> str:
    """Return what an expression sees of a text decoded with ``surrogateescape``."""
    return text if text.isascii() else text.translate(_STRAY)


class RegexSplitter:
    """Cut text with regular expressions, one after the other, each cutting the pieces of the last.

    A byte that is no part of UTF-8 is one character, a letter without case (``\\p{Lo}``).

    Raises:
        UsageError: if an expression does not compile, would take too much memory, or searches backwards.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        import regex  # imported here: it costs 20 ms that a known pattern need not pay

        from bpe_cli.support.regex_size import check_size, keeps_out_around

        check_size(patterns)
        self._expressions = []
        for pattern in patterns:
            try:
                self._expressions.append(regex.compile(pattern))
            except (regex.error, RecursionError, MemoryError, OverflowError, ValueError) as error:
                reason = error if isinstance(error, regex.error) else "it is too large or too deep"
                raise UsageError(
                    f"the pattern {show_pattern(pattern)} does not compile: {reason}",
                    hint="patterns are written in the syntax of Python's `regex` module; "
                    "names: `bpe train --help --all`",
                ) from error
            if self._expressions[-1].flags & regex.REVERSE:
                raise UsageError(
                    f"the pattern {show_pattern(pattern)} searches backwards, and text is split from its beginning",
                    hint="leave the flag (?r) out",
                )
            if keeps_out_around(pattern):
                raise UsageError(
                    rf"the pattern {show_pattern(pattern)} has a \K inside a look-around, where a match could begin "
                    "before the one before it ends",
                    hint=r"put \K outside of (?=...), (?!...), (?<=...) and (?<!...)",
                )

    def split(self, data: bytes | memoryview) -> array[int]:
        """Return the end offset of every piece in bytes, ascending, the last being the text's length."""
        ends = array("Q")
        text = bytes(data).decode("utf-8", "surrogateescape")
        pieces = [as_seen(text)]
        for expression in self._expressions:
            pieces = [part for piece in pieces for part in _cut(expression, piece)]
        start = position = 0
        for piece in pieces:
            end = start + len(piece)
            position += len(piece) if piece.isascii() else len(text[start:end].encode("utf-8", "surrogateescape"))
            if position and (not ends or ends[-1] != position):
                ends.append(position)
            start = end
        return ends

    def safe_cut(self, data: bytes | memoryview) -> int:
        """Return 0: nothing is known of where an arbitrary expression could be cut."""
        return 0


def _cut(expression: object, text: str) -> list[str]:
    """Return the matches and the stretches between them, without empty ones.

    Raises:
        UsageError: if a match begins before the last one ended, or ends before it begins.
    """
    parts = []
    position = 0
    for match in expression.finditer(text):  # type: ignore[attr-defined]  # regex ships no types
        start, end = match.span()
        if not position <= start <= end:
            raise UsageError(f"the pattern {show_pattern(match.re.pattern)} goes backwards in this text")
        if start > position:
            parts.append(text[position:start])
        if end > start:
            parts.append(text[start:end])
        position = end
    if position < len(text):
        parts.append(text[position:])
    return parts


Splitter = _core.Splitter | RegexSplitter


@lru_cache(maxsize=8)  # who reads a pattern compiles it to see that it can be run, and runs it later
def compile_splitter(patterns: tuple[str, ...]) -> Splitter:
    """Choose what runs split patterns: the core if it knows all of them, else ``regex``.

    Raises:
        UsageError: if an expression does not compile, or has classes that tiktoken reads otherwise.
    """
    if not patterns:
        return _core.Splitter("null")
    scanner = scanner_for(patterns[0]) if len(patterns) == 1 else None
    if scanner is not None:
        return _core.Splitter(scanner.to_json())
    import json

    for pattern in patterns:
        _refuse_set_operations(pattern)
    cuts = [known_cuts(pattern) or {"type": "Pattern", "pattern": pattern} for pattern in patterns]
    try:
        return _core.Splitter(json.dumps(cuts))
    except ValueError:  # a pattern whose meaning is not certain to be the same, or none
        return RegexSplitter(patterns)


def _refuse_set_operations(pattern: str) -> None:
    """Refuse a class that says one thing to ``regex`` and another to tiktoken, whose patterns most of them are."""
    from bpe_cli.support.regex_size import set_operation

    if (operation := set_operation(pattern)) is not None:
        raise UsageError(
            f"the pattern {show_pattern(pattern)} has {operation} in a class, where tiktoken reads sets, and Python's "
            "`regex` module plain characters",
            hint="begin the pattern with (?V1) to have sets; if you mean characters, write "
            + "".join(f"\\{each}" for each in operation),
        )


# Groups of three digits from the right; text before a number goes with its first group, as there.
GROUPED = r"\P{N}*+(?:(?<!\p{N})\p{N}{1,2}(?=(?:\p{N}{3})*+(?!\p{N}))|\p{N}{3})|\P{N}++"

THOUSANDS = r"(?=(?:[0-9]{3})+(?![0-9]))"
"""Matches nothing, and so cuts: before each group of three digits from the right."""


def known_cuts(expression: str) -> dict[str, Any] | None:
    r"""Return the core's form of an expression that it has a loop of its own for; None for any other.

    >>> known_cuts(THOUSANDS)
    {'type': 'DigitGroups', 'ascii': True}
    """
    scanner = scanner_for(expression)
    if scanner is not None:
        import json

        return {"type": "Scanner", "scanner": json.loads(scanner.to_json())}
    if expression in (GROUPED, THOUSANDS):
        return {"type": "DigitGroups", "ascii": expression == THOUSANDS}
    return None


class Cuts(Protocol):
    """The interface of objects that know where a text can be cut."""

    def safe_cut(self, data: bytes | memoryview, /) -> int:
        """Return the last offset at which the text can be cut, whatever follows; 0 for none."""


def safe_cutter(
    cuts: Cuts, matcher: _core.SpecialMatcher | None, cut_in_piece: Callable[[bytes | memoryview], int] | None = None
) -> Callable[[bytes | memoryview], int]:
    """Return the function with which ``blocks.settle`` finds cuts outside of pieces and special tokens.

    Where there is none, ``cut_in_piece`` is asked for one inside a piece; None: only whole pieces will do.
    """

    def safe_cut(data: bytes | memoryview) -> int:
        cut = cuts.safe_cut(data)
        while cut and matcher is not None and (before := matcher.moves_cut(data, cut)) is not None:
            cut = cuts.safe_cut(memoryview(data)[:before])
        if cut or cut_in_piece is None:
            return cut
        cut = cut_in_piece(data)
        for _ in range(_TRIES):
            if not cut or matcher is None or (before := matcher.moves_cut(data, cut)) is None:
                return cut
            cut = cut_in_piece(memoryview(data)[:before])
        return 0

    return safe_cut


_TRIES = 100
"""How many cuts inside pieces special tokens may forbid before the search ends; in a run of blanks, all are alike."""


def segments(data: bytes, matcher: _core.SpecialMatcher | None) -> Iterator[tuple[bytes, int | None]]:
    """Yield the stretches of text between special tokens, and those with their ids, without empty ones.

    A token that begins with whitespace which the one before it took along comes without that.
    """
    position = 0
    for start, end, token_id in matcher.find_all(data) if matcher is not None else ():
        if start > position:
            yield data[position:start], None
        yield data[max(start, position) : end], token_id
        position = max(position, end)
    if position < len(data):
        yield data[position:], None
