"""Files that have a name before they are whole: what a process removes that a signal ends.

An exception would unwind and remove them. The command line ends at once instead (see ``__main__``), so what it must
not leave behind is listed here. A library that is interrupted by an exception needs none of this.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Unfinished:
    """List files by path; in a ``with`` block nobody ends the process.

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
        self._held = 0
        self._waiting: Callable[[], object] | None = None

    def __enter__(self) -> None:
        self._held += 1

    def __exit__(self, *_: object) -> None:
        self._held -= 1
        if self._waiting is not None:
            self.end(self._waiting)

    def end(self, leave: Callable[[], object]) -> None:
        """Remove the files and leave: now, or at the end of the block."""
        if self._held:
            self._waiting = leave
            return
        import os

        for path in tuple(self.paths):
            try:
                os.unlink(path)
            except OSError:  # nobody is left to tell
                continue
        leave()


UNFINISHED = Unfinished()
"""The files of this process."""
