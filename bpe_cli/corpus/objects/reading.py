"""Read objects with patience: what may pass is tried again from the byte reached, and bytes of two versions never meet.

A read gives up after ``TRIES`` failures in a row without ``PROGRESS`` bytes between them. The pauses double from
``FIRST_PAUSE`` to ``LONGEST_PAUSE`` seconds and are shortened at random, so that many readers do not come back at the
same moment: about a minute in all. A server that asks for a longer pause gets it, up to ``MOST_ASKED``.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator, Iterator
from queue import Full, Queue
from typing import TYPE_CHECKING, TypeVar, cast

from bpe_cli.corpus.objects.base import CREDENTIALS, Body, Found, TransientError
from bpe_cli.corpus.objects.stores import CLOUDS, store_of
from bpe_cli.errors import InputError
from bpe_cli.support.messages import show_path

if TYPE_CHECKING:
    import hashlib

    from bpe_cli.corpus.objects.base import Store

Result = TypeVar("Result")

TRIES = 10
FIRST_PAUSE, LONGEST_PAUSE, MOST_ASKED = 0.25, 20.0, 60.0
PROGRESS = 1 << 16

AHEAD = 16
"""So many chunks are fetched before they are asked for: 4 to 8 MiB."""

_HEAD_BYTES = 1 << 16
"""What is fetched to tell what an object holds; more of it only if that does not do."""

_PIECE_BYTES = 1 << 16
_LARGEST_PIECE = 1 << 22


class Patience:
    """Count the failures of one read, and wait after each."""

    def __init__(self, url: str, place: int | None = None) -> None:
        """Begin with none; ``place`` is the byte that the read begins with, if it is one of bytes."""
        self._url = url
        self._tries = 0
        self._place = place
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End a pause: nobody waits for the read any more."""
        self._stopped.set()

    def wait(self, error: TransientError, place: int | None = None) -> None:
        """Wait after a failure at a byte.

        Raises:
            InputError: if there were too many.
        """
        if place is not None and self._place is not None and place - self._place >= PROGRESS:
            self._tries, self._place = 0, place
        self._tries += 1
        if self._tries >= TRIES:
            where = "" if place is None else f", at byte {place:,}"
            raise InputError(
                f"cannot read {show_path(self._url)}{where}: {error.reason} ({self._tries} tries)",
                hint="its server fails or cannot be reached; run it again later",
            ) from error
        pause = min(FIRST_PAUSE * 2 ** (self._tries - 1), LONGEST_PAUSE) * random.uniform(0.5, 1)
        self._stopped.wait(max(pause, min(error.wait, MOST_ASKED)))


def persistently(url: str, attempt: Callable[[Store], Result]) -> Result:
    """Return what a request gives that is no read of bytes, trying it again while its failure may pass.

    Raises:
        FileNotFoundError: if there is no such object.
        InputError: if it may not be read, or its server fails too often.
    """
    patience = Patience(url)
    while True:
        try:
            return _aside(lambda: attempt(store_of(url)))
        except PermissionError as error:
            raise _forbidden(url, error) from error
        except TransientError as error:
            patience.wait(error)


def _aside(request: Callable[[], Result]) -> Result:
    """Return what a request gives. It is made in a thread, so that whoever waits for it can be interrupted."""
    came: Queue[tuple[Result | None, BaseException | None]] = Queue()

    def run() -> None:
        try:
            came.put((request(), None))
        except BaseException as error:  # raised where somebody waits for it
            came.put((None, error))

    threading.Thread(target=run, name="bpe-request", daemon=True).start()
    result, error = came.get()
    if error is not None:
        raise error
    return cast("Result", result)


def find(url: str) -> Found:
    """Return what is known of an object.

    Raises:
        FileNotFoundError, InputError: as ``persistently``.
    """
    return persistently(url, lambda store: store.find(url))


def _forbidden(url: str, error: PermissionError) -> InputError:
    hint = CREDENTIALS.get(url.partition("://")[0])
    return InputError(f"cannot read {show_path(url)}: permission denied ({error})", hint=hint)


def missing(url: str) -> InputError:
    """Return the error for an object that is not there."""
    return InputError(f"cannot read {show_path(url)}: there is no such object")


def _changed(url: str) -> InputError:
    return InputError(
        f"cannot read {show_path(url)}: it has changed since it was listed",
        hint="run it again when nothing writes to it any more; `overwrite` makes again what was made from it before",
    )


class _Reading:
    """Read some bytes of an object, one after the other."""

    def __init__(self, url: str, start: int, end: int | None, version: str | None, size: int | None) -> None:
        self.patience = Patience(url, start)
        self._url, self._place, self._end = url, start, end
        self._version = version
        self.size = size
        """How many bytes the object has, as answers say if nobody else does."""
        self._answered: str | None = None  # the version as answers name it
        self._start = start
        self._guard: hashlib._Hash | None = None  # of what came, where it must come again

    def chunks(self) -> Generator[bytes, None, None]:
        """Yield the bytes.

        Raises:
            InputError: if they cannot be fetched.
        """
        while not self._is_done():
            try:
                body = store_of(self._url).open(self._url, self._place, self._end)
                try:
                    self._check(body)
                    yield from self._of(body)
                finally:
                    body.close()
                if self._is_done() or self.size is None:  # nobody knows where it ends
                    return
                raise TransientError("the answer ended early")
            except FileNotFoundError as error:
                raise missing(self._url) from error
            except PermissionError as error:
                raise _forbidden(self._url, error) from error
            except TransientError as error:
                self.patience.wait(error, self._place)

    def _last(self) -> int | None:
        known = [each for each in (self._end, self.size) if each is not None]
        return min(known) if known else None

    def _is_done(self) -> bool:
        last = self._last()
        return last is not None and self._place >= last

    def _check(self, body: Body) -> None:
        """Check that an answer is about the same bytes as the list or the answers before it."""
        version, size = body.found.version, body.found.size
        if size is not None:
            if self.size is not None and size != self.size:
                raise _changed(self._url)
            self.size = size
        if self._answered is not None:
            if version != self._answered:
                raise _changed(self._url)
            return
        # A store may give an object one mark in its list and another one in its answers: what counts is that the list
        # still says the same.
        if self._version not in (None, version) and (version is None or self._listed() != self._version):
            raise _changed(self._url)
        self._answered = version

    def _listed(self) -> str | None:
        try:
            return find(self._url).version
        except FileNotFoundError:
            return None

    def _of(self, body: Body) -> Iterator[bytes]:
        """Yield of an answer what is not there yet: a server that knows no ranges begins anew each time."""
        passed, last = body.start, self._last()
        again = self._again(body)
        for chunk in body.chunks:
            data = chunk
            if passed < self._place:
                old, data = data[: self._place - passed], data[self._place - passed :]
                passed += len(old)
                again(old)
            if last is not None and self._place + len(data) > last:
                data = data[: last - self._place]
            if data:
                passed += len(data)
                self._place += len(data)
                if self._guard is not None:
                    self._guard.update(data)
                yield data
            if last is not None and self._place >= last:
                return

    def _again(self, body: Body) -> Callable[[bytes], None]:
        """Return what is called with the bytes that come again; it checks that they are the same."""
        import hashlib

        if body.start == self._place:
            if self._guard is None and body.start == self._start == 0 and not body.is_ranged:
                self._guard = hashlib.sha256()
            return lambda _: None
        guard, seen, there = self._guard, hashlib.sha256(), body.start

        def check(data: bytes) -> None:
            nonlocal there
            seen.update(data)
            there += len(data)
            if guard is not None and there == self._place and seen.digest() != guard.digest():
                raise _changed(self._url)

        return check


def stream(
    url: str, start: int = 0, end: int | None = None, *, version: str | None = None, size: int | None = None
) -> Generator[bytes, None, None]:
    """Stream the bytes of an object.

    Args:
        url: The object.
        start: The first byte.
        end: The last one (exclusive); None for the object's end.
        version: Its version, if that is known; other bytes are refused then.
        size: Its size, likewise.

    Raises:
        InputError: if the bytes cannot be had, or are not those of that version.
    """
    return _Reading(url, start, end, version, size).chunks()


def read(url: str, start: int, end: int, *, version: str | None = None, size: int | None = None) -> bytes:
    """Return some bytes of an object, few enough to be held.

    Raises:
        InputError: as ``stream``.
    """
    return b"".join(stream(url, start, end, version=version, size=size))


def ahead(
    url: str, start: int = 0, end: int | None = None, *, version: str | None = None, size: int | None = None
) -> Generator[bytes, None, None]:
    """Stream the bytes of an object as ``stream`` does, while a thread fetches those that come next.

    Raises:
        InputError: as ``stream``.
    """
    reading = _Reading(url, start, end, version, size)
    waiting: Queue[bytes | BaseException | None] = Queue(AHEAD)
    stopped = threading.Event()

    def put(item: bytes | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.1)
            except Full:
                continue
            return True
        return False

    def fetch() -> None:
        chunks = reading.chunks()
        try:
            for chunk in chunks:
                if not put(chunk):
                    return
            put(None)
        except BaseException as error:  # raised where somebody waits for the bytes
            put(error)
        finally:
            chunks.close()

    thread = threading.Thread(target=fetch, name="bpe-ahead", daemon=True)
    thread.start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        reading.patience.stop()


def head_first(url: str, *, version: str | None = None, size: int | None = None) -> Generator[bytes, None, None]:
    """Stream the bytes of an object of which few may be enough: the first come by a request of their own.

    Raises:
        InputError: as ``stream``.
    """
    reached, first = 0, _Reading(url, 0, _HEAD_BYTES, version, size)
    for chunk in first.chunks():
        reached += len(chunk)
        yield chunk
    if reached == _HEAD_BYTES:
        yield from stream(url, reached, version=version, size=first.size)


def read_object(
    url: str, *, version: str | None = None, size: int | None = None, few: bool = False
) -> Generator[bytes, None, None]:
    """Stream the bytes of an object; ``few`` if only the first ones may be asked for.

    Raises:
        InputError: as ``stream``.
    """
    return (head_first if few else ahead)(url, version=version, size=size)


def lines_in(
    url: str,
    start: int,
    end: int,
    *,
    version: str | None,
    size: int | None,
    on_begin: Callable[[int], None] | None = None,
) -> Generator[bytes, None, None]:
    """Stream the lines of an object whose first byte lies at ``start`` or after it, and before ``end``.

    ``on_begin`` is called with the offset of the first of them.

    Raises:
        InputError: as ``stream``.
    """
    begun, last, place = start == 0, b"", max(start - 1, 0)
    chunks = ahead(url, max(start - 1, 0), end, version=version, size=size)
    try:
        for chunk in chunks:
            # Before the first line: the rest of one that begins before, or the end of the last one.
            cut = 0 if begun else chunk.find(b"\n") + 1
            if on_begin is not None and last == b"" and (begun or cut):
                on_begin(place + cut)
            begun, place = begun or cut > 0, place + len(chunk)
            if begun and (data := chunk[cut:]):
                last = data[-1:]
                yield data
    finally:
        chunks.close()
    piece = _PIECE_BYTES
    while last not in (b"", b"\n") and (size is None or end < size):
        data = read(url, end, end + piece, version=version, size=size)
        if not data:
            return
        data = data[: data.find(b"\n") + 1] or data
        yield data
        last, end, piece = data[-1:], end + len(data), min(2 * piece, _LARGEST_PIECE)


def is_ranged(url: str) -> bool:
    """Return whether a server gives any bytes of an object: if not, it can only be read from its start to its end."""
    if url.partition("://")[0] in CLOUDS:
        return True
    body = persistently(url, lambda store: store.open(url, 0, 1))
    body.close()
    return body.is_ranged
