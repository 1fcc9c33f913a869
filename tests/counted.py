"""Count what a test compares: one that leaves its hard cases out, or all of them, must not pass on nothing.

A test that ends early or skips some of its cases, for examples that no law speaks about or that the other side
refuses, is decorated with ``at_least`` and calls ``compared`` where it has compared. tests/test_tests.py sees to it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

_counts: list[int] = []


def compared(number: int = 1) -> None:
    """State that so many more cases were compared."""
    _counts[-1] += number


def at_least(number: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Fail a test that compares fewer cases than this; it stands above ``given``, so that all examples count."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def counting(*args: object, **names: object) -> None:
            _counts.append(0)
            try:
                test(*args, **names)
            finally:
                count = _counts.pop()
            assert count >= number, f"{count} cases were compared, not {number}: the test says little"

        counting.at_least = number  # type: ignore[attr-defined]
        return counting

    return decorate
