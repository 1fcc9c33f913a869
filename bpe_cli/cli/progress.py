"""How a long job goes on, on stderr: a bar on a terminal, a line now and then elsewhere, or JSON for machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from bpe_cli.cli import console
from bpe_cli.cli.arguments import in_options
from bpe_cli.support.fast_typing import TYPE_CHECKING, Literal
from bpe_cli.support.messages import duration, size_of
from bpe_cli.support.messages import plural as count

if TYPE_CHECKING:
    from typing import Any


How = Literal["auto", "plain", "json"]

SECONDS_BETWEEN_LINES = console.LONG
_SECONDS_BETWEEN_EVENTS = 10.0
_SCHEMA = "bpe-progress/1"


class WorkListener(console.ConsoleListener):
    """Show how a job of many parts goes on: what is done, how fast, and how long the rest takes.

    Attributes:
        how: ``auto`` is a bar on a terminal that can draw one, and ``plain`` elsewhere: a line now and then. ``json``
            writes an object a line: of the plan, of each part that is done, of the progress in between, of notes, and
            of the end.
    """

    def __init__(self, how: How = "auto", *, quiet: bool) -> None:
        """Begin to listen."""
        super().__init__(quiet=quiet)
        self.how = how
        self._parts = self._to_do = self._documents = self._tokens = 0
        self._bar: Any = None

    def note(self, message: str) -> None:
        """Write a note."""
        if self.how == "json" and not self.quiet:
            self._write("note", {"message": in_options(message)})
        else:
            super().note(message)

    def event(self, what: str, facts: Mapping[str, Any]) -> None:
        """Hear of the plan, of a part that is done, or of the end."""
        if what == "plan":
            self._to_do = facts["to_do"]
        elif what == "part":
            self._parts += 1
            self._documents += facts["documents"]
            self._tokens += facts["tokens"]
            if self._bar is not None:
                self._bar.set_postfix_str(self._counted(), refresh=False)
        if self.how == "json" and not self.quiet:
            self._write(what, facts)

    @contextmanager
    def _shown(self, what: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        """Show a task as a bar, as lines or as events."""
        if self.quiet:
            yield lambda _: None
        elif self.how == "auto" and console.shows_bars():
            with console.progress(total, what, quiet=False, printing=False, unit=unit) as advance:
                self._bar = console.shown_bar()
                try:
                    yield advance
                finally:
                    self._bar = None
        else:
            yield self._in_lines(what, total)

    def _in_lines(self, what: str, total: int | None) -> Callable[[int], None]:
        """Return what writes a line, or an object, when enough time has gone by."""
        began = last = time.monotonic()
        done = 0
        pause = _SECONDS_BETWEEN_EVENTS if self.how == "json" else SECONDS_BETWEEN_LINES

        def advance(amount: int) -> None:
            nonlocal done, last
            done += amount
            now = time.monotonic()
            if now - last < pause:
                return
            last = now
            rate = done / (now - began)
            left = None if total is None or not rate else max(0.0, total - done) / rate
            if self.how == "json":
                facts = {"task": what, "bytes": done, "bytes_of": total, "bytes_a_second": round(rate)}
                self._write("progress", {**facts, "seconds_left": None if left is None else round(left)})
            else:
                console.note(f"{what}: {self._line(done, total, rate, left)}")

        return advance

    def _line(self, done: int, total: int | None, rate: float, left: float | None) -> str:
        read = f"{size_of(done)}" if not total else f"{size_of(done)} of {size_of(total)} ({done / total:.0%})"
        counted = f", {self._counted()}" if self._to_do else ""
        return f"{read}{counted}, {rate / 1e6:,.1f} MB/s" + ("" if left is None else f", {duration(left)} left")

    def _counted(self) -> str:
        return (
            f"{self._parts:,} of {count(self._to_do, 'part')}, "
            f"{count(self._documents, 'document')}, {count(self._tokens, 'token')}"
        )

    def _write(self, what: str, facts: Mapping[str, Any]) -> None:
        from bpe_cli.support.json_text import name_value
        from bpe_cli.support.safe_orjson import orjson

        held = {key: name_value(value) if isinstance(value, str) else value for key, value in facts.items()}
        console.tell(orjson.dumps({"schema": _SCHEMA, "event": what, **held}).decode() + "\n")
