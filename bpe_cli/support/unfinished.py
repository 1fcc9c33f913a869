"""What a process removes that a signal ends: files with a name before they are whole, folders, and its own workers.

An exception would unwind and remove them. The command line ends at once instead (see ``__main__``), and so do the
worker processes of an engine; what they must not leave behind is listed here. A library that is interrupted by an
exception needs none of this.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Unfinished:
    """The unfinished files by path; in a ``with`` block the process is not ended.

    Attributes:
        paths: The files.
        folders: The temporary folders, which go with all that is in them.
        workers: What ends the worker processes, which have unfinished files of their own.

    >>> unfinished = Unfinished()
    >>> with unfinished:
    ...     unfinished.end(lambda: print("ended"))
    ...     print("what belongs together is done")
    what belongs together is done
    ended
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.paths: set[str] = set()
        self.folders: set[str] = set()
        self.workers: list[Callable[[], object]] = []
        self._held = 0
        self._waiting: Callable[[], object] | None = None

    def __enter__(self) -> None:
        self._held += 1

    def __exit__(self, *_: object) -> None:
        self._held -= 1
        if self._waiting is not None:
            self.end(self._waiting)

    def end(self, leave: Callable[[], object]) -> None:
        """End the workers, remove all that, and leave: now, or at the end of the block. A second call waits no more."""
        if self._held:
            self._waiting = leave
            return
        while self.workers:
            self.workers.pop()()
        for path in tuple(self.paths):
            try:
                os.unlink(path)
            except OSError:  # nobody is left to tell
                continue
        if self.folders:
            from shutil import rmtree

            for folder in tuple(self.folders):
                rmtree(folder, ignore_errors=True)
        leave()


UNFINISHED = Unfinished()
"""What this process has."""
