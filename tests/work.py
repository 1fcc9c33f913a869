"""Count work: a test that code is quick asserts how much it does, never how long that takes.

``lines`` counts the lines of ours that run, which no machine and no load changes: for what is written in Python.
``cost`` is for what runs in C or Rust, where nothing counts: how many times the processor's time for adding up as many
bytes it takes. The least of several runs of both, in turns, so that a loaded machine changes it little; what takes
fifty times longer than it should exceeds a limit that leaves it five times.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = str(Path(__file__).resolve().parent.parent / "bpe_cli")


class TooMuchWork(BaseException):
    """End what goes on for ever, past every handler of errors."""


def lines(work: Callable[[], object], most: int) -> int:
    """Return how many lines of bpe_cli run, in this thread, and of what a template is compiled into.

    Raises:
        AssertionError: if there are more than that, whenever it would have ended.
    """
    count = 0

    def step(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        if count > most:
            sys.settrace(None)
            raise TooMuchWork
        return step

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        return step if name.startswith(PACKAGE) or name == "<template>" else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        work()
    except TooMuchWork:
        raise AssertionError(f"more than {most:,} lines run") from None
    finally:
        sys.settrace(before)
    return count


def cost(work: Callable[[], object], size: int, most: float, *, runs: int = 5) -> float:
    """Return how many times as long something takes as adding up so many bytes; it stops when it is little enough.

    Raises:
        AssertionError: if it takes more than ``most`` times as long in every run.
    """
    yardstick = bytes(max(size, 1 << 18))
    mine = theirs = float("inf")
    for _ in range(runs):
        theirs = min(theirs, seconds(lambda: sum(yardstick)))
        mine = min(mine, seconds(work))
        if mine <= most * theirs:
            return mine / theirs
    raise AssertionError(
        f"it takes {mine / theirs:.1f} times as long as adding up {len(yardstick):,} bytes, not {most}"
    )


def assert_little_work(work: Callable[[], object], *, size: int, most_lines: int, most_cost: float) -> None:
    """Fail if something that is given so many bytes runs too many lines, or takes too long beside adding them up."""
    assert lines(work, most_lines) <= most_lines
    assert cost(work, size, most_cost) <= most_cost


def seconds(work: Callable[[], object]) -> float:
    """Return the time of the processor that this thread takes for something."""
    before = time.thread_time()
    work()
    return time.thread_time() - before
