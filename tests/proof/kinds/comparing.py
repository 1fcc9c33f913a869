"""Hold one answer against another, and leave out of a text what no two Unicode versions agree on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.differential.texts import disputed
from tests.proof.attempts import Found


def compare(what: str, data: bytes, ours: Sequence[Any], theirs: Sequence[Any]) -> int:
    """Return how many bytes were compared.

    Raises:
        Found: if the two differ.
    """
    if ours == theirs:
        return len(data)
    place = next((n for n, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
    place = min(len(ours), len(theirs)) if place is None else place
    around = slice(max(0, place - 3), place + 5)
    raise Found(
        f"{what}: entry {place} differs: {ours[around]!r} is to be {theirs[around]!r}",
        {"text": data, "ours.txt": repr(ours).encode(), "theirs.txt": repr(theirs).encode()},
    )


def undisputed(data: bytes) -> bytes:
    """Return bytes without the characters whose class is another in the Unicode version of the ``regex`` module."""
    while not disputed().isdisjoint(text := data.decode("utf-8", "surrogateescape")):
        kept = "".join(each for each in text if each not in disputed())
        data = kept.encode("utf-8", "surrogateescape")  # in which broken bytes may meet, and be another character
    return data
