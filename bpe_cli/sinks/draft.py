"""Drafts of files: written whole and synced before they get their names.

The bytes go into a nameless file in the target's folder (``O_TMPFILE``: nothing is left even after ``kill -9``) or,
where the system has none, into ``.NAME.HOST-PID.part``; then they are synced and renamed. What ``kill -9`` leaves of
those is found by its name: see ``remove_leftovers``.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterator
from itertools import count

from bpe_cli.errors import OutputError
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_write, show_path
from bpe_cli.support.unfinished import UNFINISHED

if TYPE_CHECKING:
    from typing import Self


BUFFER_BYTES = 64 << 10
"""Small writes are gathered; what is larger goes to the system from where it lies."""

_LONG_AGO = 86400.0
"""After how many seconds a draft of another machine that nobody has touched is nobody's."""

_TOUCHED_EVERY = 60.0
"""How many seconds lie between two times that drafts under way are touched."""

_CLOCKS_DIFFER = 3600.0
"""How many seconds the clock of a file server may be slow."""

_touched = 0.0


class Draft:
    """A file on its way to ``target``: nameless if the system can, else beside it.

    Attributes:
        began: When it was opened, in nanoseconds, by the clock that stamps the files of its folder.
        since: The time that the file gets, in such nanoseconds: None for that of its last byte.
    """

    def __init__(self, path: str) -> None:
        self._name = name = show_path(path)
        self._target = target = real_path(path, name)
        self._folder = os.path.dirname(target)
        self._part: str | None = None
        status = status_of(target, name)
        if status is not None and not stat.S_ISREG(status.st_mode):  # which renaming would replace
            raise OutputError(f"cannot write {name}: it is not a regular file")
        self._mode = None if status is None else stat.S_IMODE(status.st_mode)
        try:
            descriptor = self._open_nameless()
            if descriptor is None:
                descriptor = self._open_part()
        except OSError as error:
            raise self._failure(error) from error
        self.stream = io.BufferedRandom(io.FileIO(descriptor, "r+"), BUFFER_BYTES)
        self.began = os.fstat(descriptor).st_mtime_ns
        self.since: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # closing flushes, which fails again on a full disk
            self.stream.close()
        if self._part is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._part)
            self._settle()

    def prepare(self) -> None:
        """Sync the file, under the name of a part: nothing that is left to do needs room."""
        try:
            self.stream.flush()
            descriptor = self.stream.fileno()
            if self._mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, self._mode)
            os.fsync(descriptor)
            if self._part is None:
                self._name_it(descriptor)
            self.stream.close()  # Windows renames closed files only
        except OSError as error:
            raise self._failure(error) from error

    def withdraw(self) -> None:
        """Remove the older file, if there is one."""
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._target)
        except OSError as error:
            raise self._failure(error) from error
        sync_folder(self._folder)

    def publish(self) -> None:
        """Rename a prepared file to its own name.

        Raises:
            ValueError: if the file is not prepared.
            OutputError: if the file cannot be renamed.
        """
        if self._part is None:
            raise ValueError("publish comes after prepare")
        try:
            with UNFINISHED:
                if self.since is not None:
                    with contextlib.suppress(OSError):  # not every file system takes times
                        os.utime(self._part, ns=(self.since, self.since))
                os.replace(self._part, self._target)
                self._settle()
        except OSError as error:
            raise self._failure(error) from error
        sync_folder(self._folder)

    def _open_nameless(self) -> int | None:
        flag = getattr(os, "O_TMPFILE", None)
        if flag is None:
            return None
        try:
            descriptor = os.open(self._folder, flag | os.O_RDWR, 0o666)
        except OSError as error:
            # Kernels and file systems without it say one of these; all else is the user's trouble.
            if error.errno in (errno.EISDIR, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOENT):
                return None
            raise
        if not os.path.exists(f"/proc/self/fd/{descriptor}"):  # the only way to name it
            os.close(descriptor)
            return None
        return descriptor

    def _part_names(self) -> Iterator[str]:
        stem = os.path.basename(self._target)
        if len(os.fsencode(stem)) > 200:
            stem = stem[:50]  # a name ends at 255 bytes
        for number in count():
            again = f".{number}" if number else ""
            yield os.path.join(self._folder, f".{stem}.{_host()}-{os.getpid()}{again}.part")

    def _open_part(self) -> int:
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
        for part in self._part_names():
            with UNFINISHED:
                try:
                    descriptor = os.open(part, flags, 0o666)
                except FileExistsError:
                    continue
                self._take_name(part)
            return descriptor
        raise AssertionError  # the names do not end

    def _name_it(self, descriptor: int) -> None:
        """Link the nameless file under the name of a part; make a copy where the system will not link it."""
        for part in self._part_names():
            with UNFINISHED:
                try:
                    # Without a folder's descriptor Python calls link(2), which does not follow /proc's links.
                    os.link(f"/proc/self/fd/{descriptor}", part, src_dir_fd=descriptor, follow_symlinks=True)
                except FileExistsError:
                    continue
                except OSError:
                    break
                self._take_name(part)
            return
        import shutil

        self.stream.seek(0)
        with open(self._open_part(), "wb", BUFFER_BYTES) as copy:
            shutil.copyfileobj(self.stream, copy, 1 << 20)
            copy.flush()
            if self._mode is not None:
                os.fchmod(copy.fileno(), self._mode)
            os.fsync(copy.fileno())

    def _take_name(self, part: str) -> None:
        self._part = part
        UNFINISHED.paths.add(part)

    def _settle(self) -> None:
        if self._part is not None:
            UNFINISHED.paths.discard(self._part)
        self._part = None

    def _failure(self, error: OSError) -> OutputError:
        if not os.path.isdir(self._folder):
            return OutputError(f"cannot write {self._name}: no such folder {show_path(self._folder)}")
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            what = "is on a read-only disk" if error.errno == errno.EROFS else "may not be written to"
            return OutputError(f"cannot write {self._name}: the folder {show_path(self._folder)} {what}")
        return cannot_write(self._name, error)


def real_path(path: str, name: str) -> str:
    """Follow links, so that a link stays one."""
    if not path:
        raise OutputError("cannot write to a file without a name")
    if path.endswith(("/", os.sep)) and not os.path.isdir(path):
        raise OutputError(f"cannot write {name}: its name is that of a folder")
    try:
        return os.path.realpath(path)
    except ValueError as error:
        raise OutputError(f"cannot write {name}: {error}") from error


def status_of(target: str, name: str) -> os.stat_result | None:
    """Return the status of a target, or None when there is none yet."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise OutputError(f"cannot write {name}: no such folder {show_path(os.path.dirname(target))}") from error
    except OSError as error:
        raise cannot_write(name, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"cannot write {name}: it is a folder")
    return status


def remove_leftovers(folder: str) -> None:
    """Remove the named drafts in a folder whose process was killed: on this machine, or long ago on another one.

    A process of this machine is asked for by its number. Whether one of another machine lives nobody knows here: its
    draft goes when nobody has touched it for a day.
    """
    import re

    host, folder = _host(), os.path.realpath(folder)
    pattern = re.compile(r"\..+\.([\w-]+)-([0-9]+)(?:\.[0-9]+)?\.part")
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            matched = pattern.fullmatch(entry.name)
            if matched is None or entry.path in UNFINISHED.paths:
                continue
            with contextlib.suppress(OSError):  # another run removes it too
                touched = entry.stat(follow_symlinks=False).st_mtime
                if _is_lost(int(matched[2]) if matched[1] == host else None, touched):
                    os.unlink(entry.path)


def touch_drafts() -> None:
    """Touch the named drafts of this process, so that other machines see that it lives: once a minute."""
    global _touched
    import time

    if not UNFINISHED.paths or time.monotonic() < _touched + _TOUCHED_EVERY:
        return
    _touched = time.monotonic()
    for path in tuple(UNFINISHED.paths):
        with contextlib.suppress(OSError):  # it has just got its name
            os.utime(path)


def _host() -> str:
    """Return what this machine is called in the names of files: the start of its name, and a checksum.

    The checksum is of the whole name, since those of a cluster differ at their ends. It is also of the namespace of
    process numbers: containers may share a name, and do not see each other's processes.
    """
    import zlib

    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    shown = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)[:15]
    namespace = 0
    with contextlib.suppress(OSError):  # only Linux has such
        namespace = os.stat("/proc/self/ns/pid").st_ino
    return f"{shown}-{zlib.crc32(os.fsencode(f'{name} {namespace}')):08x}"


def _is_lost(process: int | None, touched: float) -> bool:
    """Return whether a draft is nobody's: of a process of this machine, or None for another, by its last change."""
    import time

    if process is None or (os.name == "nt" and process != os.getpid()):  # to ask Windows would end it
        return touched < time.time() - _LONG_AGO
    return not _lives(process, touched)


def _lives(process: int, at: float) -> bool:
    """Return whether the other process lives that had this number then; one that had ours before is dead."""
    import time

    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return False
    with contextlib.suppress(OSError, IndexError, AttributeError), open(f"/proc/{process}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
        if fields[0] == b"Z":  # ended, and nobody has asked how
            return False
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
        # A process that began later has the number now. Clocks of file servers may be slow.
        return time.time() - age < at + _CLOCKS_DIFFER
    return True


def sync_folder(folder: str) -> None:
    """Make a rename durable, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
