"""Write files atomically: each appears whole or not at all.

``draft.py`` says how; pipes, devices and terminals are written to directly. What cannot be written, flushed, made or
renamed is an ``OutputError``.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bpe_cli.errors import OutputError
from bpe_cli.sinks.draft import BUFFER_BYTES, Draft, real_path, status_of, sync_folder
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import cannot_write, reason_of, show_path
from bpe_cli.support.unfinished import UNFINISHED

if TYPE_CHECKING:
    import hashlib
    from typing import Any, BinaryIO, ClassVar

    from typing_extensions import Buffer

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_MOST_DIGITS = 9
"""Of the number of an open file."""


class Output:
    """A stream of bytes whose failures are ``OutputError``s that name it. A broken pipe stays one.

    Attributes:
        name: Its name in messages.
        path: Where it will lie, when it becomes a regular file, else None.
        hashes: Whether it hashes what it gets, so that nobody else needs to.
    """

    hashes: ClassVar[bool] = False

    def __init__(self, stream: BinaryIO, name: str, path: str | None = None) -> None:
        self._stream = stream
        self.name = name
        self.path = path
        self._start = _rewritable_from(stream)

    @property
    def rewritable(self) -> bool:
        """Whether ``rewrite_start`` works."""
        return self._start is not None

    @property
    def closed(self) -> bool:
        """Whether the stream is closed already."""
        return self._stream.closed

    def write(self, data: Buffer) -> None:
        """Write bytes."""
        with self._failures():
            self._stream.write(data)

    def flush(self) -> None:
        """Hand all bytes to the system."""
        with self._failures():
            self._stream.flush()

    def reserve_start(self, data: bytes) -> None:
        """Write the first bytes, which ``rewrite_start`` replaces at the end."""
        self.write(data)

    def rewrite_start(self, data: bytes) -> None:
        """Write over the first bytes."""
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


class HashedOutput(Output):
    """A plain file whose hash is known when it is written: it is read again only if its start came last."""

    hashes: ClassVar[bool] = True

    def __init__(self, stream: BinaryIO, name: str, path: str) -> None:
        super().__init__(stream, name, path)
        from hashlib import sha256

        self._hash: hashlib._Hash | None = sha256()

    def write(self, data: Buffer) -> None:
        """Write bytes."""
        super().write(data)
        if self._hash is not None:
            self._hash.update(data)

    def reserve_start(self, data: bytes) -> None:
        """Write the first bytes, which ``rewrite_start`` replaces at the end."""
        self._hash = None
        super().reserve_start(data)

    def rewrite_start(self, data: bytes) -> None:
        """Write over the first bytes."""
        self._hash = None
        super().rewrite_start(data)

    def size_and_hash(self) -> tuple[int, str]:
        """Return how many bytes the file has, and their SHA-256."""
        from hashlib import file_digest

        with self._failures():
            size = self._stream.seek(0, os.SEEK_END)  # which hands all bytes to the system, too
            if self._hash is not None:
                return size, self._hash.hexdigest()
            self._stream.seek(0)
            stream: Any = self._stream
            return size, file_digest(stream, "sha256").hexdigest()


def _rewritable_from(stream: BinaryIO) -> int | None:
    """Return the current offset of a plain file; None for an output that cannot be rewound."""
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
    """Yield standard output as an ``Output``, flushed at the end and not closed."""
    # Under `python -u` standard output is raw, and a raw write may write a part only.
    buffered = io.BufferedWriter(stdout, BUFFER_BYTES) if isinstance(stdout, io.RawIOBase) else None
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
    kept; a link is followed. What is not a regular file is written to directly.
    """
    name = show_path(path)
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
    with Draft(path) as draft:
        output = Output(draft.stream, name, path)
        yield output
        draft.prepare()
        draft.publish()


@contextmanager
def open_described(path: str, beside: str) -> Iterator[tuple[Output, Output | None]]:
    """Open a file as ``open_output`` does, and one that describes it: both are complete before either gets its name.

    The description gets its name first. So whoever is killed between the two leaves it beside an older file, or beside
    none; that it is not of that file can be told by a description that holds a hash, be the older one's what it may.

    Yields:
        The output, and that of the description; None where the first is not a regular file.
    """
    if is_direct(path):  # it is opened once: whoever reads a pipe takes its closing for the end
        with open_output(path) as output:
            yield output, None
        return
    name = show_path(path)
    with Draft(path) as draft, Draft(beside) as description:
        outputs = Output(draft.stream, name, path), Output(description.stream, show_path(beside), beside)
        yield outputs
        draft.prepare()
        description.prepare()
        with UNFINISHED:
            description.publish()
            draft.publish()


def write_together(files: Mapping[str, bytes], since: int | None = None) -> None:
    """Write files that are of use only together; all are complete before the first gets its name.

    The last one is what the others belong to. If it is there already it is taken away before the others change, so that
    at no moment it stands beside files of another run: whoever is killed in between leaves a set without it. Pipes and
    devices are written to directly, when the files are complete.

    Args:
        files: The contents by path.
        since: The time that the last one gets, as ``Draft.began`` gives it; None for that of its last byte.

    Raises:
        OutputError: if a file cannot be written; none is changed then, unless the system fails in the middle of the
            renaming.
    """
    if len(files) == 1:
        for path, content in files.items():
            write_file(path, content)
        return
    with contextlib.ExitStack() as stack:
        drafts = []
        direct = []
        for path, content in files.items():
            if is_direct(path):
                direct.append(path)
                continue
            drafts.append(stack.enter_context(Draft(path)))
            Output(drafts[-1].stream, show_path(path), path).write(content)
        for draft in drafts:
            draft.prepare()
        for path in direct:  # before a file gets its name, as this may fail
            write_file(path, files[path])
        if not drafts:
            return
        drafts[-1].since = since
        with UNFINISHED:
            drafts[-1].withdraw()
            for draft in drafts:
                draft.publish()


@contextmanager
def made_folder(folder: str, *, kept: bool = True) -> Iterator[None]:
    """Make a folder and its parents, durably; after an exception, or if it is not kept, they are removed again."""
    made = []
    place = os.path.abspath(folder)
    while not os.path.lexists(place):
        made.append(place)
        place = os.path.dirname(place)
    try:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {show_path(folder)}: {reason_of(error)}") from error
        for each in made if kept else ():
            sync_folder(os.path.dirname(each))
        yield
    except BaseException:
        kept = False
        raise
    finally:
        for each in [] if kept else made:
            with contextlib.suppress(OSError):  # something of another program's is in it
                os.rmdir(each)


def write_file(path: str, data: bytes) -> None:
    """Write a whole file at once, atomically."""
    with open_output(path) as output:
        output.write(data)


def check_writable(path: str) -> None:
    """Check before the work begins that a file can be written, without leaving a trace.

    Raises:
        OutputError: if its folder is missing or read-only, it is a folder, or the like.
    """
    name = show_path(path)
    if _descriptor_of(path) is not None:
        return
    target = real_path(path, name)
    status = status_of(target, name)
    if status is not None and not os.access(target, os.W_OK):
        raise OutputError(f"cannot write {name}: permission denied")
    if status is None or stat.S_ISREG(status.st_mode):
        with Draft(path):
            pass


def is_direct(path: str) -> bool:
    """Return whether a path is written to directly, and nothing beside it: an open file, a pipe, a device.

    >>> is_direct("/dev/stdout"), is_direct("/dev/null"), is_direct("/dev"), is_direct("no/such/file")
    (True, True, False, False)
    """
    if _descriptor_of(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _descriptor_of(path: str) -> int | None:
    """Return the number of the open file that a path stands for; None for other paths."""
    folder, _, number = path.rpartition("/")
    if folder in ("/dev/fd", "/proc/self/fd") and number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS:
        return int(number)
    return _STREAMS.get(path)


def _open_direct(path: str, name: str) -> BinaryIO | None:
    """Open a path that is not a regular file; None for a regular file, or for one that does not exist yet."""
    number = _descriptor_of(path)
    try:
        if number is not None:
            # Opening /dev/stdout anew would empty the file that `>> file` adds to.
            return os.fdopen(os.dup(number), "wb", BUFFER_BYTES)
        status_of(real_path(path, name), name)
        return open(path, "wb", BUFFER_BYTES) if is_direct(path) else None
    except OSError as error:
        raise cannot_write(name, error) from error
