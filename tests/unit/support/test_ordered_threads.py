"""Results come in order on any number of threads, errors in their turn, and no thread is left behind."""

from __future__ import annotations

import platform
import queue
import subprocess
import sys
import threading
import time

import pytest

from bpe_cli.support.ordered_threads import Ordered
from tests.needs import only_where

THREADS = [1, 2, 5]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("items", [0, 1, 3, 40])
def test_results_come_in_order(threads, items):
    finished = []

    def work(item):
        time.sleep(0.002 * (item % 3))  # later ones are ready first
        return item * item

    with Ordered(work, lambda item, result: finished.append((item, result)), threads) as ordered:
        for item in range(items):
            ordered.put(item)
    assert finished == [(item, item * item) for item in range(items)]


@pytest.mark.parametrize("threads", THREADS)
def test_few_are_under_way(threads):
    begun, finished, most = 0, 0, 0

    def work(_):
        nonlocal begun
        begun += 1

    def finish(*_):
        nonlocal finished, most
        most = max(most, begun - finished)
        finished += 1

    with Ordered(work, finish, threads) as ordered:
        for item in range(100):
            ordered.put(item)
    assert finished == 100
    assert most <= threads + 9


@pytest.mark.parametrize("threads", THREADS)
def test_an_error_comes_in_its_turn(threads):
    finished = []
    before = threading.active_count()

    def work(item):
        if item >= 4:
            raise ValueError(item)
        time.sleep(0.005)
        return item

    def feed():
        with Ordered(work, lambda item, _: finished.append(item), threads) as ordered:
            for item in range(100):
                ordered.put(item)

    with pytest.raises(ValueError, match=r"^4$"):
        feed()
    assert finished == [0, 1, 2, 3]
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", THREADS)
def test_an_interrupt_leaves_no_thread(threads):
    before, done = threading.active_count(), []

    def feed():
        with Ordered(done.append, lambda *_: None, threads) as ordered:
            ordered.put(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        feed()
    assert threading.active_count() == before
    assert len(done) <= 1


@pytest.mark.parametrize("threads", THREADS)
def test_what_is_under_way_can_be_finished_early(threads):
    finished = []
    with Ordered(lambda item: item, lambda item, _: finished.append(item), threads) as ordered:
        for item in range(3):
            ordered.put(item)
        ordered.drain()
        assert finished == [0, 1, 2]
        ordered.drain()
        ordered.put(3)
    assert finished == [0, 1, 2, 3]


def test_a_thread_that_takes_the_last_item_hides_no_error(monkeypatch):
    """Between the question whether there is an item, and taking it: the error was replaced, and the threads waited."""

    class Late(queue.SimpleQueue):
        def empty(self):
            return False  # it was not when it was asked

    monkeypatch.setattr(queue, "SimpleQueue", Late)
    before, begun, going_on = threading.active_count(), threading.Semaphore(0), threading.Event()

    def work(_):
        begun.release()
        going_on.wait()

    ordered = Ordered(work, lambda *_: None, 2)

    def feed():
        with ordered:
            for item in range(2):
                ordered.put(item)
            for _ in range(2):
                begun.acquire()  # both are taken, and neither is done
            going_on.set()
            raise ValueError("what went wrong")

    try:
        with pytest.raises(ValueError, match=r"^what went wrong$"):
            feed()
    finally:
        left = threading.active_count() - before
        for _ in range(left):
            ordered._tasks.put(None)
    assert left == 0


FAULTS = """
import resource, sys
from bpe_cli.support.ordered_threads import keep_freed_memory

def blocks():
    [b"x" * (1 << 20) for _ in range(4)]

if sys.argv[1] == "kept":
    keep_freed_memory()
blocks()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    blocks()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@only_where(platform.libc_ver()[0] == "glibc", "needs glibc, whose allocator this is about")
def test_freed_memory_is_kept():
    """Pages that come anew are counted: 20 rounds of 1,024 of them where what is freed is given back."""
    given_back, kept = (
        int(subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, check=True).stdout)
        for how in ("given back", "kept")
    )
    assert kept < given_back / 10
    assert kept < 2_000


AGAIN = """
import resource
from bpe_cli.support.ordered_threads import keep_freed_memory

keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    keep_freed_memory()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@only_where(platform.libc_ver()[0] == "glibc", "needs glibc, whose allocator this is about")
def test_what_is_kept_is_not_written_to():
    """Each part of a data set asks for it: it takes no page but the first time."""
    done = subprocess.run([sys.executable, "-c", AGAIN], capture_output=True, check=True)
    assert int(done.stdout) < 100


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_a_system_that_refuses_threads_gets_fewer(monkeypatch, allowed):
    """``ulimit -u``, or no memory for a stack: the work is done all the same, in order, and no thread is left."""
    start, started = threading.Thread.start, []

    def refuse(thread):
        if len(started) == allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    workers, finished = set(), []

    def work(item):
        workers.add(threading.current_thread())
        time.sleep(0.001)
        return item * item

    with Ordered(work, lambda item, result: finished.append((item, result)), 5) as ordered:
        for item in range(40):
            ordered.put(item)
    assert finished == [(item, item * item) for item in range(40)]
    assert (len(started), workers <= {*started, threading.current_thread()}) == (allowed, True)
    assert not any(thread.is_alive() for thread in started)


def test_there_are_no_more_threads_than_items(monkeypatch):
    """However many are asked for: ``-j 65536`` of two blocks starts two."""
    start, started = threading.Thread.start, []
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread), start(thread)))
    finished = []
    for items in (1, 2, 30):
        started.clear()
        with Ordered(lambda item: item, lambda item, _: finished.append(item), 1 << 16) as ordered:
            for item in range(items):
                ordered.put(item)
        assert len(started) <= (items if items > 1 else 0)
    assert finished == [0, 0, 1, *range(30)]
