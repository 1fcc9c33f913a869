"""Write files that are there whole or not at all.

The bytes go into a nameless file in the target's folder (``O_TMPFILE``: nothing is left even after
``kill -9``) or, where the system has none, into ``.NAME.PID.part``; then they are synced and renamed.
Pipes, devices and terminals are written to directly.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, BinaryIO

from bpe_cli.errors import OutputError
from bpe_cli.sinks.unfinished import UNFINISHED

if TYPE_CHECKING:
    from typing import Self

    from typing_extensions import Buffer

_BUFFER_BYTES = 64 << 10
"""Small writes are gathered; what is larger goes to the system from where it lies."""
_DESCRIPTOR = re.compile(r"/dev/(?:(stdout)|(stderr)|fd/(\d+))|/proc/self/fd/(\d+)")


def cannot_write(name: str, error: OSError) -> OutputError:
    """Make the error of an output that cannot be written."""
    if error.errno == errno.ENOSPC:
        return OutputError(f"cannot write {name}: no space left on device")
    reason = error.strerror or str(error)
    return OutputError(f"cannot write {name}: {reason[:1].lower()}{reason[1:]}")


class Output:
    """A stream of bytes whose failures are ``OutputError``s that name it. A broken pipe stays one.

    Attributes:
        name: What messages call it.
        path: Where it will lie, when it becomes a regular file, else None.
    """

    def __init__(self, stream: BinaryIO, name: str, path: str | None = None) -> None:
        self._stream = stream
        self.name = name
        self.path = path
        self._start = _rewritable_from(stream)

    @property
    def rewritable(self) -> bool:
        """Whether ``rewrite_start`` works."""
        return self._start is not None

    def write(self, data: Buffer) -> None:
        """Write bytes.

        Raises:
            OutputError: They cannot be written.
        """
        with self._failures():
            self._stream.write(data)

    def flush(self) -> None:
        """Hand all bytes to the system.

        Raises:
            OutputError: They cannot be written.
        """
        with self._failures():
            self._stream.flush()

    def rewrite_start(self, data: bytes) -> None:
        """Write over the first bytes.

        Raises:
            OutputError: They cannot be written, or the output is no plain file.
        """
        if self._start is None:
            raise OutputError(f"cannot write {self.name}: its start cannot be rewritten")
        with self._failures():
            self._stream.seek(self._start)
            self._stream.write(data)
            self._stream.seek(0, os.SEEK_END)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise cannot_write(self.name, error) from error


def _rewritable_from(stream: BinaryIO) -> int | None:
    """Give the offset at which a plain file stands, or None for what cannot go back."""
    try:
        descriptor = stream.fileno()
    except (OSError, AttributeError):
        return stream.tell() if stream.seekable() else None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        if os.name == "posix":
            import fcntl

            if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND:
                return None
        return stream.tell()
    except OSError:
        return None


@contextmanager
def open_stdout(stdout: BinaryIO) -> Iterator[Output]:
    """Give standard output as an ``Output``, flushed at the end and not closed.

    Raises:
        OutputError: It cannot be written to.
    """
    # Under `python -u` standard output is raw, and a raw write may write a part only.
    buffered = io.BufferedWriter(stdout, _BUFFER_BYTES) if isinstance(stdout, io.RawIOBase) else None
    output = Output(buffered or stdout, "stdout")
    try:
        yield output
        output.flush()
    finally:
        if buffered is not None:
            with contextlib.suppress(OSError):  # it was reported, or another exception is on its way
                buffered.detach()


@contextmanager
def open_output(path: str) -> Iterator[Output]:
    """Open a file for writing that appears under its name, synced, when the block ends well.

    After any exception, ``KeyboardInterrupt`` too, the folder is as it was. An existing file's mode is
    kept; a link is followed. What is no regular file is written to directly.

    Raises:
        OutputError: It cannot be written.
    """
    name = _show(path)
    direct = _open_direct(path, name)
    if direct is not None:
        output = Output(direct, name)
        try:
            yield output
            output.flush()
        finally:
            with contextlib.suppress(OSError):  # it was reported, or another exception is on its way
                direct.close()
        return
    target = _real(path, name)
    with _Draft(target, name) as draft:
        output = Output(draft.stream, name, path)
        yield output
        output.flush()
        draft.publish()


def write_file(path: str, data: bytes) -> None:
    """Write a whole file at once, atomically.

    Raises:
        OutputError: It cannot be written.
    """
    with open_output(path) as output:
        output.write(data)


def check_writable(path: str) -> None:
    """Make sure that a file can be written, before the work for it begins. Leaves no trace.

    Raises:
        OutputError: Its folder is missing or read-only, it is a folder, or the like.
    """
    name = _show(path)
    if _DESCRIPTOR.fullmatch(path):
        return
    target = _real(path, name)
    status = _status(target, name)
    if status is not None and not os.access(target, os.W_OK):
        raise OutputError(f"cannot write {name}: permission denied")
    if status is None or stat.S_ISREG(status.st_mode):
        with _Draft(target, name):
            pass


class _Draft:
    """A file on its way to ``target``: nameless if the system can, else beside it."""

    def __init__(self, target: str, name: str) -> None:
        self._target, self._name = target, name
        self._folder = os.path.dirname(target)
        self._part: str | None = None
        status = _status(target, name)
        self._mode = None if status is None else stat.S_IMODE(status.st_mode)
        try:
            descriptor = self._open_nameless()
            if descriptor is None:
                _, descriptor = self._open_part()
        except OSError as error:
            raise self._failure(error) from error
        self.stream = io.BufferedRandom(io.FileIO(descriptor, "r+"), _BUFFER_BYTES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # closing flushes, which fails again on a full disk
            self.stream.close()
        if self._part is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._part)
            self._settle()

    def publish(self) -> None:
        """Sync the file and give it its name."""
        try:
            self.stream.flush()
            descriptor = self.stream.fileno()
            if self._mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, self._mode)
            os.fsync(descriptor)
            part = self._part or self._name_it(descriptor)
            self.stream.close()  # Windows renames closed files only
            with UNFINISHED:
                os.replace(part, self._target)
                self._settle()
        except OSError as error:
            raise self._failure(error) from error
        _sync_folder(self._folder)

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
            yield os.path.join(self._folder, f".{stem}.{os.getpid()}{f'.{number}' if number else ''}.part")

    def _open_part(self) -> tuple[str, int]:
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
        for part in self._part_names():
            with UNFINISHED:
                try:
                    descriptor = os.open(part, flags, 0o666)
                except FileExistsError:
                    continue
                self._take_name(part)
            return part, descriptor
        raise AssertionError  # the names do not end

    def _name_it(self, descriptor: int) -> str:
        """Give the nameless file the name of a part; make a copy where the system will not link it."""
        import shutil

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
            return part
        self.stream.seek(0)
        part, copied = self._open_part()
        with open(copied, "wb", _BUFFER_BYTES) as copy:
            shutil.copyfileobj(self.stream, copy, 1 << 20)
            copy.flush()
            if self._mode is not None:
                os.fchmod(copy.fileno(), self._mode)
            os.fsync(copy.fileno())
        return part

    def _take_name(self, part: str) -> None:
        self._part = part
        UNFINISHED.paths.add(part)

    def _settle(self) -> None:
        if self._part is not None:
            UNFINISHED.paths.discard(self._part)
        self._part = None

    def _failure(self, error: OSError) -> OutputError:
        if not os.path.isdir(self._folder):
            return OutputError(f"cannot write {self._name}: no such folder {_show(self._folder)}")
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            what = "is on a read-only disk" if error.errno == errno.EROFS else "may not be written to"
            return OutputError(f"cannot write {self._name}: the folder {_show(self._folder)} {what}")
        return cannot_write(self._name, error)


def _real(path: str, name: str) -> str:
    """Follow links, so that a link stays one.

    Raises:
        OutputError: No file can have such a name.
    """
    if not path:
        raise OutputError("cannot write to a file without a name")
    try:
        return os.path.realpath(path)
    except ValueError as error:
        raise OutputError(f"cannot write {name}: {error}") from error


def _status(target: str, name: str) -> os.stat_result | None:
    """Give the status of a target, or None when there is none yet.

    Raises:
        OutputError: It is a folder, or cannot be looked at.
    """
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise OutputError(f"cannot write {name}: no such folder {_show(os.path.dirname(target))}") from error
    except OSError as error:
        raise cannot_write(name, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"cannot write {name}: it is a folder")
    return status


def _open_direct(path: str, name: str) -> BinaryIO | None:
    """Open what is no regular file; None for one that is, or for what does not exist yet."""
    match = _DESCRIPTOR.fullmatch(path)
    try:
        if match is not None:
            # Opening /dev/stdout anew would empty the file that `>> file` adds to.
            number = 1 if match[1] else 2 if match[2] else int(match[3] or match[4])
            return os.fdopen(os.dup(number), "wb", _BUFFER_BYTES)
        status = _status(_real(path, name), name)
        if status is None or stat.S_ISREG(status.st_mode):
            return None
        return open(path, "wb", _BUFFER_BYTES)
    except OSError as error:
        raise cannot_write(name, error) from error


def _sync_folder(folder: str) -> None:
    """Make a rename last; not every system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _show(path: str) -> str:
    return path if path.isprintable() and path else ascii(path)
