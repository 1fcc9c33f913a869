"""Write to the screen: messages and progress on stderr, and decide on colour for stdout."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from bpe_cli.cli.arguments import in_options
from bpe_cli.errors import BpeError, CheckFailed
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.messages import duration, size_of

if TYPE_CHECKING:
    from typing import Any, TextIO

    from rich.console import Console

    from bpe_cli.cli.options import Color
    from bpe_cli.jobs.files import Streams
    from bpe_cli.views.on_console import OnConsole

PLAIN_WIDTH = 100
"""Columns of output that no terminal shows: a file, or a pipe of a program."""

LONG = 30.0
"""The seconds after which a summary says how long it took wherever it goes."""

_STEPS_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"
"""The bar of steps that take different times: neither their number nor their speed says anything."""

_TERMINAL = "/dev/tty"
_bar: Any = None
"""The bar that stands at the end of stderr, if there is one."""


def note(message: str, *, quiet: bool = False) -> None:
    """Write a note to stderr, after flushing stdout."""
    if not quiet:
        sys.stdout.flush()
        if _bar is not None:
            _bar.clear()  # it is drawn again below
        tell(_printable(in_options(message)) + "\n")


def report(error: BpeError) -> None:
    """Write an error and its hint to stderr."""
    places = error.places if isinstance(error, CheckFailed) else ()
    several = len(places) > 1
    message = error.summary if isinstance(error, CheckFailed) and several else error.message
    lines = [f"error: {_printable(in_options(message))}\n"]
    for name, line, wrong in places if several else ():
        where = name if line is None else f"{name}:{line}"
        lines.append(f"  {_printable(where)}: {_printable(in_options(wrong))}\n")
    if error.hint:
        lines.append(f"\nhint: {_printable(in_options(error.hint))}\n")
    tell("".join(lines))  # at once: what other jobs write to the same log stands before it or behind it
    if os.environ.get("GITHUB_ACTIONS") == "true" and isinstance(error, CheckFailed):
        _annotate(error)


def _annotate(error: CheckFailed) -> None:
    """Write what failed as GitHub shows it beside the lines of a change: a workflow command for each place."""
    title = f"title={_escaped(in_options(error.summary), ':,')}"
    for name, line, wrong in error.places or (("", None, error.message),):
        where = [f"file={_escaped(os.path.normpath(name), ':,')}"] if os.path.isfile(name) else []
        where += [f"line={line}"] if where and line is not None else []
        about = in_options(wrong if where or not name else f"{name}: {wrong}")
        tell(f"::error {','.join([*where, title])}::{_escaped(about)}\n")


def _escaped(text: str, more: str = "") -> str:
    """Escape what would end a part of a workflow command."""
    return "".join(f"%{ord(each):02X}" if each in f"%\r\n{more}" else each for each in text)


def tell(message: str) -> None:
    """Write to stderr, if there is one; the exit status says the same."""
    try:
        sys.stderr.write(message)
        sys.stderr.flush()
    except (OSError, ValueError):
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Discard what a stream still holds: otherwise the interpreter complains at exit, with status 120."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _printable(message: str) -> str:
    """Return a message on one line, with control characters escaped."""
    if not message.isprintable():
        from bpe_cli.views.visible import harmless

        message = harmless(message)
    encoding = sys.stderr.encoding or "utf-8"
    return message.encode(encoding, "backslashreplace").decode(encoding)


def stdout_console(color: Color) -> Console:
    """Make a rich console for stdout: --color first, then NO_COLOR and FORCE_COLOR, then the terminal."""
    from rich.console import Console

    screen: dict[str, Any] = {"width": _width(), "highlight": False}
    if is_dumb():  # there rich takes 80 by 25, unless it is told both
        import shutil

        size = shutil.get_terminal_size()
        screen |= {"width": screen["width"] or size.columns, "height": size.lines}
    if not sys.stdout.isatty():
        screen["file"] = Unpadded(sys.stdout)
    if color == "never":
        return Console(no_color=True, color_system=None, soft_wrap=False, **screen)
    if color == "always":
        screen["color_system"] = Console().color_system or "256"
        return Console(force_terminal=True, no_color=False, **screen)
    return Console(**screen)


def is_dumb() -> bool:
    """Return whether the terminal moves no cursor."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def shows_bars() -> bool:
    """Return whether stderr is a terminal on which a bar can be drawn over itself."""
    return sys.stderr.isatty() and not is_dumb()


def requested_columns() -> int | None:
    """Return the width that COLUMNS requests; None if it requests none."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) or None if columns.isdecimal() else None


def _width() -> int | None:
    """Return the columns of stdout: COLUMNS first, then the terminal; None for what rich finds.

    What goes into a pipe is mostly seen on the terminal that stderr is, below ``less`` or ``head``: it has that width.
    """
    if columns := requested_columns():
        return columns
    if sys.stdout.isatty():
        return None
    try:
        piped = stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
        return (os.get_terminal_size(sys.stderr.fileno()).columns if piped else 0) or PLAIN_WIDTH
    except (OSError, ValueError):  # stderr is no terminal, or no descriptor is behind a stream
        return PLAIN_WIDTH


class Unpadded:
    """Write lines without the blanks at their ends that fill tables up to the width of a terminal.

    Blanks of texts are shown as marks, so none of these is lost.
    """

    def __init__(self, file: TextIO) -> None:
        """Write to a file."""
        self._file = file

    def write(self, text: str) -> int:
        """Write text that ends where a line does."""
        self._file.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def print_blocks(shown: OnConsole, console: Console) -> None:
    """Print blocks; what is wider than the screen goes over its edge, where rich would cut it off in silence."""
    console.width = max(2, console.width)  # rich leaves out a character of two columns where there is one
    console.print(shown, crop=False)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    from bpe_cli.views.as_json import json_text

    print(json_text(value), end="", flush=True)  # a check that fails comes next, and says nothing of a full disk


@contextmanager
def progress(
    total: int | None, what: str, *, quiet: bool, printing: bool, unit: str = "B"
) -> Iterator[Callable[[int], None]]:
    """Show progress on stderr while the block runs, if a bar can be drawn there, and nothing else is shown meanwhile.

    Args:
        total: How much there is, or None when unknown.
        what: What is going on, as in ``encoding``.
        quiet: Whether to show nothing.
        printing: Whether the block writes to the same terminal (``on_terminal``), where a bar would lie among lines.
        unit: What is counted.

    Yields:
        What to call with each further amount.
    """
    global _bar
    if quiet or printing or not shows_bars():
        yield lambda _: None
        return
    from tqdm import tqdm

    bytes_counted = unit == "B"
    with tqdm(
        total=total, desc=what, unit=unit, unit_scale=bytes_counted, unit_divisor=1000, leave=False, delay=0.3,
        file=sys.stderr, dynamic_ncols=True, bar_format=_STEPS_BAR if unit == "step" else None,
    ) as bar:  # fmt: skip

        def advance(amount: int) -> None:
            bar.update(amount)

        _bar = bar
        try:
            yield advance
        finally:
            _bar = None


def shown_bar() -> Any:
    """Return the bar that stands at the end of stderr, or None."""
    return _bar


class ConsoleListener:
    """Show how a job goes on: bars and notes on stderr.

    Attributes:
        quiet: Whether to show nothing.
        printing: Whether the job writes to the terminal that stderr is, where a bar would lie among its lines.
    """

    def __init__(self, *, quiet: bool, printing: bool = False) -> None:
        """Show it, or nothing."""
        self.quiet = quiet
        self.printing = printing
        self._began = time.monotonic()
        self._read = 0
        self._seconds_of_reading = 0.0

    @contextmanager
    def task(self, what: str, total: int | None, unit: str = "B") -> Iterator[Callable[[int], None]]:
        """Show a bar, and measure the task if it is one of reading; see ``Listener.task``."""
        began = time.monotonic()
        with self._shown(what, total, unit) as advance:
            if unit != "B":
                yield advance
                return

            def count(amount: int) -> None:
                self._read += amount
                advance(amount)

            try:
                yield count
            finally:
                self._seconds_of_reading += time.monotonic() - began

    def _shown(
        self, what: str, total: int | None, unit: str
    ) -> contextlib.AbstractContextManager[Callable[[int], None]]:
        """Show a task as a bar."""
        return progress(total, what, quiet=self.quiet, printing=self.printing, unit=unit)

    def took(self) -> str:
        """Return what a summary says of the time: on a terminal, and elsewhere if it was long; else nothing."""
        seconds = time.monotonic() - self._began
        if not (sys.stderr.isatty() or seconds >= LONG):
            return ""
        said = f"{seconds:.1f} s" if seconds < 10 else duration(seconds)
        if not (self._read and self._seconds_of_reading):
            return f" ({said})"
        return f" ({size_of(self._read)} at {self._read / self._seconds_of_reading / 1e6:,.1f} MB/s, {said})"

    def note(self, message: str) -> None:
        """Write a note."""
        note(f"note: {message}", quiet=self.quiet)


def on_terminal(output: str | None) -> bool:
    """Return whether the output goes to the same terminal as stderr.

    Args:
        output: The file that is written, or None for stdout.
    """
    try:
        target = os.fstat(sys.stdout.fileno()) if output is None else os.stat(output)
        return sys.stderr.isatty() and target.st_rdev in (os.fstat(sys.stderr.fileno()).st_rdev, _controlling())
    except (OSError, ValueError):  # there is no such file yet, or no descriptor is behind a stream
        return False


def _controlling() -> int | None:
    """Return the device of /dev/tty, the terminal's other name."""
    return os.stat(_TERMINAL).st_rdev if os.path.exists(_TERMINAL) else None


def process_streams() -> Streams:
    """Return the streams of this process, for a job that must not write to what it reads."""
    from bpe_cli.jobs.files import Streams

    return Streams(sys.stdin.buffer, sys.stdout, sys.stderr)


# -- pages and pictures ----------------------------------------------------------------------------


def check_page_name(html: str | None) -> None:
    """Check that the name of a page does not contradict its contents.

    Raises:
        UsageError: if it says another thing.
    """
    from bpe_cli.sinks.naming import TEXT, check_name

    check_name("--html", html, "a page", (".html", ".htm", *TEXT))


def write_page(path: str, parts: Iterable[str], quiet: bool) -> None:
    """Write a file that appears when it is whole, part by part; ``-`` is stdout.

    Raises:
        OutputError: if the file cannot be written.
    """
    from bpe_cli.jobs.files import STDOUT, write_output

    write_output(path, parts, sys.stdout.buffer)
    if path != STDOUT:
        note(f"wrote {path}", quiet=quiet)
