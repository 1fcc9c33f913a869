"""What the adapters have in common: a call again and again, and places in characters."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from benchmarks.jobs import Task


def calls(call: Callable[[str], Any], texts: Sequence[str], repeats: int, ids: Callable[[Any], Any] = iter) -> Task:
    """Return the task of a call for each text, all of them so often: the same loop for all libraries.

    The results of the last time are kept; ``ids`` takes the ids out of one after the clock has stopped.

    >>> calls(len, ["abc", "d"], 2).run()
    [3, 1]
    """

    def run() -> list[Any]:
        if len(texts) == 1:
            (text,) = texts
            result = None
            for _ in range(repeats):
                result = call(text)
            return [result]
        return [call(text) for _ in range(repeats) for text in texts][-len(texts) :]

    return Task(run, lambda results: array("I", [token_id for result in results for token_id in ids(result)]))


def encoded(texts: Iterable[str]) -> list[bytes]:
    """Return the bytes of texts."""
    return [text.encode() for text in texts]


def spans(
    columns: Iterable[tuple[Sequence[int], Sequence[int], Sequence[int]]], texts: Iterable[str]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return ids and where they lie in characters, of ids and where each begins and ends in bytes.

    A character that several tokens share belongs to each of them.

    >>> spans([([7, 8, 9], [0, 1, 2], [1, 2, 3])], ["\u00e9!"])
    ([7, 8, 9], [(0, 1), (0, 1), (1, 2)])
    """
    ids, places = [], []
    for (numbers, starts, ends), text in zip(columns, texts, strict=True):
        begins = list(accumulate((len(character.encode()) for character in text), initial=0))
        at = array("Q", bytes(8 * (begins[-1] + 1)))  # of each byte, its character
        for number, (start, end) in enumerate(pairwise(begins)):
            at[start:end] = array("Q", [number]) * (end - start)
        at[-1] = len(text)
        ids += numbers
        places += [
            (at[start], at[end - 1] + 1 if end > start else at[start]) for start, end in zip(starts, ends, strict=True)
        ]
    return ids, places
