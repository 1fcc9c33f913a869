"""Pretend to be on Windows, as far as what Python lacks there; macOS lacks a part of the same.

``ELSEWHERE=1 pytest -p tests.elsewhere --collect-only`` imports every test as it would be imported there. Only our own
modules see it: libraries look at ``sys.platform``, which stays. What a system does differently under the same name
(paths, locks, line ends) shows on that system alone.
"""

from __future__ import annotations

import builtins
import functools
import os
import sys
from types import ModuleType
from typing import Any

OURS = ("tests", "bpe_cli", "benchmarks", "docs_generate", "conftest")

_PROCESSES = (
    "fork forkpty geteuid getuid getegid getgid setuid setgid getpgid setpgid getsid setsid killpg nice openpty wait3 "
    "wait4 waitid WNOHANG WIFEXITED WIFSIGNALED WEXITSTATUS WTERMSIG register_at_fork posix_spawn"
)
_FILES = (
    "mkfifo mknod chown lchown fchown fchmod statvfs fstatvfs pread pwrite preadv pwritev sendfile lockf sync "
    "fdatasync posix_fadvise posix_fallocate getxattr setxattr listxattr uname getloadavg confstr sysconf "
    "O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_SYNC"
)
_LINUX = (
    "sched_getaffinity sched_setaffinity memfd_create copy_file_range posix_fadvise posix_fallocate getxattr setxattr "
    "listxattr O_TMPFILE O_PATH O_DIRECT pipe2 splice eventfd pidfd_open prlimit"
)
_SIGNALS = (
    "SIGKILL SIGHUP SIGALRM SIGUSR1 SIGUSR2 SIGSTOP SIGTSTP SIGCONT SIGPIPE SIGCHLD SIGQUIT SIGXFSZ SIGXCPU SIGWINCH "
    "pthread_sigmask pthread_kill sigwait setitimer alarm pause siginterrupt ITIMER_REAL SIG_BLOCK SIG_UNBLOCK "
    "SIG_SETMASK"
)
_LINUX_SIGNALS = "SIGRTMIN SIGRTMAX SIGPWR SIGSTKFLT SIGPOLL sigwaitinfo sigtimedwait"

ABSENT = {
    "os": {*_PROCESSES.split(), *_FILES.split(), *_LINUX.split()},
    "signal": {*_SIGNALS.split(), *_LINUX_SIGNALS.split()},
    "select": {"poll", "epoll", "kqueue"},
}
"""Module -> the names that it has on Linux alone, or on Linux and macOS."""

NO_MODULES = {"pty", "tty", "termios", "fcntl", "resource", "pwd", "grp", "syslog", "readline", "curses", "posix"}


class Without(ModuleType):
    """A module without some of its names."""

    def __init__(self, module: ModuleType, absent: set[str], **instead: object) -> None:
        super().__init__(module.__name__)
        self.__dict__["_whole"], self.__dict__["_absent"] = module, absent
        self.__dict__.update(instead)

    def __getattr__(self, name: str) -> Any:
        """Look a name up that is not replaced."""
        if name in self.__dict__["_absent"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on this system")
        return getattr(self.__dict__["_whole"], name)

    def __setattr__(self, name: str, value: object) -> None:
        """Set a name of the module itself, as tests do that replace a function."""
        setattr(self.__dict__["_whole"], name, value)

    def __dir__(self) -> list[str]:
        """List what there is."""
        return sorted(set(dir(self.__dict__["_whole"])) - self.__dict__["_absent"])


def pretend() -> None:
    """Import as on Windows from now on, in our own modules."""
    instead: dict[str, dict[str, object]] = {"os": {"name": "nt"}}
    partial = {name: Without(__import__(name), absent, **instead.get(name, {})) for name, absent in ABSENT.items()}
    plain_import = builtins.__import__

    @functools.wraps(plain_import)
    def importing(name: str, globals: Any = None, *rest: Any, **more: Any) -> Any:  # noqa: A002  # its name
        asker = str((globals or {}).get("__name__", ""))
        if more.get("level") or rest[2:] > (0,) or asker == __name__ or asker.split(".")[0] not in OURS:
            return plain_import(name, globals, *rest, **more)
        head = name.split(".")[0]
        if head in NO_MODULES:
            raise ModuleNotFoundError(f"No module named {head!r} on this system", name=head)
        found = plain_import(name, globals, *rest, **more)
        return partial.get(found.__name__, found)

    builtins.__import__ = importing


if os.environ.get("ELSEWHERE"):
    if any(name.startswith("bpe_cli.") for name in sys.modules):
        raise RuntimeError("the package is imported already")
    pretend()
