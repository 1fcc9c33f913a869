"""Count the broken rows of a part, and write them beside it if they are to be kept: ``on_error``.

A part that was finished while a broken row was an error has none. So a run that leaves them out goes on with it, and
with its record but for the count, which is 0.

A line of ``part-00017.quarantine.jsonl`` is an object: ``input``, ``line`` (or ``row``, or ``member``) and ``offset``,
where the row stands; ``from``, if lines are counted from another byte than the first; ``kind`` and ``reason``; and its
bytes, as ``raw`` if they are UTF-8, else as ``base64``; neither for what has no bytes of its own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, get_args

from bpe_cli.errors import UsageError
from bpe_cli.jobs.prepare.records import Plan, Record, remove_file
from bpe_cli.jobs.prepare.sides import PartFile
from bpe_cli.support.fast_dataclass import replace
from bpe_cli.support.messages import cannot_read

if TYPE_CHECKING:
    from contextlib import ExitStack

    from bpe_cli.corpus.rows import BrokenRow
    from bpe_cli.sinks.draft import Draft

OnError = Literal["fail", "skip", "quarantine"]
"""What becomes of a broken row."""

ENDING = ".quarantine.jsonl"


def check_on_error(on_error: str) -> None:
    """Check the word that says what becomes of broken rows.

    Raises:
        UsageError: if there is no such word.
    """
    if on_error not in get_args(OnError):
        raise UsageError(f"`on_error` cannot be {on_error!r}", hint=f"it is {', '.join(get_args(OnError))}")


def leaves_out_more(there: Plan, now: Plan) -> bool:
    """Return whether the only other thing is that broken rows are left out now, and were errors before."""
    on_error = now.settings.get("on_error")
    return "on_error" not in there.settings and Plan({**there.settings, "on_error": on_error}, there.parts) == now


def is_made_with(record: Record, on_error: str) -> bool:
    """Return whether broken rows became in a part what is asked for; where there are none, the files are the same."""
    if on_error == "fail":
        return record.broken is None
    return not record.broken or (record.quarantine is not None) == (on_error == "quarantine")


def with_count(record: Record, on_error: str) -> Record:
    """Return a record with the count of the broken rows that were left out, if such are: none, if they were errors."""
    return record if on_error == "fail" or record.broken is not None else replace(record, broken={})


class BrokenRows:
    """The broken rows of a part.

    Attributes:
        path: Where they are written.
        counts: How many there are of each kind; None if the first is an error.
    """

    def __init__(self, on_error: OnError, path: str, stack: ExitStack) -> None:
        """Begin with none."""
        from bpe_cli.sinks.atomic import HashedOutput
        from bpe_cli.sinks.draft import Draft

        self.path = path
        self.counts: dict[str, int] | None = None if on_error == "fail" else {}
        self._draft: Draft | None = stack.enter_context(Draft(path)) if on_error == "quarantine" else None
        self._output = None if self._draft is None else HashedOutput(self._draft.stream, path, path)

    def take(self, row: BrokenRow) -> None:
        """Count a row, and write it."""
        if self.counts is None:
            raise ValueError("broken rows are errors")
        self.counts[row.kind] = self.counts.get(row.kind, 0) + 1
        if self._output is not None:
            self._output.write(_line(row))

    def take_over(self, counts: dict[str, int] | None, path: str | None) -> None:
        """Take what another pass has counted, and copy the file that it has written, if there is one.

        Raises:
            InputError: if that cannot be read.
        """
        self.counts = counts
        if path is None or self._output is None:
            return
        try:
            with open(path, "rb") as file:
                while chunk := file.read(1 << 20):
                    self._output.write(chunk)
        except OSError as error:
            raise cannot_read(path, error) from error

    def drafts(self) -> tuple[Draft, ...]:
        """Return what is to be published: the file, if a row is in it."""
        return (self._draft,) if self._draft is not None and self.counts else ()

    def withdraw(self) -> None:
        """Remove the file of an older run.

        Raises:
            OutputError: if it cannot be removed.
        """
        remove_file(self.path)

    def file(self) -> PartFile | None:
        """Describe the file for a record; None if there is none."""
        if self._output is None or not self.counts:
            return None
        return PartFile(os.path.basename(self.path), *self._output.size_and_hash())


def _line(row: BrokenRow) -> bytes:
    from bpe_cli.support.safe_orjson import orjson

    place = row.place
    described: dict[str, Any] = {"input": place.path}
    where = {
        "from": place.counted_from,
        "line": place.line,
        "row": place.row,
        "member": place.member,
        "offset": place.offset,
    }
    described |= {key: value for key, value in where.items() if value is not None}
    described |= {"kind": row.kind, "reason": row.reason}
    if row.data is not None:
        try:
            described["raw"] = row.data.decode()
        except UnicodeDecodeError:
            import base64

            described["base64"] = base64.b64encode(row.data).decode()
    return orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE)
