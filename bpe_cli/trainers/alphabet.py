"""Choose the characters that a vocabulary begins with, from counts of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bpe_cli import _core

_STEP = 1 << 16


def texts(counts: _core.Counts, by_byte: bool = False, mark: str = "") -> Iterator[tuple[str, int]]:
    """Yield words and their counts, without boundary marks.

    A byte that is no part of UTF-8 is a lone surrogate, as of ``surrogateescape``; ``by_byte``, each
    byte is the character with its number.
    """
    encoding, errors = ("latin-1", "strict") if by_byte else ("utf-8", "surrogateescape")
    if by_byte:
        mark = mark.encode().decode("latin-1")
    for start in range(0, counts.unique, _STEP):
        for piece, number in counts.items(start, _STEP):
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
