"""Run workers and commands, each in a fresh process whose environment says how many threads it may have."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.libraries import Job

WORKER = Path(__file__).resolve().parent / "worker.py"
SECONDS = 900
"""After which a process is given up."""


class WorkerFailed(Exception):
    """A worker did not answer; the message says why, in one line without paths."""


def one_line(stderr: str) -> str:
    """Give the last line of an error, without the folders in it.

    >>> one_line("Traceback ...\\n  ...\\nFileNotFoundError: no '/data/me/x.txt'\\n")
    "FileNotFoundError: no 'x.txt'"
    """
    lines = [line for line in stderr.strip().splitlines() if line.strip()] or ["no message"]
    return re.sub(r"(?:/[^\s/'\":]+)+/", "", lines[-1].strip())[:200]


def environment(threads: int) -> dict[str, str]:
    """Give the environment of a worker, which says how many threads a library's pool has."""
    ours = ("BPE_", "RAYON_", "TOKENIZERS_", "OMP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    parallel = "true" if threads > 1 else "false"
    return kept | {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": parallel, "OMP_NUM_THREADS": "1"}


def run(command: Sequence[str], threads: int) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end.

    Raises:
        WorkerFailed: It failed, or took too long.
    """
    try:
        done = subprocess.run(command, env=environment(threads), capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise WorkerFailed(f"took longer than {SECONDS} s") from None
    except OSError as error:
        raise WorkerFailed(one_line(str(error))) from error
    if done.returncode < 0:
        raise WorkerFailed(f"killed by signal {-done.returncode}")
    if done.returncode:
        raise WorkerFailed(one_line(done.stderr.decode("utf-8", "replace")))
    return done


def work(job: Job) -> dict[str, Any]:
    """Do a job in a fresh process.

    Raises:
        WorkerFailed: It failed, or took too long.
    """
    answer: dict[str, Any] = json.loads(run([sys.executable, str(WORKER), json.dumps(asdict(job))], job.threads).stdout)
    if answer.get("expected") is not None:
        answer["digest"] = answer["digest"] == answer["expected"]
    return answer


def start(command: Sequence[str], line: str, runs: int) -> dict[str, Any]:
    """Run a command that encodes a line to its end, so many times, and time it from outside.

    Raises:
        WorkerFailed: It failed.
    """
    passes = []
    for _ in range(runs):
        cpu, wall = children_cpu(), time.perf_counter()
        done = run(command, 1)
        wall, cpu = time.perf_counter() - wall, children_cpu() - cpu
        passes.append({"wall": round(wall, 7), "cpu": round(cpu, 7)})
    ids = done.stdout.split()
    return {
        "bytes": len(line.encode()), "documents": 1, "tokens": len(ids), "passes": passes,
        "digest": b" ".join(ids).decode(),
    }  # fmt: skip


def children_cpu() -> float:
    """Give the CPU seconds of all processes that we started and that ended; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
