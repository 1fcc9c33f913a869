"""Texts to compare on: real ones cut at any place, changed ones, characters of every class, and very long pieces."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from functools import cache, partial
from random import Random

from tests.differential.texts import REPRESENTATIVES, WORDS, corpus, random_bytes, random_texts
from tests.proof.attempts import SHARED
from tests.test_hostile import HOSTILE

OF_EACH = 8 << 20
"""Bytes that are read of each of the long texts."""


@cache
def real_texts() -> tuple[Callable[[], str], ...]:
    """Return what gives each of the repository's texts, and the beginnings of the long ones that lie beside it."""
    long = sorted((SHARED / "corpora" / "bench").glob("*.txt.xz"))
    return (*(partial(str, text) for text in corpus().values()), *(partial(beginning, str(path)) for path in long))


@cache  # one that is never drawn is never read
def beginning(path: str) -> str:
    """Return the beginning of a compressed text."""
    with lzma.open(path) as file:
        return file.read(OF_EACH).decode("utf-8", "ignore")


def recut(chance: Random, size: int) -> str:
    """Return so many characters, at most, of a real text, from any of its characters on."""
    text = chance.choice(real_texts())()
    start = chance.randrange(len(text) + 1)
    return text[start : start + size]


def mutated(chance: Random, size: int) -> str:
    """Return a part of a real text with characters put in, left out and exchanged."""
    characters = list(recut(chance, size))
    for _ in range(len(characters) // chance.choice((10, 100, 1000))):
        place = chance.randrange(len(characters))
        put = chance.choice(("", characters[place] * 2, chance.choice(REPRESENTATIVES), chance.choice(WORDS)))
        characters[place] = put
    return "".join(characters)


def of_classes(chance: Random, size: int) -> str:
    """Return a text of characters of every class, and of all of Unicode."""
    return "".join(random_texts(max(1, size // 20), chance.getrandbits(32)))[:size]


def repeated(chance: Random, size: int) -> str:
    """Return one piece that is as long as may be: a unit again and again, mostly with something before and behind."""
    pool = [*HOSTILE.values(), *(("", each, "") for each in REPRESENTATIVES + WORDS)]
    before, unit, after = chance.choice(pool)
    most = min(size, 500) if unit.isspace() else size  # beyond, tiktoken's regular expressions overflow a stack
    return before + unit * (most // len(unit)) + after


TEXTS: dict[str, Callable[[Random, int], str]] = {
    "re-cut": recut, "mutated": mutated, "of every class": of_classes, "long pieces": repeated,
}  # fmt: skip
"""Kind -> what makes a text of it; all are valid UTF-8."""


def any_text(chance: Random, size: int) -> str:
    """Return a text of any kind."""
    return chance.choice(list(TEXTS.values()))(chance, size)


def any_bytes(chance: Random, size: int) -> bytes:
    """Return bytes of any kind: a text, one with broken characters in it, or noise."""
    way = chance.randrange(4)
    if way == 0:
        return b"".join(random_bytes(max(1, size // 12), chance.getrandbits(32)))
    if way == 1:
        return chance.randbytes(min(size, 4000))
    data = bytearray(any_text(chance, size).encode())
    if way == 2:
        for _ in range(len(data) // 200):
            data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)
