"""Search for the text that is hardest to encode: a hill climber changes a text, and keeps what takes longer a byte.

Each climb begins at one of the texts of benchmarks/worst.py, or at pieces of the tokenizer's own tokens, and measures
as that does: one thread, in a process of its own whose caches are empty, against English.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks import worst as by_hand
from bpe_cli.errors import InputError
from bpe_cli.tokenizer import Tokenizer, named_encodings
from tests.differential.texts import REPRESENTATIVES, WORDS
from tests.every_format import trained
from tests.needs import skip
from tests.proof.attempts import Found, Proof

SIZE = 200_000
"""Bytes of a measured text: what takes five times as long is then far above what a clock can tell."""

RUNS = 3
"""Of which the fastest counts."""

STEPS = 12
"""Changes of a climb."""

MOST_BYTE_LEVEL, MOST_STAGED = 5.0, 10.0
"""How many times as long as English a text may take, by ranks or merges over bytes, and with other stages."""


class Kind(NamedTuple):
    """A kind of tokenizer: what makes one, and its limit."""

    make: Callable[[], Tokenizer]
    most: float


KINDS: dict[str, Kind] = {
    **{name: Kind(lambda name=name: named_encodings.named(name), MOST_BYTE_LEVEL)
       for name in ("gpt2", "cl100k_base", "o200k_base")},
    **{name: Kind(lambda name=name: trained(name), MOST_BYTE_LEVEL) for name in ("bbpe", "byte")},
    **{name: Kind(lambda name=name: trained(name), MOST_STAGED)
       for name in ("bpe hf", "bpe sentencepiece", "wordpiece hf", "unigram", "unigram sentencepiece", "maxmatch")},
}  # fmt: skip
"""Name -> how it is made, and how much longer than English a text may take."""


@dataclass
class Desk:
    """What all attempts share.

    Attributes:
        tokenizers: Those that were made already.
        english: Seconds a byte of English, by tokenizer.
        found: The hardest text so far, by tokenizer: times as long as English, and its unit.
    """

    tokenizers: dict[str, Tokenizer] = field(default_factory=dict)
    english: dict[str, float] = field(default_factory=dict)
    found: dict[str, tuple[float, bytes]] = field(default_factory=dict)

    def tokenizer(self, name: str) -> Tokenizer:
        """Return a tokenizer, compiled before anything is measured."""
        if name not in self.tokenizers:
            self.tokenizers[name] = KINDS[name].make()
            self.tokenizers[name].encode("")
        return self.tokenizers[name]

    def times_english(self, name: str, unit: bytes) -> float:
        """Return how many times as long as a byte of English one of a text takes; 0 of one without tokens."""
        tokenizer = self.tokenizer(name)
        if name not in self.english:
            self.english[name] = measured(tokenizer, by_hand.english(SIZE))
        try:
            tokenizer.encode(unit)
        except InputError:
            return 0.0
        return measured(tokenizer, by_hand.repeated(unit, SIZE)) / self.english[name]


def measured(tokenizer: Tokenizer, text: bytes) -> float:
    """Return seconds of a processor for a byte of text.

    Raises:
        Found: if the process that encodes it ends.
    """
    least = min(by_hand.one(tokenizer, text)["seconds"] for _ in range(RUNS))
    if math.isnan(least):
        raise Found("encoding ends its process", {"text": text})
    return least / len(text)


def start(chance: Random, tokenizer: Tokenizer) -> bytes:
    """Return the first unit of a climb."""
    way = chance.randrange(3)
    if way == 0:
        name = chance.choice(list(by_hand.TEXTS))
        random.seed(chance.getrandbits(64))  # what draws those texts
        return by_hand.TEXTS[name](chance.choice((40, 1000, SIZE)))
    if way == 1:
        return chance.choice(REPRESENTATIVES + WORDS).encode() * chance.choice((1, 3, 100))
    tokens = [token for _, token in tokenizer.model.vocabulary.items()] or [b"a"]
    return b"".join(chance.choices(tokens, k=chance.choice((1, 2, 8, 200))))


def changed(chance: Random, unit: bytes, tokenizer: Tokenizer) -> bytes:
    """Return a unit a little other than one."""
    tokens = [token for _, token in tokenizer.model.vocabulary.items()] or [b"a"]
    begins, ends = sorted(chance.randrange(len(unit) + 1) for _ in range(2))
    put = chance.choice((b"", unit[begins:ends] * 2, chance.choice(tokens), chance.choice(REPRESENTATIVES).encode()))
    return (unit[:begins] + put + unit[chance.choice((begins, ends)) :])[:SIZE] or b"a"


@contextmanager
def begin(_: Path) -> Iterator[Desk]:
    """Begin without tokenizers: each is made when it is first climbed with."""
    if sys.platform != "linux":
        skip("needs Linux, to measure in processes that are copies of this one")
    yield Desk()


def attempt(desk: Desk, chance: Random, number: int) -> Counter[str]:
    """Climb once."""
    name = list(KINDS)[number % len(KINDS)]
    tokenizer, most = desk.tokenizer(name), KINDS[name].most
    unit = start(chance, tokenizer) or b"a"
    times = desk.times_english(name, unit)
    for _ in range(STEPS):
        other = changed(chance, unit, tokenizer)
        if (longer := desk.times_english(name, other)) >= times:
            unit, times = other, longer
    if times > most:  # once more, as another process may have had the processor's caches
        times = min(times, desk.times_english(name, unit))
    desk.found[name] = max(desk.found.get(name, (0.0, b"")), (times, unit))
    if times > most:
        raise Found(
            f"a text takes {times:.1f} times as long as English with {name}, and may take {most:.0f}; it begins "
            f"{unit[:60]!r}",
            {"unit": unit, "text": by_hand.repeated(unit, SIZE)},
        )
    return Counter({"climbs": 1, "texts measured": STEPS + 1, f"climbs with {name}": 1})


def hardest(desk: Desk) -> dict[str, tuple[float, str]]:
    """Return the hardest text of each tokenizer: times as long as English, and its beginning."""
    return {name: (round(times, 1), repr(unit[:40])) for name, (times, unit) in desk.found.items()}


PROOF = Proof(
    title="Worst cases",
    claim="A hill climber searches for slow texts. It starts from texts known to be hard, characters of every class "
    "and the tokenizer's own tokens, and keeps each change that makes the text slower per byte. Each text, English "
    "too, has 200,000 bytes and is encoded by one thread with empty caches. No text takes byte-level BPE more than "
    "5 times as long as English, nor any other tokenizer more than 10 times. The table shows the hardest text of "
    "each and its time as a multiple of English.",
    begin=begin,
    attempt=attempt,
    notes=hardest,
)
