"""Listeners: they follow a job without a terminal: what is being done, how far it is, what the caller should know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from bpe_cli.support.fast_typing import Protocol


class Listener(Protocol):
    """The interface of listeners to a job; the command line's draws bars and writes notes."""

    def task(self, what: str, total: int | None, unit: str = "B") -> AbstractContextManager[Callable[[int], None]]:
        """Follow a task while the context is open.

        Args:
            what: What is being done, as in ``encoding``.
            total: How much there is to do, or None when that is unknown.
            unit: What is counted: bytes, unless it says otherwise.

        Returns:
            A context whose value is to be called with each further amount.
        """
        ...

    def note(self, message: str) -> None:
        """Receive a sentence about something that the caller might not expect."""
        ...


def announce(listener: Listener, what: str, **facts: object) -> None:
    """Let a listener know of an event, if it has the method ``event``, which listeners need not have.

    Args:
        listener: The listener.
        what: Which event: ``plan``, ``part``, ``end``.
        facts: What there is to know of it: values that JSON has.
    """
    event = getattr(listener, "event", None)
    if event is not None:
        event(what, facts)


class Silence:
    """Ignore everything."""

    @contextmanager
    def task(self, what: str, total: int | None, unit: str = "B") -> Iterator[Callable[[int], None]]:
        """Ignore a task."""
        yield lambda _: None

    def note(self, message: str) -> None:
        """Ignore everything."""


SILENCE = Silence()
"""The listener of callers who want none."""


def by_totals(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """Return what trainers call with (done so far, all there is to do), for a task that is told of each step further.

    >>> steps = []
    >>> progress = by_totals(steps.append)
    >>> progress(3, 9), progress(7, 9), steps
    (None, None, [3, 4])
    """
    done = 0

    def on_progress(reached: int, _: int) -> None:
        nonlocal done
        advance(reached - done)
        done = reached

    return on_progress


def heard(listener: Listener) -> Listener:
    """Check that a caller's value is a listener, and return it.

    Raises:
        TypeError: if the value lacks a method.
    """
    if not all(callable(getattr(listener, name, None)) for name in ("task", "note")):
        raise TypeError(f"listener must have the methods task and note, and {type(listener).__name__} has not")
    return listener
