"""Run a command and tell what it took: ``python -S -E stopwatch.py LIMIT ERRORS COMMAND ...``, as JSON on stdout.

A process of its own because the system's figure for the largest memory of a process begins with that of
the one that started it; this one is small. What the command says on stderr goes to the file ERRORS.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time


def main() -> None:
    """Run the command; wall and CPU seconds, bytes of resident memory at most, exit code."""
    limit, errors, *command = sys.argv[1:]
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    began = time.perf_counter()
    pid = os.posix_spawn(
        command[0], command, os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ],
    )  # fmt: skip
    signal.alarm(int(limit))
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, the others kibibytes
    taken = {
        "wall": round(wall, 7), "cpu": round(usage.ru_utime + usage.ru_stime, 7), "peak": usage.ru_maxrss * unit,
        "code": os.waitstatus_to_exitcode(status),
    }  # fmt: skip
    json.dump(taken, sys.stdout)


if __name__ == "__main__":
    main()
