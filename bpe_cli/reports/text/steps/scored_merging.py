"""Merge by the scores of pieces, and take unused ones apart again.

Source: google/sentencepiece ``bpe_model.cc``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from bpe_cli.tokenizer.merging import Merge, Order


class UserDefined(str):
    """A piece of a user's own: found before all else, and never merged."""

    __slots__ = ()


def spell(piece: str, user_defined: Collection[str] = ()) -> list[str]:
    """Spell a piece in characters, and in pieces of a user's own, the longest at each place.

    >>> spell("abcd", {"bc", "b"})
    ['a', 'bc', 'd']
    """
    lengths = sorted({len(token) for token in user_defined}, reverse=True)
    symbols: list[str] = []
    place = 0
    while place < len(piece):
        own = next((piece[place : place + n] for n in lengths if piece[place : place + n] in user_defined), None)
        symbols.append(piece[place] if own is None else UserDefined(own))
        place += len(symbols[-1])
    return symbols


def order_of_scores(scores: Mapping[str, float]) -> Order[str]:
    """Order merges by the score of what they make, the highest first.

    >>> order_of_scores({"ab": -2.0})("a", "b")
    (2.0, 'ab')
    """

    def order(left: str, right: str) -> tuple[float, str] | None:
        score = scores.get(left + right)
        if score is None or isinstance(left, UserDefined) or isinstance(right, UserDefined):
            return None
        return -score, left + right

    return order


def take_back(
    symbols: Sequence[str], done: Iterable[Merge[str]], unused: Collection[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what merging left, each with what it becomes: itself, or the parts of an unused piece, and of theirs.

    >>> from bpe_cli.tokenizer.merging import merges
    >>> done = merges("abc", order_of_scores({"ab": -1.0, "abc": -2.0}))
    >>> list(take_back("abc", done, {"abc", "ab"}))
    [('abc', ('a', 'b', 'c'))]
    """
    # By the place where a symbol begins, every merge that made it, the last one at the end.
    made: dict[int, list[Merge[str]]] = {}
    gone = set()
    for merge in done:
        made.setdefault(merge.place, []).append(merge)
        gone.add(merge.middle)
    for place, symbol in enumerate(symbols):
        if place in gone:
            continue
        here = made.get(place, [])
        whole = here[-1].product if here else symbol
        leaves: list[str] = []
        # What is still to be looked at: the symbol, its place, and how many of the merges there made it.
        waiting = [(whole, place, len(here))]
        while waiting:
            text, at, count = waiting.pop()
            if text not in unused or not count:
                leaves.append(text)
                continue
            last = made[at][count - 1]
            waiting.append((last.right, last.middle, len(made.get(last.middle, ()))))
            waiting.append((last.left, at, count - 1))
        yield whole, tuple(leaves)
