"""How fast the machine is at a moment.

A virtual machine whose processors others use too is half as fast at times, for seconds or minutes, whatever it runs. So
a small piece of work of no library, always the same, is timed right before and right after each pass. The passes at
which it took as long as at the machine's best say more than the others do.
"""

from __future__ import annotations

import time


def pace() -> float:
    """Return how long a fixed piece of work takes, in seconds: the better of two tries, about two milliseconds."""
    return min(_work(), _work())


def _work() -> float:
    began = time.perf_counter()
    total = 0
    for number in range(20_000):
        total += hash((number, total & 0xFF))
    return time.perf_counter() - began
