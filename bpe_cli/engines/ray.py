"""Run parts on a Ray cluster: each as a task on whichever node has room.

Nothing but the job, the part and its result travels: paths, and the values of options. So the inputs and the folder lie
on a disk that all nodes see under the same paths, and bpe-cli is installed on each, in the same version.

A task has no state but for what a worker process keeps of its job, as the loaded tokenizer. Ray does a task again whose
node or process is lost; a part that was under way has no record, and so it is done from its beginning.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from bpe_cli.engines.base import Common, Outcome, Part, Result, Work, unheard
from bpe_cli.errors import BpeError, UsageError
from bpe_cli.support.fast_dataclass import dataclass

MEMORY = 512 << 20
"""How much memory of its node a part is reserved; what ``prepare`` needs for one stays below, whatever its size."""

RETRIES = 5
"""How often a part is done again whose node or process was lost."""

_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class RayCluster:
    """The engine of a Ray cluster.

    Attributes:
        address: ``ray://HOST:PORT``, the server for clients of a cluster; None for the cluster that the program is
            connected to already, or that ``RAY_ADDRESS`` names, or that runs on this machine.
        processes: How many parts are under way at most; None for twice as many as the cluster has processors.
        memory: How many bytes of its node's memory a part is reserved at least.
        retries: How often a part is done again whose node or process was lost.
    """

    address: str | None = None
    processes: int | None = None
    memory: int = MEMORY
    retries: int = RETRIES

    def run(
        self,
        work: Work[Common, Part, Result],
        parts: Sequence[Part],
        advance: Callable[[int], None] = unheard,
        note: Callable[[str], None] = unheard,
    ) -> Iterator[Result]:
        """Yield the result of each part: see ``Engine.run``."""
        if not parts:
            return
        try:
            import ray
        except ImportError as error:
            raise UsageError("the engine ray needs Ray, which is not installed", hint="pip install ray") from error
        with _connected(ray, self.address):
            _note_small_nodes(ray, max(self.memory, *map(work.memory, parts)), note)
            shared = ray.put(_Shared(work, os.getcwd(), _version()))
            task = ray.remote(num_cpus=1, max_retries=self.retries)(_do)
            waiting = deque(parts)
            under_way: dict[Any, Part] = {}
            try:
                while waiting or under_way:
                    room = self._most(ray) - len(under_way) if waiting else 0
                    for _ in range(min(room, len(waiting))):
                        part = waiting.popleft()
                        # In a tuple it is not fetched before the task asks for it.
                        memory = max(self.memory, work.memory(part))
                        named = task.options(name=work.name(part), memory=memory, scheduling_strategy="SPREAD")
                        under_way[named.remote((shared,), part)] = part
                    for done in _done(ray, list(under_way)):
                        part = under_way.pop(done)
                        result = _result(ray, done, work.name(part)).get()
                        advance(work.size(part))
                        yield result
            finally:
                _give_up(ray, list(under_way))

    def _most(self, ray: Any) -> int:
        """Return how many parts may be under way; a cluster can grow."""
        return self.processes or max(4, 2 * int(ray.cluster_resources().get("CPU", 1)))


def _done(ray: Any, under_way: list[Any]) -> list[Any]:
    """Wait until a task has ended, and return all that have."""
    done: list[Any] = []
    while not done:
        done, _ = ray.wait(under_way, timeout=1.0)
    more, _ = ray.wait(under_way, num_returns=len(under_way), timeout=0)
    return list(more or done)


def _result(ray: Any, done: Any, name: str) -> Outcome:
    try:
        outcome = ray.get(done)
    except ray.exceptions.RayTaskError as error:
        why = str(error.cause or error).strip().splitlines()[-1:]
        raise BpeError(
            f"a worker of the Ray cluster cannot make {name}: {''.join(why)}",
            hint="each node needs bpe-cli, in the same version",
        ) from error
    except ray.exceptions.RayError as error:
        raise BpeError(
            f"{name} was lost with its process or its node, time and again: {type(error).__name__}",
            hint="it may need more memory than its node has: use smaller parts; what is done is kept",
        ) from error
    if not isinstance(outcome, Outcome):
        raise BpeError(f"a worker of the Ray cluster has another version of bpe-cli: {outcome}")
    return outcome


def _give_up(ray: Any, under_way: list[Any]) -> None:
    """Cancel tasks: those at work have a while to remove their unfinished files, and then their processes end."""
    if not under_way or not ray.is_initialized():  # asked for anything, it would connect again
        return
    with suppress(ray.exceptions.RayError, ConnectionError):
        for each in under_way:
            ray.cancel(each)
        _, left = ray.wait(under_way, num_returns=len(under_way), timeout=_GRACE)
        for each in left:
            ray.cancel(each, force=True)


def _note_small_nodes(ray: Any, memory: int, note: Callable[[str], None]) -> None:
    """Note that no node is large enough for a part; Ray would wait for one without a word."""
    has = [each["Resources"] for each in ray.nodes() if each["Alive"]]
    if not any(each.get("CPU", 0) >= 1 and each.get("memory", 0) >= memory for each in has):
        note(f"no node of the Ray cluster has a processor and {memory >> 20} MiB for a part: waiting for one")


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    """Connect to a cluster, unless the program is; it hears and prints nothing that the program has not asked for."""
    if ray.is_initialized():
        yield
        return
    with _signals_kept():
        try:
            ray.init(address=address or "auto", log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
            if address is None and isinstance(error, ConnectionError):
                raise UsageError(
                    "there is no Ray cluster: RAY_ADDRESS is not set, and none runs on this machine",
                    hint="`ray start` begins one, and ray://HOST:10001 names one elsewhere; "
                    "for this machine alone there is the engine local",
                ) from error
            why = " ".join(str(error).split())[:300] or type(error).__name__
            raise UsageError(f"cannot connect to the Ray cluster {address or 'of RAY_ADDRESS'}: {why}") from error
    _keep_stdout_clean()
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep the handlers of signals: Ray sets its own, after which SIGTERM no longer ends a program as it should."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def _keep_stdout_clean() -> None:
    """Keep Ray from printing to stdout what happens to nodes; there is no public way."""
    from ray._private import worker

    if hasattr(worker, "_worker_logs_enabled"):
        worker._worker_logs_enabled = False


def _version() -> str:
    from bpe_cli.support import __version__

    return __version__


# -- in a worker process ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shared:
    """What all tasks have in common: the work, from where its relative paths lead, and the version that began it."""

    work: Work[Any, Any, Any]
    folder: str
    version: str


class _Kept:
    """What a worker process keeps of the last run: its key, what is common, and what ``begin`` made of it."""

    key: str | None = None
    shared: _Shared
    begun: Any


def _do(shared: tuple[Any], part: Any) -> Outcome | str:
    """Do a part; what another version would do is not known, and its number is returned instead."""
    import ray

    key = shared[0].hex()
    if _Kept.key != key:
        value: _Shared = ray.get(shared[0])
        if value.version != _version():
            return _version()
        with _in_folder(value.folder):
            outcome = Outcome.of(value.work.begin, value.work.common)
        if outcome.error is not None:
            return outcome
        _Kept.key, _Kept.shared, _Kept.begun = key, value, outcome.result
    work = _Kept.shared.work
    with _in_folder(_Kept.shared.folder):
        return Outcome.of(work.run, work.common, _Kept.begun, part, unheard)


@contextmanager
def _in_folder(folder: str) -> Iterator[None]:
    """Let relative paths lead to where they do in the program that began the work."""
    before = os.getcwd()
    with suppress(OSError):  # absolute paths lead somewhere even so; of a relative one it is said that nothing is there
        os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
