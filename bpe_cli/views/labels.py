"""Write numbers and the names of tokenizers, and state how much is shown unless all is asked for.

A name is written short: as many of the last parts of its path as tell it from the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from bpe_cli.support.messages import plural
from bpe_cli.views.visible import harmless

count = plural  # among the other ways to write numbers

ABSENT = "–"
"""Stands for a number that there is not."""


def whole(number: int | None) -> str:
    """Write a whole number.

    >>> whole(1234567), whole(None)
    ('1,234,567', '–')
    """
    return ABSENT if number is None else f"{number:,}"


def fraction(number: float | None, digits: int = 2) -> str:
    """Write a number with decimals.

    >>> fraction(4.126), fraction(None), fraction(1234.5, 1)
    ('4.13', '–', '1,234.5')
    """
    return ABSENT if number is None else f"{number:,.{digits}f}"


def percent(share: float) -> str:
    """Write a share of one.

    >>> percent(0.125)
    '12.5%'
    """
    return f"{share:.1%}"


TOKEN_LIMIT = 1000
"""Tokens of a text."""
DOCUMENT_LIMIT = 100
"""Documents of a page or picture."""


def yes(value: bool) -> str:
    """Write a truth value.

    >>> yes(True), yes(False)
    ('yes', 'no')
    """
    return "yes" if value else "no"


def ending(name: str, cells: int) -> str:
    """Shorten a long name to its end, where the names of a folder's files differ.

    >>> ending("a/very/long/path/to/the/folder/of/texts.txt", 34)
    '…/path/to/the/folder/of/texts.txt'
    """
    if cell_len(name) <= cells:
        return name
    kept = name
    while cell_len(kept) >= cells:
        kept = kept[1:]
    _, slash, whole_parts = kept.partition("/")
    return f"…{slash}{whole_parts}" if slash and whole_parts else f"…{kept}"


HEADER_CELLS = 20
"""A longer name goes over several lines at the head of a column."""

_SAME_EVERYWHERE = ("tokenizer.json", "tokenizer.model", "tokenizer.bin", "vocab.txt", "vocab.json", "merges.txt")
"""File names that say nothing without their folder's."""


def short_names(names: Sequence[str]) -> list[str]:
    """Write each name harmlessly, a long one by the shortest end that tells it from the others.

    >>> short_names(["gpt2", "a/b.json", "/data/vocabs/t5-small", "/data/vocabs/llama/tokenizer.model"])
    ['gpt2', 'a/b.json', 't5-small', 'llama/tokenizer.model']
    >>> short_names(["/data/2024/runs/a.json", "/data/2025/runs/a.json"])
    ['2024/runs/a.json', '2025/runs/a.json']
    """
    shown = [harmless(name) for name in names]
    ends = [list(_ends(name)) for name in shown]
    taken: dict[str, int] = {}
    for each in ends:
        for end in each:
            taken[end] = taken.get(end, 0) + 1
    return [next((end for end in each if taken[end] == 1), name) for each, name in zip(ends, shown, strict=True)]


def _ends(name: str) -> Iterator[str]:
    """Yield the ends of a path, the shortest that tells something first; of a short one only all of it."""
    if cell_len(name) <= HEADER_CELLS:
        yield name
        return
    whole = name.rstrip("/")
    parts = whole.split("/")
    for count in range(1, len(parts) + 1):
        if parts[-count] in ("", ".", "..") or (count == 1 < len(parts) and _tells_nothing(parts)):
            continue
        yield "/".join(parts[-count:])


def _tells_nothing(parts: Sequence[str]) -> bool:
    """Return whether a path's last part needs the one before it, and has one."""
    return parts[-1].partition(" (")[0] in _SAME_EVERYWHERE and parts[-2] not in ("", ".", "..")


def full_names(names: Sequence[str], shorter: Sequence[str]) -> list[str]:
    """Describe what the short names stand for, those that are not the whole.

    >>> full_names(["gpt2", "/data/vocabs/t5-small"], ["gpt2", "t5-small"])
    ['t5-small: /data/vocabs/t5-small']
    """
    return [f"{short}: {harmless(name)}" for name, short in zip(names, shorter, strict=True) if short != harmless(name)]


def header(name: str, cells: int = HEADER_CELLS) -> str:
    r"""Break a long name into lines, behind punctuation where there is some.

    >>> header("bert-base-uncased"), header("tokenizer-of-january-32000")
    ('bert-base-uncased', 'tokenizer-of-\njanuary-32000')
    """
    lines = []
    rest = name
    while cell_len(rest) > cells:
        fits = max(1, next(place - 1 for place in range(1, len(rest) + 1) if cell_len(rest[:place]) > cells))
        folder = rest.rfind("/", 0, fits) + 1
        end = folder or max(rest.rfind(mark, 0, fits) for mark in "-_ .") + 1
        end = end if end > fits // 4 else fits
        lines.append(rest[:end])
        rest = rest[end:]
    return "\n".join((*lines, rest))


def header_width(name: str, cells: int = HEADER_CELLS) -> int:
    """Return the columns of the screen that a header takes."""
    return max(map(cell_len, header(name, cells).split("\n")))
