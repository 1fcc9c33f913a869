"""Keep merges from crossing places that the user marks, inside the words of a corpus (MorphBPE, arXiv:2502.00894).

Marks only change what is learnt. Encoding knows nothing of them: a merge that was learnt elsewhere may
cross such a place.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import accumulate

from bpe_cli import _core
from bpe_cli.errors import FormatError

FILE_MARK = "|"
"""What stands between the parts of a word in a file of segmented words."""

_LIMIT = (1 << 63) - 1
"""Bytes that rewritten counts may take: those they are made from had a bound of their own."""
_STEP = 1 << 16


def read_words(lines: Iterable[str], mark: str = FILE_MARK) -> dict[str, tuple[str, ...]]:
    """Read segmented words, one a line: ``un|break|able``.

    A word that stands twice must be cut in the same way both times. Blank lines are left out.

    Raises:
        FormatError: A line has an empty part, or cuts a word in another way than an earlier one.

    >>> read_words(["un|do", ""])
    {'undo': ('un', 'do')}
    """
    words: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, start=1):
        line = line.strip()
        if not line:
            continue
        parts = tuple(line.split(mark))
        if not all(parts):
            raise FormatError(f"line {number} of the segmented words has an empty part: {line!r}")
        word = "".join(parts)
        if words.setdefault(word, parts) != parts:
            raise FormatError(
                f"line {number} of the segmented words cuts {word!r} in another way than an earlier one: "
                f"{mark.join(words[word])} and {line}"
            )
    return words


def mark_pieces(
    counts: _core.Counts, words: Mapping[str, tuple[str, ...]], mark: str = ""
) -> tuple[_core.Counts, bytes]:
    """Put marks into the pieces that are segmented words, a blank before them or not.

    Args:
        counts: How often each piece occurs.
        words: The parts of each word.
        mark: What marks a boundary in the pieces already; empty for nothing.

    Returns:
        The counts, with marks, and the mark, which is empty if there is none. Nothing is copied when
        there are no words.
    """
    if not words:
        return counts, mark.encode()
    joint = mark.encode() if mark else _unused(counts)
    marked: dict[bytes, bytes] = {}
    for word, parts in words.items():
        for blank in ("", " ", "▁"):
            marked[(blank + word).encode()] = blank.encode() + joint.join(part.encode() for part in parts)
    rewritten = _core.Counts(_LIMIT)
    for start in range(0, counts.unique, _STEP):
        items = counts.items(start, _STEP)
        pieces = [marked.get(piece, piece) for piece, _ in items]
        ends = array("Q", accumulate(map(len, pieces)))
        rewritten.add_pieces(b"".join(pieces), ends, array("Q", (count for _, count in items)))
    return rewritten, joint


def _unused(counts: _core.Counts) -> bytes:
    """Return bytes that stand in no piece, and cannot stand in a word: they are no UTF-8."""
    longest = 0
    for start in range(0, counts.unique, _STEP):
        for piece, _ in counts.items(start, _STEP):
            while b"\xff" * (longest + 1) in piece:
                longest += 1
    return b"\xff" * (longest + 1)
