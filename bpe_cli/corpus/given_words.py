"""Read texts whose words are marked: for languages that are written without spaces.

A line is a text. If the file has a tab, tabs separate words, and what is between two tabs belongs to the text as it
is: blanks between two tabs are blanks of the text, not a word. Otherwise words are separated by whitespace, or by a
zero width space as in Khmer and Thai, and the text itself has neither.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import BinaryIO

from bpe_cli.corpus.opening import read_whole
from bpe_cli.errors import InputError
from bpe_cli.support.messages import show_path

LARGEST = 256 << 20
"""The most bytes of a file, which is held whole."""

_BETWEEN = re.compile("[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000]+")
"""Matches Unicode's White_Space, and the zero width space, which does not belong to it."""

_HINT = "each line is a text, with tabs or blanks between its words"

Words = tuple[tuple[str, bool], ...]
"""The parts of a text in order, and for each whether it is a word."""


def parse_words(data: bytes, name: str) -> list[Words]:
    r"""Read texts with their words.

    >>> parse_words("你 是谁\n".encode(), "x")
    [(('你', True), ('是谁', True))]
    >>> parse_words(b"New York\t \tis\n", "x")
    [(('New York', True), (' ', False), ('is', True))]

    Raises:
        InputError: if it is not UTF-8, or has no words.
    """
    try:
        text = data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 (byte {error.start:,})", hint=_HINT) from error
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    parts = (line.split("\t") for line in lines) if "\t" in text else map(_BETWEEN.split, lines)
    texts = [tuple((part, not _is_blank(part)) for part in each if part) for each in parts]
    texts = [each for each in texts if each]
    if not any(is_word for each in texts for _, is_word in each):
        raise InputError(f"{name} has no words", hint=_HINT)
    return texts


def _is_blank(part: str) -> bool:
    return not _BETWEEN.sub("", part)


def read_words(paths: Sequence[str], stdin: BinaryIO) -> dict[str, list[Words]]:
    """Return the texts of files with their words, as ``parse_words`` reads them, by the names of the files in messages.

    Raises:
        InputError: as ``parse_words``; or if a file cannot be read.
    """
    names = {path: show_path(path) for path in paths}
    return {name: parse_words(read_whole(path, stdin=stdin, most=LARGEST), name) for path, name in names.items()}
