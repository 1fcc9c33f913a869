"""A process that does one thing after the other for a proof: its death, its silence and its memory are findings."""

from __future__ import annotations

import contextlib
import multiprocessing
import traceback
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.proof.attempts import Found

LONGEST = 60.0
"""Seconds that one thing may take by the wall's clock, on however busy a machine."""


class Child:
    """A process of ours, which is started when it is first asked, and again when it has ended."""

    def __init__(self, warm: Callable[..., object], arguments: tuple[Any, ...] = (), room: int | None = None) -> None:
        """Note how to start it.

        Args:
            warm: Called there first, so that what is imported and kept once counts for nothing.
            arguments: Of ``warm``.
            room: How many bytes of address space it may then need in addition; None for any number.
        """
        self._start = (warm, arguments, room)
        self._process: Any = None
        self._pipe: Connection | None = None

    def ask(self, work: Callable[..., Any], *arguments: Any, files: Mapping[str, bytes] | None = None) -> Any:
        """Return what ``work`` returns there.

        Args:
            work: A function of a module.
            arguments: What it gets.
            files: What repeats the attempt, for a finding.

        Raises:
            Found: if it raises, dies or says nothing.
        """
        pipe = self._connected()
        name = getattr(work, "__name__", str(work))
        pipe.send((work, arguments))
        try:
            if not pipe.poll(LONGEST):
                self.end()
                raise Found(f"{name} did not end within {LONGEST:.0f} s", files)
            raised, answer = pipe.recv()
        except (EOFError, ConnectionResetError):
            status = self.end()
            raise Found(f"{name} ended its process with status {status}", files) from None
        if raised:
            last = answer.strip().rpartition("\n")[2]
            raise Found(f"{name} raised {last}", {**(files or {}), "traceback.txt": answer.encode(errors="replace")})
        return answer

    def end(self) -> int | None:
        """End the process, if there is one; return its exit status, negative for a signal, None without one."""
        if self._process is None:
            return None
        if self._pipe is not None:
            self._pipe.close()  # at which it ends, unless it is at work
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        status: int | None = self._process.exitcode
        self._process.close()
        self._process = self._pipe = None
        return status

    def _connected(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, *self._start), daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe


@contextlib.contextmanager
def child(warm: Callable[..., object], *arguments: Any, room: int | None = None) -> Iterator[Child]:
    """Have a child, and end it."""
    made = Child(warm, arguments, room)
    try:
        yield made
    finally:
        made.end()


def _serve(pipe: Connection, warm: Callable[..., object], arguments: tuple[Any, ...], room: int | None) -> None:
    warm(*arguments)
    if room is not None:
        limit_memory(room)
    while True:
        try:
            work, given = pipe.recv()
        except EOFError:
            return
        try:
            answer = (False, work(*given))
        except Exception:
            answer = (True, traceback.format_exc())
        pipe.send(answer)


def limit_memory(room: int) -> None:
    """Let this process have so many bytes of address space more than now, where the system can limit that."""
    status = Path("/proc/self/status")
    if not status.exists():
        return
    import resource

    used = next(int(line.split()[1]) << 10 for line in status.read_text().splitlines() if line.startswith("VmSize"))
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
