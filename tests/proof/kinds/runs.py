"""Short runs of every command in one folder, and what each makes when nothing disturbs it."""

from __future__ import annotations

from pathlib import Path

from tests.interrupting import RUNS, TEXT, Finished, files, prepare


class Runs:
    """A folder in which ``RUNS`` run.

    Attributes:
        folder: Where; the path has no links in it.
    """

    def __init__(self, folder: Path, text: bytes = TEXT) -> None:
        """Make the folder, and write what the runs read."""
        folder.mkdir()
        self.folder = folder.resolve()
        self._whole: dict[str, Finished] = {}
        prepare(self.folder, text)

    def whole(self, name: str) -> Finished:
        """Return what a run makes; it runs the first time. Nothing but what the runs read may lie in the folder."""
        if name not in self._whole:
            self._whole[name] = Finished(self.folder, RUNS[name])
        return self._whole[name]

    def left(self, name: str) -> dict[str, bytes]:
        """Return the files that are there now and were not before the run, or were otherwise."""
        before = self.whole(name).before
        return {file: content for file, content in files(self.folder).items() if before.get(file) != content}
