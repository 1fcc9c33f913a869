"""The order in which a stream has the rows of a data set: shuffled without a list of them.

A row's place is computed by a Feistel network: so an order of any number of rows needs no memory, and a stream can go
on anywhere in it. The network permutes the numbers below a power of four; one that comes out too large goes through it
again ("cycle walking", Black and Rogaway 2002), three times on average at most.

With blocks, neighbouring rows stay together: the blocks come in a shuffled order, and the rows of each are shuffled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bpe_cli.support.lazy_modules import numpy_to

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

_ROUNDS = 8


def numpy() -> Any:
    """Return NumPy, which whoever reads a data set back needs.

    Raises:
        UsageError: if it is not installed.
    """
    return numpy_to("read a data set")


class Order:
    """An order of the rows of a data set, the same for the same seed and epoch on every machine."""

    def __init__(self, count: int, seed: int | None, epoch: int = 0, block: int | None = None) -> None:
        """Order ``count`` rows, in blocks of ``block``, or as one; without a seed as they lie there."""
        self._count = count
        self._block = max(1, min(block or count, count))
        self._blocks = -(-count // self._block)
        self._keys = None if seed is None or count < 2 else (_key(seed, epoch, "blocks"), _key(seed, epoch, "rows"))

    def rows(self, positions: Numbers) -> Numbers:
        """Return which rows come at some positions."""
        keys = self._keys
        if keys is None:
            return positions
        return _walked(lambda numbers, _: self._in_blocks(numbers, *keys), positions, self._count, positions)

    def _in_blocks(self, positions: Numbers, of_blocks: np.uint64, of_rows: np.uint64) -> Numbers:
        """Permute the numbers below that of the blocks times their size, whether there are so many rows or not."""
        size = numpy().uint64(self._block)
        turns, places = positions // size, positions % size
        numbers = _permuted(turns, self._blocks, numpy().full_like(turns, of_blocks))
        rows: Numbers = numbers * size + _permuted(places, self._block, _mixed(numbers ^ of_rows))
        return rows


def _permuted(numbers: Numbers, limit: int, keys: Numbers) -> Numbers:
    """Permute numbers below a limit, each by the permutation of its key."""
    if limit < 2:
        return numbers
    half = max(1, ((limit - 1).bit_length() + 1) // 2)
    return _walked(lambda some, with_keys: _feistel(some, half, with_keys), numbers, limit, keys)


def _walked(permute: Callable[[Numbers, Numbers], Numbers], numbers: Numbers, limit: int, beside: Numbers) -> Numbers:
    """Permute numbers, again and again those that come out at the limit or above; ``beside`` goes along with each."""
    np = numpy()
    limit = np.uint64(limit)
    numbers = permute(numbers, beside)
    above = np.flatnonzero(numbers >= limit)
    while len(above):
        numbers[above] = permute(numbers[above], beside[above])
        above = above[numbers[above] >= limit]
    return numbers


def _feistel(numbers: Numbers, half: int, keys: Numbers) -> Numbers:
    """Permute the numbers of twice ``half`` bits."""
    np = numpy()
    bits, mask = np.uint64(half), np.uint64((1 << half) - 1)
    left, right = numbers >> bits, numbers & mask
    for turn in range(1, _ROUNDS + 1):
        left, right = right, left ^ (_mixed(right + keys * np.uint64(2 * turn + 1)) & mask)
    joined: Numbers = left << bits | right
    return joined


def _mixed(numbers: Numbers) -> Numbers:
    """Mix the bits of numbers: what ends SplitMix64 (Steele, Lea and Flood 2014)."""
    np = numpy()
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Numbers = numbers ^ (numbers >> np.uint64(31))
    return mixed


def _key(seed: int, epoch: int, use: str) -> Any:
    digest = hashlib.blake2b(f"bpe-order/1 {seed} {epoch} {use}".encode(), digest_size=8).digest()
    return numpy().uint64(int.from_bytes(digest, "little"))
