"""The random numbers of Rust's crate rand 0.8: ``StdRng::seed_from_u64``, which is ChaCha with twelve rounds.

Sources: rust-random/rand 0.8.5, ``rand_core`` (a PCG32 stretches the seed) and ``UniformInt`` (a range of ``usize`` by
one multiplication, rejecting what would favour some); Bernstein, "ChaCha, a variant of Salsa20", 2008.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

WORD, LONG = 2**32, 2**64

_ROUNDS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
           (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))  # fmt: skip


def _turned(number: int, places: int) -> int:
    return (number << places | number >> (32 - places)) % WORD


def _stretched(seed: int) -> Iterator[int]:
    """Yield the words that a seed becomes."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 11634580027462260723) % LONG
        mixed = ((state >> 18 ^ state) >> 27) % WORD
        yield _turned(mixed, -(state >> 59) % 32)


def _words(key: list[int]) -> Iterator[int]:
    """Yield the words of ChaCha12, block after block."""
    constants = [int.from_bytes(b"expand 32-byte k"[start : start + 4], "little") for start in range(0, 16, 4)]
    for block in count():
        start = [*constants, *key, block % WORD, block // WORD, 0, 0]
        state = list(start)
        for _ in range(6):
            for a, b, c, d in _ROUNDS:
                for into, of, mixed, places in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                    state[into] = (state[into] + state[of]) % WORD
                    state[mixed] = _turned(state[mixed] ^ state[into], places)
        yield from ((before + after) % WORD for before, after in zip(start, state, strict=True))


class StdRng:
    """A generator.

    >>> rng = StdRng(42)
    >>> [rng.up_to(6) for _ in range(12)]
    [4, 4, 3, 1, 3, 5, 6, 1, 6, 4, 3, 4]
    """

    def __init__(self, seed: int) -> None:
        stretched = _stretched(seed)
        self._words = _words([next(stretched) for _ in range(8)])

    def up_to(self, highest: int) -> int:
        """Return a number from 1 to ``highest``: ``gen_range(1..=highest)`` of a ``usize``."""
        zone = (highest << (64 - highest.bit_length())) - 1
        while True:
            product = (next(self._words) | next(self._words) << 32) * highest
            if product % LONG <= zone:
                return product // LONG + 1
