"""Make, read and rewrite the counts of pieces that trainers learn from, and choose an alphabet from them.

Marks (MorphBPE, arXiv:2502.00894) stand for places that the user names, inside the words of a corpus. They only
change what is learnt. Encoding knows nothing of them: a merge that was learnt elsewhere may cross such a place.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, pairwise

from bpe_cli import _core
from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.stages.counting import ALL_MEMORY

DEFAULT_MAX_MEMORY = 4 << 30
"""Bytes that counts may take; a fixed number, so that what is refused does not depend on the machine."""

STEPS_BYTES = 20_000
"""Bytes of different pieces up to which a textbook's training is shown: it counts all anew at each step."""

FILE_MARK = "|"
"""What stands between the parts of a word in a file of segmented words."""


def new_counts(max_memory: int = DEFAULT_MAX_MEMORY) -> _core.Counts:
    """Return empty counts that take at most ``max_memory`` bytes."""
    return _core.Counts(min(max_memory, ALL_MEMORY))


def items_of(counts: _core.Counts) -> Iterator[tuple[bytes, int]]:
    """Yield all pieces with their counts, in order of first occurrence."""
    step = 1 << 16
    for start in range(0, counts.unique, step):
        yield from counts.items(start, step)


def every_item(parts: Iterable[_core.Counts]) -> Iterator[tuple[bytes, int]]:
    """Yield all pieces of several counts, one after the other."""
    return chain.from_iterable(map(items_of, parts))


def pieces_of(counts: _core.Counts) -> dict[bytes, int]:
    """Return all pieces with their counts, in order of first occurrence.

    >>> from array import array
    >>> counts = new_counts()
    >>> counts.add_pieces(b"aba", array("Q", [1, 2, 3]), None)
    >>> pieces_of(counts)
    {b'a': 2, b'b': 1}
    """
    return dict(items_of(counts))


def counts_of(items: Iterable[tuple[bytes, int]]) -> _core.Counts:
    """Count pieces that were counted before and have been rewritten, in memory without a bound.

    >>> pieces_of(counts_of([(b"a", 2), (b"b", 1), (b"a", 1)]))
    {b'a': 3, b'b': 1}
    """
    counts = new_counts(ALL_MEMORY)
    for batch in _batched(items, 1 << 16):
        _add(counts, batch)
    return counts


def _add(counts: _core.Counts, items: Sequence[tuple[bytes, int]], factor: int = 1) -> None:
    """Add pieces with their numbers, each times a factor."""
    pieces = [piece for piece, _ in items]
    ends = array("Q", accumulate(map(len, pieces)))
    counts.add_pieces(b"".join(pieces), ends, array("Q", (factor * number for _, number in items)))


def add_times(total: _core.Counts, counts: _core.Counts, factor: int) -> Iterator[None]:
    """Add counts as if their text were there ``factor`` times, and yield after each part of them.

    >>> total = counts_of([(b"a", 2)])
    >>> list(add_times(total, counts_of([(b"b", 1), (b"a", 1)]), 3)), pieces_of(total)
    ([None], {b'a': 5, b'b': 3})
    """
    for batch in _batched(items_of(counts), 1 << 16):
        _add(total, batch, factor)
        yield


def _batched(items: Iterable[tuple[bytes, int]], size: int) -> Iterator[list[tuple[bytes, int]]]:
    """Yield items, ``size`` at a time."""
    waiting = iter(items)
    while batch := list(islice(waiting, size)):
        yield batch


def refuse_nothing(counts: _core.Counts, what: str = "text") -> None:
    """Check that a corpus has something to train on."""
    if not counts.unique:
        raise TrainingError(f"there is nothing to train on: the corpus has no {what}")


def small(counts: _core.Counts) -> dict[bytes, int]:
    """Return all pieces of a corpus that is small enough for a textbook.

    Raises:
        UsageError: if the corpus is too large.
    """
    pieces = dict(counts.items(0, STEPS_BYTES))
    if sum(map(len, pieces)) > STEPS_BYTES:  # so many pieces have more bytes, if there are more than these
        raise UsageError(
            f"`steps` is for small corpora: up to {STEPS_BYTES:,} bytes of different pieces",
            hint="leave `steps` out, or train on a sample",
        )
    return pieces


def small_texts(counts: _core.Counts) -> dict[str, int]:
    """Return all pieces of a corpus that is small enough for a textbook, as text.

    >>> small_texts(counts_of([(b"a", 2), (b"\\xff", 1)]))
    {'a': 2, '\\udcff': 1}
    """
    return {piece.decode("utf-8", "surrogateescape"): count for piece, count in small(counts).items()}


def cut_tokens(blob: bytes, ends: _core.U32Array) -> list[bytes]:
    """Cut the tokens that the core has learnt apart at their ends."""
    return [blob[start:end] for start, end in pairwise([0, *memoryview(ends)])]


def texts(counts: _core.Counts, by_byte: bool = False, mark: str = "") -> Iterator[tuple[str, int]]:
    """Yield words and their counts, without boundary marks.

    A byte that is no part of UTF-8 is a lone surrogate, as of ``surrogateescape``; ``by_byte``, each
    byte is the character with its number.

    >>> counts = counts_of([("é".encode(), 2), (b"\\xff", 1)])
    >>> list(texts(counts)), list(texts(counts, by_byte=True))
    ([('é', 2), ('\\udcff', 1)], [('Ã©', 2), ('ÿ', 1)])
    >>> list(texts(counts_of([(b"un|do", 1)]), mark="|"))
    [('undo', 1)]
    """
    encoding, errors = ("latin-1", "strict") if by_byte else ("utf-8", "surrogateescape")
    if by_byte:
        mark = mark.encode().decode("latin-1")
    for piece, number in items_of(counts):
        word = piece.decode(encoding, errors)
        yield (word.replace(mark, "") if mark else word), number


def character_counts(words: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Count how often each character occurs.

    >>> character_counts([("aab", 2)])
    {'a': 4, 'b': 2}
    """
    counts: dict[str, int] = {}
    for word, number in words:
        for character in word:
            counts[character] = counts.get(character, 0) + number
    return counts


def edge_characters(words: Iterable[tuple[str, int]]) -> int:
    """Count the different characters inside words and the different ones at their ends.

    >>> edge_characters([("aab", 1), ("b", 1), ("ba", 1)])
    4
    """
    inner: set[str] = set()
    final: set[str] = set()
    for word, _ in words:
        inner.update(word[:-1])
        final.update(word[-1:])
    return len(inner) + len(final)


def kept_characters(
    counts: dict[str, int], limit: int | None = None, coverage: float | None = None, always: str = ""
) -> list[str]:
    """Choose an alphabet: the most frequent characters, of equals the lower code points. Sorted.

    Bytes that are no characters are never among them: no file of a vocabulary could hold them.

    Args:
        counts: How often each character occurs.
        limit: Most characters.
        coverage: Take no more once these make up such a share of all.
        always: Characters that are there whatever their count; they come before all others.

    >>> kept_characters({"c": 1, "b": 1, "a": 9}, limit=2)
    ['a', 'b']
    >>> kept_characters({"c": 1, "b": 1, "a": 9}, coverage=0.8), kept_characters({"a": 9}, always="z")
    (['a'], ['a', 'z'])
    """
    given = set(always)
    ordered = sorted({*counts, *given}, key=lambda each: (each not in given, -counts.get(each, 0), each))
    ordered = [each for each in ordered if not "\ud800" <= each <= "\udfff"][:limit]
    if coverage is None:
        return sorted(ordered)
    total, covered = sum(counts.values()), 0
    kept: list[str] = []
    for each in ordered:
        if covered >= coverage * total and each not in given:
            break
        kept.append(each)
        covered += counts.get(each, 0)
    return sorted(kept)


def read_words(lines: Iterable[str], mark: str = FILE_MARK) -> dict[str, tuple[str, ...]]:
    """Read segmented words, one a line: ``un|break|able``.

    A word that appears twice must be cut in the same way both times. Blank lines are left out.

    Raises:
        FormatError: if a line has an empty part, or cuts a word in another way than an earlier one.

    >>> read_words(["un|do", "", "re|do"])
    {'undo': ('un', 'do'), 'redo': ('re', 'do')}
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
    return counts_of((marked.get(piece, piece), number) for piece, number in items_of(counts)), joint


def _unused(counts: _core.Counts) -> bytes:
    """Return bytes that no piece holds, and that no word can hold, as they are not UTF-8."""
    longest = 0
    for piece, _ in items_of(counts):
        while b"\xff" * (longest + 1) in piece:
            longest += 1
    return b"\xff" * (longest + 1)
