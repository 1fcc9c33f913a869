"""Run parts on this machine: several at a time, each in a process of its own; or one after the other in this one.

A process gets once what all parts have in common, and then one part after the other: data does not travel. Each has a
pipe of its own, so that nothing is shared that a process could leave locked when it dies. A part whose process dies is
tried once more, in a new one.

No worker outlives the process that started it. One that is asked to end, or whose parent is gone, removes its
unfinished files first. A terminal's interrupt is for the parent alone, which decides.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from bpe_cli.engines.base import Common, Outcome, Part, Result, Work, unheard
from bpe_cli.errors import BpeError, UsageError
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.unfinished import UNFINISHED

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess
    from multiprocessing.process import BaseProcess

_GRACE = 5.0
"""How many seconds a worker has to end by itself: the time of a block, and then of removing files."""

_TRIES = 2
"""How often a part is begun whose process dies."""


@dataclass(frozen=True, slots=True)
class Local:
    """The engine of this machine.

    Attributes:
        processes: How many work at a time; 1 for the process that calls alone.
    """

    processes: int

    def run(
        self,
        work: Work[Common, Part, Result],
        parts: Sequence[Part],
        advance: Callable[[int], None] = unheard,
        note: Callable[[str], None] = unheard,
    ) -> Iterator[Result]:
        """Yield the result of each part: see ``Engine.run``.

        Raises:
            UsageError: if this process may start no others.
        """
        if self.processes <= 1 or len(parts) <= 1:
            kept = work.begin(work.common) if parts else None
            for part in parts:
                yield work.run(work.common, kept, part, advance)
            return
        if is_daemonic():
            raise UsageError(
                f"{self.processes} processes are asked for in a daemonic process, such as a worker of a "
                "multiprocessing.Pool or of a DataLoader, which may start none",
                hint="ask for one, with processes=1; or call from another process: those of a "
                "concurrent.futures.ProcessPoolExecutor are not daemonic",
            )
        pool = _Pool(work, parts, min(self.processes, len(parts)), advance, note)
        end = pool.end
        UNFINISHED.workers.append(end)
        try:
            yield from pool.results()
        finally:
            end()
            with suppress(ValueError):  # a signal has taken it
                UNFINISHED.workers.remove(end)


def is_daemonic() -> bool:
    """Return whether this process is one that multiprocessing lets start no others."""
    from multiprocessing import current_process

    return current_process().daemon


class _Worker:
    """A process, the way to it, and the part that it does."""

    def __init__(self, process: SpawnProcess, connection: Connection) -> None:
        self.process, self.connection = process, connection
        self.is_ready = False
        self.place: int | None = None
        self.amount = 0

    def how_it_ended(self) -> str:
        """Return how a process ended that is gone."""
        import signal

        self.process.join(_GRACE)
        status = self.process.exitcode
        if status is None or status >= 0:
            return f"it ended with status {status}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(-status).name}"
        return f"killed by signal {-status}"


class _Pool:
    """Worker processes, and the parts among them."""

    def __init__(
        self,
        work: Work[Any, Any, Any],
        parts: Sequence[Any],
        processes: int,
        advance: Callable[[int], None],
        note: Callable[[str], None],
    ) -> None:
        import multiprocessing
        from multiprocessing.reduction import ForkingPickler

        self._work, self._parts, self._processes = work, parts, processes
        self._advance, self._note = advance, note
        self._context = multiprocessing.get_context("spawn")
        self._pickled = ForkingPickler.dumps(work)
        self._waiting = deque(range(len(parts)))
        self._lost: dict[int, int] = {}  # how often the process of a part died
        self._counted: dict[int, int] = {}  # what such a part had done by then: not to be counted again
        self._unbegun = 0  # how many processes died in a row before they were ready
        self._workers: list[_Worker] = []

    def results(self) -> Iterator[Any]:
        """Yield the results as they come."""
        from multiprocessing.connection import wait

        left = len(self._parts)
        while left:
            while len(self._workers) < min(self._processes, left):
                self._start()
            for worker in self._workers:
                if worker.is_ready and worker.place is None:
                    self._feed(worker)
            ready = wait([worker.connection for worker in self._workers])
            for worker in [each for each in self._workers if each.connection in ready]:
                try:
                    message = worker.connection.recv()
                except (EOFError, OSError):
                    self._replace(worker)
                    continue
                if isinstance(message, int):
                    self._count(worker, message)
                    continue
                result = message.get()
                if worker.is_ready:
                    worker.place, worker.amount = None, 0
                    left -= 1
                    self._feed(worker)
                    yield result
                worker.is_ready, self._unbegun = True, 0

    def end(self) -> None:
        """End the processes: each has a while to do so by itself."""
        from time import monotonic

        for worker in self._workers:
            worker.process.terminate()
        until = monotonic() + _GRACE
        for worker in self._workers:
            worker.process.join(max(0.0, until - monotonic()))
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        with _without_interrupts():
            process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            self._workers.append(_Worker(process, ours))
        theirs.close()
        # Not as an argument: of a process that ends before it has read a long one, Python would wait for ever.
        with suppress(OSError):  # it is gone: the next look at its connection says so
            ours.send_bytes(self._pickled)

    def _feed(self, worker: _Worker) -> None:
        """Hand a worker the next part, if there is one."""
        if self._waiting:
            worker.place = self._waiting.popleft()
            with suppress(OSError):  # it is gone: the next look at its connection says so
                worker.connection.send(self._parts[worker.place])

    def _count(self, worker: _Worker, amount: int) -> None:
        place = worker.place
        worker.amount += amount
        if place is not None and (again := min(amount, self._counted.get(place, 0))):
            self._counted[place] -= again
            amount -= again
        self._advance(amount)

    def _replace(self, worker: _Worker) -> None:
        """Let the part of a lost worker be tried again, first of all that wait."""
        self._workers.remove(worker)
        worker.connection.close()
        how, place = worker.how_it_ended(), worker.place
        if not worker.is_ready:
            self._unbegun += 1
            if self._unbegun >= _TRIES:
                raise BpeError(
                    f"worker processes end before they start: {how}",
                    hint="a program that uses several processes needs `if __name__ == '__main__'`; or memory is short",
                )
            return
        if place is None:
            return
        self._lost[place] = self._lost.get(place, 0) + 1
        name = self._work.name(self._parts[place])
        if self._lost[place] >= _TRIES:
            others = [other.place for other in self._workers if other.place is not None]
            also = f"; given up with it: {', '.join(self._work.name(self._parts[each]) for each in others)}"
            raise BpeError(
                f"the process that made {name} was lost {self._lost[place]} times: {how}{also if others else ''}",
                hint="the system may have run out of memory: use fewer processes, or smaller parts; "
                "what is done is kept",
            )
        self._note(f"the process that made {name} was lost ({how}); it is tried again")
        self._counted[place] = self._counted.get(place, 0) + worker.amount
        self._waiting.appendleft(place)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that a terminal's interrupt never reaches: what is blocked here, stays so in them."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # Python would start its tracker with the first process, and then block no signals any more
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in a worker process ------------------------------------------------------------------------------


def _serve(connection: Connection) -> None:
    """Do parts of the work that comes first until there are no more.

    An answer is an amount, or the outcome of beginning or of a part.
    """
    import signal
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: UNFINISHED.end(lambda: os._exit(128 + number)))
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    with suppress(EOFError, OSError):  # the parent is gone
        work: Work[Any, Any, Any] = connection.recv()
        begun = Outcome.of(work.begin, work.common)
        connection.send(Outcome(error=begun.error))
        while True:
            part = connection.recv()
            connection.send(Outcome.of(work.run, work.common, begun.result, part, connection.send))
    UNFINISHED.end(lambda: os._exit(1))


def _end_after(parent: BaseProcess) -> None:
    """End this process when the one that started it has: as a signal would, or else by force."""
    import _thread
    import signal
    import time

    parent.join()
    _thread.interrupt_main(signal.SIGTERM)
    time.sleep(_GRACE)
    os._exit(1)
