"""Describe what a round ran on and with: processor and versions, but nothing that names the machine or its folders."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
import threading
import time
from importlib import metadata
from pathlib import Path
from statistics import median

BUSY = 0.2
"""How many seconds a measurement of the processors lasts."""

# What the fast paths of the libraries ask for.
INSTRUCTION_SETS = ("avx2", "avx512bw", "avx512vbmi", "gfni", "asimd", "sve2")


def cpu_model() -> str:
    """Return the processor's name."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        return done.stdout.strip() or platform.machine()
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _cpuinfo(*keys: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((value.strip() for line in lines for key, _, value in [line.partition(":")] if key.strip() in keys), "")


def cores() -> int:
    """Return how many processors we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_average() -> float | None:
    """Return the system's load of the last minute: on an idle machine next to nothing."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def free_cores() -> float:
    """Measure how many processors we get when we ask for all: nearly ``cores()`` on an idle machine.

    The load average tells of a minute that is over; this tells of now.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    _busy(cores())
    return round((time.process_time() - cpu) / (time.perf_counter() - wall), 2)


def worth_of_all(times: int = 9) -> float:
    """Measure how many times the work of one processor all of them do together: the median of several tries.

    It is ``cores()`` unless they share something: two processors of a virtual machine may be two threads of one core.
    """
    return round(median(_busy(cores()) / _busy(1) for _ in range(times)), 2)


def _busy(number: int) -> float:
    """Keep that many threads busy; return how many hashes they computed a second. Hashing runs without the GIL."""
    data = bytes(1 << 20)
    began = time.perf_counter()
    done = [0] * number

    def burn(place: int) -> None:
        while not done[place] or time.perf_counter() < began + BUSY:  # one that has to wait for a processor has one too
            hashlib.sha256(data)
            done[place] += 1

    threads = [threading.Thread(target=burn, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - began)


def describe() -> dict[str, object]:
    """Return what results.json says of the machine."""
    flags = _cpuinfo("flags", "Features").split()
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "instruction_sets": [name for name in INSTRUCTION_SETS if name in flags],
        "system": platform.system(),
        "architecture": platform.machine(),
    }


def version_of(distribution: str) -> str | None:
    """Return a distribution's version, or None if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def core_build() -> str | None:
    """Return the first digits of our compiled module's sha256: a version alone does not tell what was measured."""
    specification = importlib.util.find_spec("bpe_cli._core")
    if specification is None or specification.origin is None:
        return None
    return hashlib.sha256(Path(specification.origin).read_bytes()).hexdigest()[:12]


PROGRAM = ("core", "bpe_cli", "pyproject.toml")
"""What the program is made of, in the repository."""


def commit(repository: Path) -> str | None:
    """Return the commit that is checked out, with a plus if the program was changed since; None without git."""
    return _state(repository, "rev-parse", "--short=12", "HEAD")


def last_change(repository: Path) -> str | None:
    """Return the commit that last changed the program, with a plus if it was changed since; None without git."""
    return _state(repository, "log", "-1", "--abbrev=12", "--format=%h", "--", *PROGRAM)


def _state(repository: Path, *question: str) -> str | None:
    def said(*arguments: str) -> str:
        command = ["git", "-C", str(repository), *arguments]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.strip()

    try:
        changed = said("status", "--porcelain", "--", *PROGRAM)
        return said(*question) + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
