"""Process items on several threads and finish them in order.

The core lets go of the interpreter's lock while it works, so a thread that works on one block does not
hinder one that reads the next or writes the last: with as many workers as processors none of these waits
long for the others, and what is under way is bounded. With one thread all happens in the caller's; so does
all with one item, as most runs have, which need not even import threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from functools import cache

from bpe_cli.support.fast_typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import threading
    from queue import SimpleQueue
    from typing import Self

Item = TypeVar("Item")
Result = TypeVar("Result")

BLOCK_BYTES = 5 << 18
"""A thread encodes so much text at a time. What is read of most inputs at once fits in, 1 MiB; it and its ids stay in
the processor's caches, in memory that is used again and again, where the system would clear fresh pages for more."""

_KEPT_BYTES = 16 << 20
"""Some blocks of text with their ids."""

_MOST_THREADS = 1 << 16
"""More change nothing: there is never work for so many at a time."""

_WAITING = 8
"""How many items there are beside those that are worked on: some to go on with while the caller's thread, which makes
them, waits for a processor, and some to be finished."""


class _Task(Generic[Item, Result]):
    """An item and its result."""

    def __init__(self, item: Item, done: threading.Lock) -> None:
        self.item = item
        self.done = done
        self.done.acquire()
        self.result: Result
        self.error: BaseException | None = None

    def run(self, work: Callable[[Item], Result]) -> None:
        try:
            self.result = work(self.item)
        except BaseException as error:  # it is raised where the result is wanted
            self.error = error
        finally:
            self.done.release()


class Ordered(Generic[Item, Result]):
    """Call ``work`` for each item on some thread, and ``finish`` for each result on this one, in order.

    An exception of ``work`` is raised when its item's turn to be finished comes: those before it are finished,
    those after it never. No thread is left behind, whatever happens.

    >>> with Ordered(str, lambda item, result: print(item, repr(result)), threads=2) as ordered:
    ...     ordered.put(1)
    ...     ordered.put(2)
    1 '1'
    2 '2'
    """

    def __init__(self, work: Callable[[Item], Result], finish: Callable[[Item, Result], object], threads: int) -> None:
        """Begin; ``threads`` is at least 1."""
        self._work = work
        self._finish = finish
        self._ahead = threads + _WAITING
        self._tasks: SimpleQueue[_Task[Item, Result] | None]
        self._under_way: deque[_Task[Item, Result]] = deque()
        self._thread_count = threads if threads > 1 else 0
        self._alone: list[Item] = []  # the first item, until it is known whether there is another
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.drain()
        finally:
            while self._under_way and self._take_back():
                pass
            for _thread in self._threads:
                self._tasks.put(None)
            for thread in self._threads:
                thread.join()

    def put(self, item: Item) -> None:
        """Hand out an item; wait for the first ones if too many are under way.

        Raises:
            Exception: What ``work`` or ``finish`` of an earlier item raised (of this one, with one thread).
        """
        if not self._thread_count:
            self._finish(item, self._work(item))
        elif not self._threads and not self._alone:
            self._alone.append(item)
        else:
            self._give_out(item)

    def _give_out(self, item: Item) -> None:
        import threading

        if not self._threads and not self._start_one():
            self.drain()
            self._finish(item, self._work(item))
            return
        for each in (*self._alone, item):
            task: _Task[Item, Result] = _Task(each, threading.Lock())
            self._under_way.append(task)
            self._tasks.put(task)
            if len(self._threads) < min(self._thread_count, len(self._under_way)):
                self._start_one()
        self._alone.clear()
        while len(self._under_way) > self._ahead or (self._under_way and not self._under_way[0].done.locked()):
            self._finish_first()

    def _start_one(self) -> bool:
        """Start a thread, for as many as there is work for; return whether the system allows it.

        If it does not, those that there are do all work: at worst none, and then the caller's does.
        """
        import threading

        if not self._threads:
            from queue import SimpleQueue

            self._tasks = SimpleQueue()
        thread = threading.Thread(target=self._run)
        try:
            thread.start()
        except RuntimeError:  # a limit on processes or on memory
            self._thread_count = len(self._threads)
            self._ahead = self._thread_count + _WAITING
            return False
        self._threads.append(thread)
        return True

    def drain(self) -> None:
        """Finish all items under way.

        Raises:
            Exception: What ``work`` or ``finish`` raised.
        """
        for item in self._alone:
            self._finish(item, self._work(item))
        self._alone.clear()
        while self._under_way:
            self._finish_first()

    def _finish_first(self) -> None:
        task = self._under_way[0]
        task.done.acquire()
        self._under_way.popleft()
        if task.error is not None:
            raise task.error
        self._finish(task.item, task.result)

    def _take_back(self) -> bool:
        """Take back an item that no thread has begun; return whether there was one."""
        from queue import Empty

        try:
            return self._tasks.get_nowait() is not None
        except Empty:  # a thread may take the last one at any moment: nobody can ask before
            return False

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            task.run(self._work)
            del task  # it holds a block while this thread waits


@cache
def keep_freed_memory() -> None:
    """Make glibc's allocator keep freed memory for the next block, from the first call on.

    It gives memory back to the system as soon as twice the largest piece is free that it ever asked the system for
    and gave back, so with blocks of 1 MiB pages would come and go with every block. A piece that nobody writes to
    costs nothing; having given it back, the allocator keeps up to 32 MiB. One more would come out of what it keeps, and
    be written to.
    """
    bytes(_KEPT_BYTES)


def usable_threads(requested: int | None = None) -> int:
    """Return the number of threads: as requested, else the processors that this process may use.

    Counts the CPU limit of a container (cgroup v2's ``cpu.max``, or v1's quota).
    """
    if requested is not None:
        return min(requested, _MOST_THREADS)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for quota_file, period_file in (
        ("/sys/fs/cgroup/cpu.max", None),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    ):
        try:
            with open(quota_file, encoding="utf-8") as file:
                words = file.read().split()
            if period_file is not None:
                with open(period_file, encoding="utf-8") as file:
                    words += file.read().split()
            quota, period = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):  # no such file, or "max": no limit
            continue
        if quota > 0 and period > 0:
            usable = min(usable, max(1, -(-quota // period)))
    return max(1, usable)
