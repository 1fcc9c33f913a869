"""Count the threads to use: as asked, else as many as there are processors that this process may use."""

from __future__ import annotations

import os

_MOST_THREADS = 1 << 16
"""More change nothing: there is never work for so many at a time."""


def threads_of(threads: int | None) -> int:
    """Return the number of threads: as asked, else the processors that this process may use.

    Counts the CPU limit of a container (cgroup v2's ``cpu.max``, or v1's quota).
    """
    if threads is not None:
        return min(threads, _MOST_THREADS)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for quota_file, period_file in (
        ("/sys/fs/cgroup/cpu.max", None),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    ):
        try:
            with open(quota_file, encoding="ascii") as file:
                words = file.read().split()
            if period_file is not None:
                with open(period_file, encoding="ascii") as file:
                    words += file.read().split()
            quota, period = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):  # no such file, or "max": no limit
            continue
        if quota > 0 and period > 0:
            usable = min(usable, max(1, -(-quota // period)))
    return max(1, usable)
