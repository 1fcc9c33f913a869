"""Run any split pattern with the ``regex`` module: the slow way, and the meaning of the fast one."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from bpe_cli.errors import UsageError


class RegexSplitter:
    """Cut text with regular expressions, one after the other, each cutting the pieces of the last.

    An invalid byte is one character of class Cs (a lone surrogate): no letter, number or white space.

    Raises:
        UsageError: An expression does not compile.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        import regex  # imported here: it costs 20 ms that a known pattern need not pay

        self._expressions = []
        for pattern in patterns:
            try:
                self._expressions.append(regex.compile(pattern))
            except regex.error as error:
                raise UsageError(
                    f"the pattern {pattern!r} does not compile: {error}",
                    hint="patterns are written in the syntax of Python's `regex` module; names: see `bpe train --help`",
                ) from error

    def split(self, data: bytes | memoryview) -> array[int]:
        """Give the end offset of every piece in bytes, ascending, the last being the text's length."""
        ends = array("Q")
        pieces = [bytes(data).decode("utf-8", "surrogateescape")]
        for expression in self._expressions:
            pieces = [part for piece in pieces for part in _cut(expression, piece)]
        position = 0
        for piece in pieces:
            position += len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogateescape"))
            if position and (not ends or ends[-1] != position):
                ends.append(position)
        return ends

    def safe_cut(self, data: bytes) -> int:
        """Give 0: nothing is known of where an arbitrary expression could be cut."""
        return 0


def _cut(expression: object, text: str) -> list[str]:
    """Give the matches and the stretches between them, without empty ones."""
    parts = []
    position = 0
    for match in expression.finditer(text):  # type: ignore[attr-defined]  # regex ships no types
        start, end = match.span()
        if start > position:
            parts.append(text[position:start])
        if end > start:
            parts.append(text[start:end])
        position = max(position, end)
    if position < len(text):
        parts.append(text[position:])
    return parts
