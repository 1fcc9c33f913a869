"""A cached property is computed once and kept, and nobody waits for another who computes one."""

from __future__ import annotations

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bpe_cli.support.cached import cached_property
from tests import forking
from tests.needs import only_where

HELD_AT_A_FORK = """
import os, signal, threading, warnings
from bpe_cli.support.cached import cached_property

warnings.simplefilter("ignore")  # of a fork with threads, since Python 3.12
inside, go = threading.Event(), threading.Event()

class Slow:
    @cached_property
    def value(self):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            go.wait()
        return 1

slow = Slow()
thread = threading.Thread(target=lambda: slow.value)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(60)  # ends a deadlock
    os._exit(3 + slow.value + Slow().value)
status = os.waitpid(child, 0)[1]
go.set()
thread.join()
print(os.waitstatus_to_exitcode(status), slow.value)
"""


def test_it_is_computed_once_and_kept():
    asked = []

    class Asked:
        @cached_property
        def value(self) -> list[int]:
            """Count."""
            asked.append(self)
            return [len(asked)]

    one, other = Asked(), Asked()
    assert (one.value, one.value, other.value, len(asked)) == ([1], [1], [2], 2)
    assert one.value is vars(one)["value"]
    del one.value
    assert one.value == [3]
    assert isinstance(Asked.value, functools.cached_property)  # so tools take it for what it is
    assert Asked.value.__doc__ == "Count."


def test_an_error_is_not_kept():
    class Failing:
        tries = 0

        @cached_property
        def value(self) -> int:
            self.tries += 1
            if self.tries == 1:
                raise ValueError("once")
            return self.tries

    failing = Failing()
    with pytest.raises(ValueError, match="once"):
        _ = failing.value
    assert failing.value == 2


def test_threads_do_not_wait_for_each_other_and_get_the_same():
    both = threading.Barrier(2, timeout=60)

    class Met:
        @cached_property
        def value(self) -> object:
            both.wait()  # each computes while the other does
            return object()

    met = Met()
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: met.value, range(2))
    assert one is other is met.value


@only_where(hasattr(__import__("os"), "fork"), "needs os.fork, which Windows has not")
def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have(repository):
    done = forking.run(HELD_AT_A_FORK, cwd=repository)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"5 1\n", b"")
