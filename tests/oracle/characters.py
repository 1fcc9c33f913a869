"""Make vocabularies without merging anything: of characters, of n-grams of them, of whole words.

The oldest ways to number text. They need a rule for what was not seen, or lose it: that is what
subwords were invented for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from bpe_cli.teaching.steps import by_count


def ngrams(text: str, n: int = 2) -> list[str]:
    """Return the n-grams that begin at each character; at the end stand the shorter ones that are left.

    >>> "/".join(ngrams("变得更美好"))
    '变得/得更/更美/美好/好'
    """
    return [text[start : start + n] for start in range(len(text))]


def strides(text: str, n: int = 2) -> list[str]:
    """Cut text after every n characters.

    >>> strides("变得更美好")
    ['变得', '更美', '好']
    """
    return [text[start : start + n] for start in range(0, len(text), n)]


def count(pieces: Iterable[str]) -> Counter[str]:
    """Count pieces, in order of first occurrence.

    >>> count("hii")
    Counter({'i': 2, 'h': 1})
    """
    return Counter(pieces)


def covering(counts: Mapping[str, int], share: str) -> list[str]:
    """Take the most frequent pieces until they make up a share of the text.

    Args:
        counts: How often each piece occurs.
        share: A decimal number; as text, so that 0.9 is nine tenths exactly.

    >>> covering({"a": 8, "b": 1, "c": 1}, "0.9"), covering({"a": 8, "b": 1, "c": 1}, "0.91")
    (['a', 'b'], ['a', 'b', 'c'])
    """
    needed = Fraction(share) * sum(counts.values())
    chosen = []
    covered = 0
    for piece, frequency in by_count(counts):
        if covered >= needed:
            break
        chosen.append(piece)
        covered += frequency
    return chosen


def number(pieces: Sequence[str]) -> dict[str, int]:
    """Number pieces from 0: the table from text to ids.

    >>> number(sorted(set("hii there")))
    {' ': 0, 'e': 1, 'h': 2, 'i': 3, 'r': 4, 't': 5}
    """
    return {piece: token_id for token_id, piece in enumerate(pieces)}


def encode(pieces: Iterable[str], ids: Mapping[str, int], unknown: int | None = None) -> list[int]:
    """Look pieces up.

    >>> encode("hi!", {"h": 2, "i": 3}, unknown=9)
    [2, 3, 9]

    Raises:
        KeyError: if a piece has no id, and there is none for unknown ones.
    """
    return [ids[piece] if unknown is None else ids.get(piece, unknown) for piece in pieces]
