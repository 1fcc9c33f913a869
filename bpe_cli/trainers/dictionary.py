"""Read words with their counts where a corpus would be: lines of text, or JSON, as tutorials print them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain

from bpe_cli import _core
from bpe_cli.errors import InputError
from bpe_cli.trainers.counts import counts_of, items_of

_HINT = 'lines as `low 5`, or JSON as {"low": 5}; running text needs `dictionary=no`'
_LINE = re.compile(rb"([^ \t]+)[ \t]([0-9]{1,15})")
_ENTRY = re.compile(r"""\s*(?:("(?:[^"\\]|\\.)*")|'([^'\\]*)')\s*:\s*([0-9]{1,15})\s*(?:,|$)""")


def read_dictionary(counts: _core.Counts, suffix: str = "") -> _core.Counts:
    r"""Return counts of words from counts of the lines of a dictionary.

    >>> from bpe_cli.trainers.counts import pieces_of
    >>> lines = counts_of([(b"low 5", 1), (b"lower 2", 3)])
    >>> pieces_of(read_dictionary(lines))
    {b'low': 5, b'lower': 6}
    >>> pieces_of(read_dictionary(counts_of([(b'{"low": 5, "n e w </w>": 2}', 1)]), "</w>"))
    {b'low': 5, b'new': 2}

    Args:
        counts: How often each line occurs, in the order of the corpus. It is JSON if the first line begins with ``{``
            and a quotation mark or nothing: a word and its count as ``"low": 5``, any number of them a line, in
            either kind of quotation marks.
        suffix: What may end a word of JSON that is written symbol by symbol, ``n e w </w>``.

    Raises:
        InputError: if a line is not a word and its count.
    """
    lines = items_of(counts)
    first = next(lines, None)
    if first is None:
        return counts
    read = _read_json if re.match(rb"\s*\{\s*(?:[\"'}]|$)", first[0]) else _read_line
    return counts_of(each for line, number in chain((first,), lines) for each in read(line, number, suffix))


def _read_line(line: bytes, number: int, _suffix: str) -> Iterator[tuple[bytes, int]]:
    """Yield the word of a line."""
    match = _LINE.fullmatch(line.strip(b"\r\n "))
    if match is None:
        raise InputError(f"a line of the dictionary is not a word, a blank and a count: {line[:60]!r}", hint=_HINT)
    yield match[1], number * int(match[2])


def _read_json(line: bytes, number: int, suffix: str) -> Iterator[tuple[bytes, int]]:
    """Yield the words of a line of JSON: the part of an object that it holds."""
    text = line.decode("utf-8", "surrogateescape").strip()
    text = text.removeprefix("{").removesuffix("}").strip()
    place = 0
    while place < len(text):
        match = _ENTRY.match(text, place)
        if match is None:
            raise InputError(
                f"a line of the dictionary is not words and counts as in JSON: {text[place : place + 60]!r}", hint=_HINT
            )
        try:
            word = match[2] if match[1] is None else json.loads(match[1])
        except ValueError as error:
            raise InputError(f"a word of the dictionary is not a string of JSON: {match[1]}", hint=_HINT) from error
        yield _joined(word, suffix).encode("utf-8", "surrogatepass"), number * int(match[3])
        place = match.end()


def _joined(word: str, suffix: str) -> str:
    """Return a word that may be written symbol by symbol."""
    if not re.search(r"\s", word):
        if word:
            return word
        raise InputError("a word of the dictionary is empty", hint=_HINT)
    symbols = word.split()
    if suffix and symbols[-1:] == [suffix]:
        symbols.pop()
    if not symbols or any(len(symbol) > 1 for symbol in symbols):
        raise InputError(
            f"a word of the dictionary has blanks, and is not written character by character: {word[:60]!r}",
            hint=f"as in 'l o w {suffix}'" if suffix else "as in 'l o w'",
        )
    return "".join(symbols)
