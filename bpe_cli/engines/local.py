"""Run parts on this machine: several at a time, each in a process of its own; or one after the other in this one.

A process is told once what all parts have in common, and then only numbers of parts: data does not travel. It ends when
the process that started it does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bpe_cli.errors import BpeError
from bpe_cli.support.fast_dataclass import dataclass

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from multiprocessing.queues import SimpleQueue

Common = TypeVar("Common")
Part = TypeVar("Part")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Work(Generic[Common, Part, Result]):
    """What is done with each part. All of it can be pickled.

    Attributes:
        common: What a worker gets once.
        begin: Makes of it what the worker keeps, as a loaded tokenizer.
        run: Does a part: of what ``common`` says, what ``begin`` made, the part, and whom to tell of each amount done.
    """

    common: Common
    begin: Callable[[Common], Any]
    run: Callable[[Common, Any, Part, Callable[[int], None]], Result]


def run_here(
    work: Work[Common, Part, Result], parts: Sequence[Part], processes: int, advance: Callable[[int], None]
) -> Iterator[Result]:
    """Yield the result of each part as it is done, in any order.

    Args:
        work: What is done.
        parts: The parts.
        processes: How many processes work at a time; 1 for this one.
        advance: Called with each amount done.

    Raises:
        BpeError: what a part raises; or if a process is lost. Parts under way are given up then.
    """
    if processes <= 1 or len(parts) <= 1:
        kept = work.begin(work.common)
        for part in parts:
            yield work.run(work.common, kept, part, advance)
        return
    import concurrent.futures as futures
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    amounts: SimpleQueue[int] = context.SimpleQueue()
    pool = futures.ProcessPoolExecutor(min(processes, len(parts)), context, _begin, (work, amounts))
    try:
        waiting = {pool.submit(_run, part) for part in parts}
        while waiting:
            done, waiting = futures.wait(waiting, 0.2, futures.FIRST_COMPLETED)
            while not amounts.empty():
                advance(amounts.get())
            for each in done:
                yield each.result()
    except futures.process.BrokenProcessPool as error:
        raise BpeError(
            "a worker process was lost", hint="the system may have run out of memory; fewer `processes` need less of it"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in list((pool._processes or {}).values()):  # there is no public way before Python 3.14
            process.terminate()


class _Worker:
    """What a worker process keeps."""

    work: Work[Any, Any, Any]
    kept: Any
    amounts: SimpleQueue[int]


def _begin(work: Work[Any, Any, Any], amounts: SimpleQueue[int]) -> None:
    import signal
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; who started this one decides

    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    _Worker.work, _Worker.kept, _Worker.amounts = work, work.begin(work.common), amounts


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _run(part: Any) -> Any:
    return _Worker.work.run(_Worker.work.common, _Worker.kept, part, _Worker.amounts.put)
