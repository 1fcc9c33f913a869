"""Hash beside other work: sha256 takes byte after byte, and nothing else should have to wait for that."""

from __future__ import annotations

from collections import deque
from hashlib import sha256

from bpe_cli.support.fast_typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading

    from typing_extensions import Buffer

_MOST_WAITING = 16
"""So many stretches of bytes may wait; then whoever brings more waits too."""


class Digest(Protocol):
    """What ``hashlib`` and this module have in common."""

    def update(self, data: Buffer, /) -> None:
        """Add bytes."""

    def hexdigest(self) -> str:
        """Return the hash of all bytes so far."""


def digest(threads: int) -> Digest:
    """Begin a sha256, beside other work if there may be more threads than one."""
    return sha256() if threads <= 1 else _Beside()


class _Beside:
    """A sha256 that is computed on a thread, which lives as long as something waits.

    >>> hashed = digest(threads=2)
    >>> for part in (b"what is", b" hashed"):
    ...     hashed.update(part)
    >>> hashed.hexdigest() == sha256(b"what is hashed").hexdigest()
    True
    """

    def __init__(self) -> None:
        import threading

        self._hash = sha256()
        self._waiting: deque[Buffer] = deque()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def update(self, data: Buffer, /) -> None:
        """Add bytes, which must not change afterwards."""
        import threading

        with self._lock:
            self._waiting.append(data)
            works = self._thread
            thread = self._thread = works or threading.Thread(target=self._run)
        if works is not None:
            if len(self._waiting) > _MOST_WAITING:
                works.join()
            return
        try:
            thread.start()
        except RuntimeError:  # a limit on processes or on memory
            self._run()

    def hexdigest(self) -> str:
        """Return the hash of all that was added."""
        thread = self._thread
        if thread is not None:
            thread.join()
        return self._hash.hexdigest()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                data = self._waiting.popleft()
            self._hash.update(data)
            del data  # while it waits for the lock
