"""The command ``bpe``: its subcommands, and the one place where an error becomes a message and a status."""

import io
import os
import sys

from bpe_cli.cli import argv_fast as clear_words
from bpe_cli.cli import config
from bpe_cli.cli.console import drop, report, shows_bars, tell
from bpe_cli.cli.options import HELP, HELP_ALL, Option, call, parameters_of
from bpe_cli.errors import BpeError
from bpe_cli.support.fast_typing import TYPE_CHECKING, Annotated
from bpe_cli.support.messages import cannot_write, reason_of, show_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    Begin = Callable[[Callable[..., object], Mapping[str, object]], object]

NAMES = ("train", "encode", "decode", "inspect", "compare", "convert", "prepare")
"""As the help lists them: each runs a job. A module of the same name has ``run``, whose annotations and docstring say
what there is to know about it, ``EPILOG``, and ``COMMON``: what of it the short help shows."""

COMMANDS = (*NAMES, "completions")
"""Those, and what is about the command line itself."""


def load(name: str) -> "ModuleType":
    """Import the module of a command."""
    from importlib import import_module

    return import_module(f"bpe_cli.cli.{name}")


def show_version() -> None:
    """Print the versions that results depend on."""
    from bpe_cli import _core
    from bpe_cli.support import __version__, regex_version

    python = ".".join(str(number) for number in sys.version_info[:3])
    print(f"bpe {__version__} (Unicode {_core.UNICODE_VERSION}, regex {regex_version()}, Python {python})")


def root(
    version: Annotated[bool, Option("--version", "-V", answer=show_version, help="Print versions and stop.")] = False,
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error.")] = False,
    no_config: Annotated[bool, Option("--no-config", help="Ignore the table tool.bpe_cli of pyproject.toml.")] = False,
) -> None:
    """Train, run, inspect, compare and convert tokenizers.

    [bold]Examples[/bold]

        bpe train corpus.txt -s 32000 -o tokenizer.json

        bpe encode corpus.txt -t tokenizer.json | bpe decode -t tokenizer.json

        bpe inspect -T "hello world" -t gpt-4o
    """


_COMPLETION = "_BPE_COMPLETE"
"""The variable by which a shell asks how the words may go on."""
_SHELLS = ("bash", "zsh", "fish")

_HELP = frozenset(HELP)
_ANYWHERE = frozenset(("--debug", "--no-config", HELP_ALL))

_WANT_OF_MEMORY = "there is not enough memory"
_LAST_WORDS = f"error: {_WANT_OF_MEMORY}\n".encode()

_SPARE = [bytearray(1 << 16)]
"""Memory that is let go when there is no other, so that these words can be said."""

_SAYS_NOTHING = ("without exception set", "without setting an exception")
"""How Python's message ends where something failed and said nothing of it."""

_MOST_DIGITS = 4
"""Of a screen's size; more columns or lines than they can say has none."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 fine; 1 a check that was asked for is false; 2 usage, bad input or I/O; 70 a mistake of ours;
    130 interrupted; 141 the reader of stdout went away.
    """
    words = sys.argv[1:] if arguments is None else arguments
    debug = False
    try:
        _fill_streams()
        _drop_wild_sizes()
        # A word that is being completed stays where it is.
        ended = len(words) - (os.environ.get(_COMPLETION) in _SHELLS)
        before, anywhere = _apart(words[:ended])
        words = [*before, *words[ended:]]
        debug = "--debug" in anywhere
        try:
            status = _run(words, "--no-config" in anywhere, HELP_ALL in anywhere, is_process=arguments is None)
        except SystemExit as stop:
            # typer and rich leave with a status of their own, 1, when a pipe breaks.
            if isinstance(stop.__context__, BrokenPipeError):
                raise stop.__context__ from None
            raise
        sys.stdout.flush()
        return status
    except SystemExit:
        raise
    except BaseException as error:
        # What follows cannot fail, but for want of memory, or of a place to write to.
        try:
            return _end(error, words, debug)
        except (MemoryError, SystemError, ImportError, OSError):
            return _end_without_memory()
        except Exception:
            return 70


def _apart(words: list[str]) -> tuple[list[str], set[str]]:
    """Divide words from the options of all commands that may stand anywhere, as one adds them to a line that failed.

    Words behind ``--`` are none, nor are values of other options; ``--all`` is one beside ``--help``.
    """
    if _ANYWHERE.isdisjoint(words):
        return words, set()
    options = _options_among(words)
    found = {words[place] for place in options} & _ANYWHERE
    if not _asks_for_help(words):
        found.discard(HELP_ALL)
    return [word for place, word in enumerate(words) if word not in found or place not in options], found


def _options_among(words: list[str]) -> set[int]:
    """Return at which places options may stand: not behind ``--``, nor where an option waits for its value."""
    start = next((place for place, word in enumerate(words, 1) if not word.startswith("-")), len(words))
    places = set(range(len(words)))
    name = words[start - 1] if words else ""
    if name in COMMANDS:
        values = clear_words.places_of_values(words[start:], parameters_of(load(name).run))
        places -= {start + place for place in values}
    end = next((place for place, word in enumerate(words) if word == "--" and place in places), len(words))
    return {place for place in places if place < end}


def _asks_for_help(words: list[str]) -> bool:
    """Return whether one of the options is ``--help``."""
    return not _HELP.isdisjoint(words) and any(words[place] in HELP for place in _options_among(words))


def _end(error: BaseException, words: list[str], debug: bool) -> int:
    """Explain why a run cannot go on, and return its status."""
    if not isinstance(error, BpeError) or not _flushed():
        drop(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 141
    if isinstance(error, KeyboardInterrupt):
        tell("interrupted\n")
        return 130
    if debug:
        import traceback

        tell("".join(traceback.format_exception(error)))
    if not isinstance(error, BpeError):
        error = _as_bpe_error(error, words)
    report(error)
    return error.exit_code


def _end_if_memory_is_refused(words: list[str]) -> None:
    """Have the core end this process with a sentence where it would be aborted: where no exception can tell of it."""
    from bpe_cli import _core

    bar = "\n" if shows_bars() else ""  # one may be in the line
    message = f"{bar}error: {_WANT_OF_MEMORY}\n\nhint: {_way_out_of_memory(words)}\n"
    _core.end_without_memory(message.encode(), BpeError.exit_code)


def _end_without_memory() -> int:
    """Report that memory ran out, with no more than was kept for it; return the status."""
    _SPARE.clear()
    try:  # noqa: SIM105  # what suppresses would be an object more
        os.write(2, _LAST_WORDS)
    except OSError:  # there may be no stderr
        pass
    return 2


def _as_bpe_error(error: BaseException, words: list[str]) -> BpeError:
    """Put an exception that is not ours into words."""
    if _is_want_of_memory(error):
        return BpeError(_WANT_OF_MEMORY, hint=_way_out_of_memory(words))
    if isinstance(error, OSError):
        if error.filename is not None:  # nobody knows here what was done with it
            return BpeError(f"{show_path(str(error.filename))}: {reason_of(error)}")
        if not _is_somewhere():
            return BpeError("the current folder has been removed", hint="change to another one")
        # What has no name is stdout: files are opened by code that names them.
        return cannot_write("stdout", error)
    from bpe_cli.cli.unforeseen import unforeseen

    return unforeseen(error, words)


def _run(words: list[str], without_config: bool, whole: bool, is_process: bool) -> int:
    """Run the command line: directly if it is unambiguous, else with typer, whose import is slow.

    ``is_process``: whether the process does nothing else, so that it may be ended.
    """
    if (shell := os.environ.get(_COMPLETION)) in _SHELLS:
        from bpe_cli.cli import completing

        commands = {name: load(name).run for name in COMMANDS}
        completing.show(completing.answer(shell, words, root, commands))
        return 0
    if not words or (words[-1] in HELP and words[:-1] in ([], *([name] for name in COMMANDS))):
        from bpe_cli.cli import help

        named = words[:-1]
        modules = {name: load(name) for name in named or COMMANDS}
        print(help.text_of(named[0] if named else None, root, modules, whole=whole))
        return 0 if words else 2
    defaults = config.NONE if without_config else _of_project(words)

    def begin(function: "Callable[..., object]", values: "Mapping[str, object]") -> object:
        values = config.announce(defaults, values)
        if is_process:
            _end_if_memory_is_refused(words)
        return call(function, values)

    try:
        clear = _clear_call(words, defaults, begin)
    except clear_words.Unclear:
        from bpe_cli.cli import argv_typer

        return argv_typer.run(words, root, {name: load(name) for name in COMMANDS}, begin, defaults.values, whole=whole)
    clear()
    return 0


def _of_project(words: list[str]) -> config.Defaults:
    """Return the defaults that a pyproject.toml sets for the command."""
    name = next((word for word in words if not word.startswith("-")), None)
    if name not in NAMES or config.is_ignored() or _asks_for_help(words):
        return config.NONE
    return config.defaults_for(name, NAMES, lambda each: load(each).run)


def _clear_call(words: list[str], defaults: config.Defaults, begin: "Begin") -> "Callable[[], object]":
    """Return the call that the command line stands for."""
    name, rest = (words[0], words[1:]) if words else ("", [])
    if name in COMMANDS:
        run = load(name).run
        values = clear_words.read(run, rest, os.environ, defaults.values)
        return lambda: begin(run, values)
    answer = None if rest else clear_words.answer(root, name)
    if answer is None:
        raise clear_words.Unclear(name)
    return answer


def _fill_streams() -> None:
    """Replace standard streams that were closed (``>&-``), for which Python has None.

    What is done to them fails as for any closed file, except that messages are lost where stderr is; and no file that
    is opened later gets their descriptors.
    """
    for name, access, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            # The other direction than the stream's: the system refuses with "bad file descriptor".
            descriptor = os.open(os.devnull, access)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    # Bytes of texts go there too, so all of it is UTF-8; but a screen shows its own encoding.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")


def _drop_wild_sizes() -> None:
    """Drop impossible sizes of a screen: rich would write lines of a million blanks, or nothing into no columns."""
    for name in ("COLUMNS", "LINES"):
        size = os.environ.get(name, "1")
        if not (size.isascii() and size.isdigit() and len(size) <= _MOST_DIGITS and int(size)):
            del os.environ[name]


def _is_somewhere() -> bool:
    """Return whether the current folder is there: whatever asks for it fails otherwise, and names no file."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _is_want_of_memory(error: BaseException) -> bool:
    """Return whether memory was refused: to Python, to what it asked the system for, or to PyO3, which panics then.

    orjson can be refused some and give a result all the same, of which Python makes a ``SystemError``. It does so too
    where its own imports fail without an exception, for which there was no memory.
    """
    if isinstance(error, OSError):
        from errno import ENOMEM

        return error.errno == ENOMEM
    if isinstance(error, SystemError):
        return isinstance(error.__cause__, MemoryError) or str(error).endswith(_SAYS_NOTHING)
    return isinstance(error, MemoryError) or str(error) == "PyObject pointer is null"


def _way_out_of_memory(words: list[str]) -> str:
    """Name the options with which the command needs less memory."""
    command = next((word for word in words if word in NAMES), None)
    if command and "block_size" in parameters_of(load(command).run):
        return "try a smaller --block-size, or fewer --threads"
    return "try smaller inputs, or one at a time"


def _flushed() -> bool:
    """Flush stdout; return whether that succeeded."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True
