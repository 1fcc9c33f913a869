"""Read words or tokens with their counts where a corpus would be: lines of text, or JSON, as tutorials print them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from bpe_cli import _core
from bpe_cli.errors import InputError, TrainingError
from bpe_cli.support.messages import plural
from bpe_cli.trainers.base import Front
from bpe_cli.trainers.counts import counts_of, items_of

_MOST_BYTES = 1 << 63
"""Words times their counts are fewer bytes than that: the core counts bytes in 64 bits."""

_SMALLER = "divide all counts by the same number"
_HINT = 'lines as `low 5`, or JSON as {"low": 5}'
_LINE = re.compile(rb"([^ \t]+)(?:[ \t]([0-9]{1,15}))?")
_NO_STAGES = Front()
_HALF = re.compile("[\ud800-\udfff]")
_ENTRY = re.compile(r"""\s*(?:("(?:[^"\\]|\\.)*")|'([^'\\]*)')\s*(?::\s*([0-9]{1,15})\s*)?(?:,|$)""")


def read_dictionary(counts: _core.Counts, suffix: str = "", front: Front = _NO_STAGES) -> _core.Counts:
    r"""Return counts of pieces from counts of the lines of a dictionary, as ``read_pieces`` yields them.

    >>> from bpe_cli.trainers.counts import pieces_of
    >>> lines = counts_of([(b"low 5", 1), (b"lower 2", 3)])
    >>> pieces_of(read_dictionary(lines))
    {b'low': 5, b'lower': 6}
    >>> pieces_of(read_dictionary(counts_of([(b'{"low": 5, "n e w </w>": 2}', 1)]), "</w>"))
    {b'low': 5, b'new': 2}
    """
    return counts_of(read_pieces(items_of(counts), suffix, front))


def read_pieces(
    lines: Iterable[tuple[bytes, int]], suffix: str = "", front: Front = _NO_STAGES
) -> Iterator[tuple[bytes, int]]:
    r"""Yield what the words of a dictionary become as texts, with their counts.

    >>> from bpe_cli.stages import BertPreTokenizer, Lowercase
    >>> front = Front((Lowercase(),), (BertPreTokenizer(),))
    >>> list(read_pieces([(b"Don't 3", 1), (b"don 1", 1)], front=front))
    [(b'don', 3), (b"'", 3), (b't', 3), (b'don', 1)]

    Args:
        lines: How often each line occurs, in the order of the corpus; see ``read_entries``.
        suffix: What may end a word of JSON that is written symbol by symbol, ``n e w </w>``.
        front: The stages that each word goes through.

    Raises:
        InputError: if a line is not a word and its count, or the counts pass what can be reckoned with.
        UsageError: if a stage does not compile.
        TrainingError: if a word cannot go through the stages.
    """
    stages = front.compile()
    hint, size = f"{_HINT}; running text needs `dictionary=no`", 0
    for word, number in read_entries(lines, "dictionary", hint):
        if number is None:
            raise InputError(f"a line of the dictionary is not a word, a blank and a count: {word[:60]!r}", hint=hint)
        for piece in _pieces(_joined(word, suffix), stages):
            size += len(piece) * number
            if size >= _MOST_BYTES:  # a stage can make a word longer
                raise InputError(
                    f"the counts of the dictionary are too large: with what the word {word[:60]!r} becomes, "
                    "they stand for 2^63 bytes of text or more",
                    hint=_SMALLER,
                )
            yield piece, number


def _pieces(word: bytes, stages: _core.Stages) -> Iterator[bytes]:
    """Yield the pieces of a word: the word itself, others, or none."""
    try:
        text, starts, ends, _, _ = stages.pre_tokenize(word)
    except ValueError as error:  # an expression that takes too long
        raise TrainingError(
            f"the word {word[:60]!r} of the dictionary cannot be cut: {error}", hint="cut it in another way"
        ) from error
    for start, end in zip(memoryview(starts), memoryview(ends), strict=True):
        yield text[start:end]


def read_entries(
    lines: Iterable[tuple[bytes, int]], what: str = "list", hint: str = _HINT
) -> Iterator[tuple[bytes, int | None]]:
    """Yield the words of a list with their counts, None for one without.

    >>> list(read_entries([(b"ou 3936", 1), (b"ta", 2)]))
    [(b'ou', 3936), (b'ta', None)]
    >>> list(read_entries([(b"['ou', 'ta']", 1)]))
    [(b'ou', None), (b'ta', None)]

    Args:
        lines: How often each line occurs, in the order of the corpus. It is text, a word a line, or JSON if it begins
            with a brace or bracket and a quotation mark: an object of word and count, or an array of words, on one
            line or on many, in either kind of quotation marks.
        what: What it is called in messages.
        hint: The way out.

    Raises:
        InputError: if a line holds anything else, or with it the counts pass what can be reckoned with.
    """
    lines = iter(lines)
    first = list(islice(lines, 2))
    begin = b"\n".join(line for line, _ in first)
    is_json = re.match(rb"\s*(?:[{\[]\s*[\"']|\{\}|\[\])", begin) is not None
    size = 0
    for line, number in chain(first, lines):
        try:
            for word, count in _read_json(line, number) if is_json else _read_line(line, number):
                size += len(word) * (count or 0)
                if size >= _MOST_BYTES:
                    raise InputError(
                        f"the counts of the {what} are too large: with the line {line[:60]!r}, which is there "
                        f"{plural(number, 'time')}, they stand for 2^63 bytes of text or more",
                        hint=_SMALLER,
                    )
                yield word, count
        except ValueError as error:
            raise InputError(f"a line of the {what} is not {error}", hint=hint) from error


def _read_line(line: bytes, number: int) -> Iterator[tuple[bytes, int | None]]:
    """Yield the word of a line.

    Raises:
        ValueError: if it holds anything else; the rest of a sentence says what.
    """
    line = line.strip(b"\r\n ")
    match = _LINE.fullmatch(line)
    if match is None and line:
        raise ValueError(f"a word, a blank and a count: {line[:60]!r}")
    if match is not None:
        yield match[1], None if match[2] is None else number * int(match[2])


def _read_json(line: bytes, number: int) -> Iterator[tuple[bytes, int | None]]:
    """Yield the words of a line of JSON: the part of an object or array that it holds.

    Raises:
        ValueError: if it holds anything else; the rest of a sentence says what.
    """
    text = line.decode("utf-8", "surrogateescape").strip()
    text = re.sub(r"^[{\[]|[}\]]$", "", text).strip()
    place = 0
    while place < len(text):
        match = _ENTRY.match(text, place)
        word = None if match is None else match[2] if match[1] is None else _string_of(match[1])
        if match is None or not word:
            raise ValueError(f"words and counts as in JSON: {text[place : place + 60].strip()!r}")
        yield word.encode("utf-8", "surrogateescape"), None if match[3] is None else number * int(match[3])
        place = match.end()


def _string_of(literal: str) -> str | None:
    """Return the text of a string of JSON; None if it is not one, or escapes half of a character."""
    try:
        text: str = json.loads(literal)
    except ValueError:
        return None
    return None if "\\u" in literal and _HALF.search(text) else text


def _joined(word: bytes, suffix: str) -> bytes:
    """Return a word that may be written symbol by symbol."""
    text = word.decode("utf-8", "surrogateescape")
    if not re.search(r"\s", text):
        return word
    symbols = text.split()
    if suffix and symbols[-1:] == [suffix]:
        symbols.pop()
    if not symbols or any(len(symbol) > 1 for symbol in symbols):
        raise InputError(
            f"a word of the dictionary has blanks, and is not written character by character: {text[:60]!r}",
            hint=f"for example: 'l o w {suffix}'" if suffix else "for example: 'l o w'",
        )
    return "".join(symbols).encode("utf-8", "surrogateescape")
