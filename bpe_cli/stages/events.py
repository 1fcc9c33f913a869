"""What a list of merges and splits says of the tokens: the parts of each split, and what is split for good."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from typing import NamedTuple

from bpe_cli import _core
from bpe_cli.errors import FormatError
from bpe_cli.stages.models import SPLIT, EventBpe

__all__ = ["SPLIT", "Replay", "first_merges", "replayed", "triples", "without"]


class Replay(NamedTuple):
    """What is derived from events.

    Attributes:
        parts: What tokens become by splits, one after the other (u32).
        ends: Where the parts of each split end.
        removed: The tokens that no text becomes: what is split and not made again.
    """

    parts: memoryview
    ends: memoryview
    removed: frozenset[int]

    def parts_of(self, split: int) -> tuple[int, ...]:
        """Return what a token becomes by a split, by the number of the split among all."""
        return tuple(self.parts[self.ends[split - 1] if split else 0 : self.ends[split]])


def triples(events: array[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the three numbers of each event.

    >>> list(triples(array("I", [0, 1, 2, 2, SPLIT, SPLIT])))
    [(0, 1, 2), (2, 4294967295, 4294967295)]
    """
    numbers = iter(events)
    return zip(numbers, numbers, numbers, strict=True)


def replayed(model: EventBpe) -> Replay:
    """Replay the events of a model.

    >>> from bpe_cli.stages.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab", b"abb"])
    >>> replay = replayed(EventBpe(vocabulary, array("I", [0, 1, 2, 2, 1, 3, 2, SPLIT, SPLIT])))
    >>> replay.parts_of(0), replay.removed
    ((0, 1), frozenset({2}))

    Raises:
        FormatError: if an event cannot be.
    """
    vocabulary = model.vocabulary
    try:
        parts, ends, removed = _core.replay_events(
            (vocabulary.blob, vocabulary.ends), model.events, byte_level=model.byte_level
        )
    except ValueError as error:
        raise FormatError(str(error)) from error
    return Replay(memoryview(parts), memoryview(ends), frozenset(memoryview(removed)))


def first_merges(model: EventBpe) -> dict[int, tuple[int, int]]:
    """Return the pair that first made each token that a merge makes, in the order of the events."""
    found: dict[int, tuple[int, int]] = {}
    for left, right, product in triples(model.events):
        if right != SPLIT:
            found.setdefault(product, (left, right))
    return found


def without(events: array[int], token_ids: Collection[int]) -> array[int]:
    """Return events without some tokens: their merges and splits, and those of what nothing makes any more.

    >>> without(array("I", [0, 0, 1, 1, 0, 2, 2, SPLIT, SPLIT]), {1}).tolist()
    []
    """
    kept = array("I")
    gone, made = set(token_ids), set()  # what is not there though it was, and what the kept events have made
    for left, right, product in triples(events):
        if right == SPLIT:
            if left in gone:
                gone -= {left}.difference(token_ids)
                continue
            made.discard(left)
        elif left in gone or right in gone or product in token_ids:
            if product not in made:
                gone.add(product)
            continue
        else:
            gone.discard(product)
            made.add(product)
        kept.extend((left, right, product))
    return kept
