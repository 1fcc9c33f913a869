"""Run ``bpe``: as a process (``run``), in this one (``call``), or in a terminal (``run_in_terminal``).

Every run has the same surroundings, so that what it prints does not depend on who runs the tests.
``UPDATE_GOLDEN=1 pytest`` writes the files in tests/golden/cli anew.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import math
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from bpe_cli.cli import console, progress
from bpe_cli.cli.app import main
from tests.needs import NO_TERMINAL, skip

GOLDEN = Path(__file__).parent / "golden" / "cli"
SCRIPT = Path(sys.executable).with_name("bpe")
COMMAND = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "bpe_cli"]
SURROUNDINGS = {
    "PATH": os.environ.get("PATH", ""),
    "LC_ALL": "C.UTF-8",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "PYTHONWARNINGS": "error::ResourceWarning",
}


def heed_signals() -> None:
    """Let the processes that are started from here on heed signals, whoever started this one.

    A shell's background job ignores SIGINT, and nohup SIGHUP; children inherit that, and a blocked signal too. A
    handler they do not inherit: this process goes on ignoring what it ignored, and its children do not.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows has no SIGHUP, and blocks none
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
        if number is not None and hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])


def signals(*names: str) -> list[signal.Signals]:
    """Return the signals of these names, without those that the system does not have."""
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


class Result(NamedTuple):
    """What a run gave: exit status, stdout and stderr."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


def surroundings(env: dict[str, str | None] | None) -> dict[str, str]:
    """Return the environment of a run; None takes a variable away."""
    return {name: value for name, value in {**SURROUNDINGS, **(env or {})}.items() if value is not None}


def run(
    *args: str | Path,
    input: bytes | None = None,  # noqa: A002  # as subprocess.run calls it
    env: dict[str, str | None] | None = None,
    cwd: Path | None = None,
    **options: object,
) -> Result:
    """Run the real command; without input its stdin is /dev/null, which nobody feeds."""
    given = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
    given |= {"stdout": subprocess.PIPE} | options
    done = subprocess.run(
        [*COMMAND, *map(str, args)], stderr=subprocess.PIPE, env=surroundings(env), cwd=cwd, timeout=120, **given
    )
    return Result(done.returncode, done.stdout or b"", done.stderr.decode())


def start(*args: str | Path, env: dict[str, str | None] | None = None, **options: object) -> subprocess.Popen:
    """Start the real command, for tests that meddle with it while it runs."""
    return subprocess.Popen([*COMMAND, *map(str, args)], env=surroundings(env), **options)


def call(
    *args: str | Path,
    input: bytes = b"",  # noqa: A002  # as subprocess.run calls it
    env: dict[str, str | None] | None = None,
    cwd: Path | None = None,
    encoding: str = "utf-8",
) -> Result:
    """Run the same command line inside this process, which is many times faster; stdout begins with an encoding."""
    begun = ((input, "utf-8"), (b"", encoding), (b"", "utf-8"))
    streams = [io.TextIOWrapper(io.BytesIO(data), name) for data, name in begun]
    with (
        mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        mock.patch.dict(os.environ, surroundings(env), clear=True),
        contextlib.chdir(cwd or os.curdir),
        # On a machine that is busy a run takes long, and says so.
        mock.patch.object(console, "LONG", math.inf),
        mock.patch.object(progress, "SECONDS_BETWEEN_LINES", math.inf),
    ):
        status = main([*map(str, args)])
        for stream in streams[1:]:
            stream.flush()
    return Result(status, streams[1].buffer.getvalue(), streams[2].buffer.getvalue().decode())


def give_up_rights() -> None:
    """Give up, for what this process starts, what lets root read and write everything."""
    overrides = {"CAP_DAC_OVERRIDE": 1, "CAP_DAC_READ_SEARCH": 2}
    for capability in overrides.values():
        if ctypes.CDLL(None, use_errno=True).prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
            raise PermissionError(ctypes.get_errno(), "cannot give up a right")


def as_a_user() -> dict[str, object]:
    """Return the options for ``run`` with which files have their modes for root too; skip where that cannot be."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return {}
    try:
        subprocess.run([sys.executable, "-c", ""], preexec_fn=give_up_rights, check=True)
    except (subprocess.SubprocessError, AttributeError):
        skip("needs the right to give rights up")
    return {"preexec_fn": give_up_rights}


class Terminal:
    """A pseudo-terminal: ``side`` is for the program, ``read_until`` and ``read_all`` see what it shows."""

    def __init__(self) -> None:
        try:
            import pty
            import termios
        except ImportError:  # Windows
            skip(NO_TERMINAL)
        self._master, self.side = pty.openpty()
        termios.tcsetwinsize(self.side, (24, 100))
        self.shown = b""

    def is_ready(self) -> bool:
        """Return whether there is something to read at once."""
        return bool(select.select([self._master], [], [], 0)[0])

    def read_some(self) -> bool:
        """Take what is there, waiting for it; False at the end, when the program has gone."""
        if self.side is not None:  # the program has a copy by now
            os.close(self.side)
            self.side = None
        for _ in range(2):
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:
                # Linux says EIO when nobody has the other side any more; to a reader that it held up meanwhile, even
                # while the last words are on their way. The next read gets them.
                continue
            self.shown += data
            return bool(data)
        return False

    def read_all(self) -> str:
        """Return everything that is shown until the program goes."""
        while self.read_some():
            pass
        os.close(self._master)
        return self.shown.decode().replace("\r\n", "\n")


def run_in_terminal(
    *args: str | Path, env: dict[str, str | None] | None = None, cwd: Path | None = None, **pipes: object
) -> tuple[int, str]:
    """Run the real command in a terminal: status, and what the terminal shows.

    Args:
        args: As for ``run``.
        env: As for ``run``.
        cwd: As for ``run``.
        pipes: Which of stdin, stdout and stderr are not the terminal.
    """
    terminal = Terminal()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.side) | pipes
    process = start(*args, env={"TERM": "xterm-256color", "NO_COLOR": None, **(env or {})}, cwd=cwd, **streams)
    shown = terminal.read_all()
    return process.wait(timeout=120), shown


def error(message: str, hint: str | None = None) -> str:
    """Return what stderr holds when a run fails."""
    return f"error: {message}\n" + ("" if hint is None else f"\nhint: {hint}\n")


def check_golden(name: str, shown: str | bytes) -> None:
    """Compare with a file in tests/golden/cli."""
    path = GOLDEN / name
    data = shown.encode() if isinstance(shown, str) else shown
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert data.decode() == path.read_bytes().decode(), f"differs from {path}"
