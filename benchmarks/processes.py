"""Run workers and commands, each in a fresh process whose environment says how many threads it may have."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.instructions import TUNABLES
from benchmarks.jobs import Job
from benchmarks.yardstick import pace

WORKER = Path(__file__).resolve().parent / "worker.py"
STOPWATCH = WORKER.with_name("stopwatch.py")
SECONDS = 900
"""After which a process is given up."""


class WorkerFailed(Exception):
    """A worker did not answer; the message says why, in one line without paths."""


class Killed(WorkerFailed):
    """A worker was killed by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"killed by signal {number}")
        self.signal = number


class TooSlow(WorkerFailed):
    """A worker was stopped because it took longer than its limit, in seconds."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"stopped after {limit} s")
        self.limit = limit


def one_line(stderr: str) -> str:
    """Return the last line of an error, without the folders in it.

    >>> one_line("Traceback ...\\n  ...\\nFileNotFoundError: no '/data/me/x.txt'\\n")
    "FileNotFoundError: no 'x.txt'"
    """
    lines = [line for line in stderr.strip().splitlines() if line.strip()] or ["no message"]
    return re.sub(r"(?:/[^\s/'\":]+)+/", "", lines[-1].strip())[:200]


def environment(threads: int, level: str = "") -> dict[str, str]:
    """Return the environment of a worker: how many threads a library's pool has, and what glibc may use."""
    ours = ("BPE_", "RAYON_", "TOKENIZERS_", "OMP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    parallel = "true" if threads > 1 else "false"
    if level:
        kept["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={TUNABLES[level]}"
    return kept | {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": parallel, "OMP_NUM_THREADS": "1"}


def run(
    command: Sequence[str], threads: int, limit: int = SECONDS, level: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end.

    Raises:
        WorkerFailed: It failed.
        TooSlow: It took longer than ``limit`` seconds.
    """
    try:
        done = subprocess.run(command, env=environment(threads, level), capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise TooSlow(limit) from None
    except OSError as error:
        raise WorkerFailed(one_line(str(error))) from error
    if done.returncode < 0:
        raise Killed(-done.returncode)
    if done.returncode:
        raise WorkerFailed(one_line(done.stderr.decode("utf-8", "replace")))
    return done


def work(job: Job) -> dict[str, Any]:
    """Do a job in a fresh process.

    Raises:
        WorkerFailed: It failed.
        TooSlow: What is timed took longer than the job's limit.
    """
    command = [sys.executable, str(WORKER), json.dumps(asdict(job))]
    try:
        answer: dict[str, Any] = json.loads(run(command, job.threads, level=job.level).stdout)
    except Killed as error:
        if error.signal == signal.SIGALRM:
            raise TooSlow(job.limit) from None
        raise
    if answer.get("expected") is not None:
        answer["digest"] = answer["digest"] == answer["expected"]
    return answer


def bpe_command() -> list[str]:
    """Return the command as it is installed beside the interpreter, or else the module."""
    installed = Path(sysconfig.get_path("scripts")) / "bpe"
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "bpe_cli"]


def timed(command: Sequence[str], threads: int, limit: int = SECONDS) -> dict[str, Any]:
    """Run a command to its end; return its wall and CPU seconds and its peak memory, as the system tells them.

    ``pace`` in the answer tells how fast the machine was; see ``yardstick.py``.

    Raises:
        WorkerFailed: It failed.
        TooSlow: It took longer than ``limit`` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="bpe-bench-") as folder:
        errors = Path(folder, "errors")
        before = pace()
        done = run([sys.executable, "-S", "-E", str(STOPWATCH), str(limit), str(errors), *command], threads)
        taken: dict[str, Any] = json.loads(done.stdout) | {"pace": round(max(before, pace()), 6)}
        code = taken.pop("code")
        if code == -signal.SIGKILL and taken["wall"] >= limit:
            raise TooSlow(limit)
        if code < 0:
            raise Killed(-code)
        if code:
            raise WorkerFailed(one_line(errors.read_text(encoding="utf-8", errors="replace")))
    return taken


def digest_of_file(path: Path) -> str:
    """Return the hash of a file, as workers give it of ids."""
    digest = hashlib.sha256(path.stat().st_size.to_bytes(8, "little"))
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def start(command: Sequence[str], line: str, runs: int) -> dict[str, Any]:
    """Run a command that encodes a line to its end, so many times, and time it from outside.

    Raises:
        WorkerFailed: It failed.
    """
    passes = []
    for _ in range(runs):
        before = pace()
        cpu, wall = children_cpu(), time.perf_counter()
        done = run(command, 1)
        wall, cpu = time.perf_counter() - wall, children_cpu() - cpu
        passes.append({"wall": round(wall, 7), "cpu": round(cpu, 7), "pace": round(max(before, pace()), 6)})
    ids = done.stdout.split()
    return {
        "bytes": len(line.encode()), "documents": 1, "tokens": len(ids), "passes": passes,
        "digest": b" ".join(ids).decode(),
    }  # fmt: skip


def children_cpu() -> float:
    """Return the CPU seconds of all processes that we started and that ended; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
