"""The command ``bpe``: its subcommands, and the one place where an error becomes a message and a status."""

from __future__ import annotations

import contextlib
import os
import sys

from bpe_cli.cli import commands
from bpe_cli.cli import words as clear_words
from bpe_cli.cli.console import report
from bpe_cli.errors import BpeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_COMPLETION = "_BPE_COMPLETE"
"""The variable by which a shell asks typer's application how a word may go on."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and give its exit status.

    0 fine; 1 a check that was asked for is false; 2 usage, bad input or I/O; 130 interrupted;
    141 the reader of stdout went away.
    """
    _fill_streams()
    words = sys.argv[1:] if arguments is None else arguments
    # One option for all commands that may stand anywhere, as one adds it to a line that failed.
    options, dashes, rest = (words, [], []) if "--" not in words else _divide(words)
    debug = "--debug" in options
    words = [word for word in options if word != "--debug"] + dashes + rest
    try:
        try:
            status = _run(words)
        except SystemExit as stop:
            # typer and rich leave with a status of their own, 1, when a pipe breaks.
            if isinstance(stop.__context__, BrokenPipeError):
                raise stop.__context__ from None
            raise
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _drop_stdout()
        return 141
    except KeyboardInterrupt:
        _drop_stdout()
        sys.stderr.write("interrupted\n")
        return 130
    except BpeError as error:
        _drop_stdout(flush=True)
        _trace(debug)
        report(error)
        return error.exit_code
    except MemoryError:
        _trace(debug)
        report(BpeError("there is not enough memory", hint=_way_out_of_memory(words)))
        return 2
    except OSError as error:
        _drop_stdout()
        _trace(debug)
        # What has no name is stdout: files are opened by code that names them.
        report(BpeError(f"cannot write {error.filename or 'stdout'}: {(error.strerror or str(error)).lower()}"))
        return 2
    except BaseException as error:
        if debug or type(error).__name__ != "PanicException":  # what a panic of the core becomes
            raise
        report(BpeError("the core met a case that it was not written for", hint="please report what --debug prints"))
        return 2


def _run(words: list[str]) -> int:
    """Run what the words say: at once if they are clear, else by typer, whose import takes longer than most runs."""
    try:
        call = _clear_call(words)
    except clear_words.Unclear:
        from bpe_cli.cli import by_typer

        return by_typer.run(words)
    call()
    return 0


def _clear_call(words: list[str]) -> Callable[[], object]:
    """Give the call that the words stand for.

    Raises:
        Unclear: They are for typer.
    """
    name, rest = (words[0], words[1:]) if words else ("", [])
    if _COMPLETION in os.environ:
        raise clear_words.Unclear(_COMPLETION)
    if name in commands.NAMES:
        run = commands.load(name).run
        values = clear_words.read(run, rest, os.environ)
        return lambda: run(**values)
    answer = None if rest else clear_words.answer(commands.root, name)
    if answer is None:
        raise clear_words.Unclear(name)
    return answer


def _fill_streams() -> None:
    """Put something in the place of standard streams that were closed (``>&-``), of which Python makes None.

    What is done to them fails as for any closed file, except that messages are lost where stderr is; and no file that
    is opened later gets their descriptors.
    """
    for name, access, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            # The other direction than the stream's: the system refuses with "bad file descriptor".
            descriptor = os.open(os.devnull, access)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _trace(wanted: bool) -> None:
    """Show where the error that is being handled comes from."""
    if wanted:
        import traceback

        traceback.print_exc()


def _way_out_of_memory(words: list[str]) -> str:
    """Name the options that the command has for it."""
    command = next((word for word in words if word in commands.NAMES), None)
    if command and "block_size" in commands.load(command).run.__annotations__:
        return "try a smaller --block-size, or fewer --threads"
    return "try smaller inputs, or one at a time"


def _divide(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Divide words at ``--``, after which there are no options."""
    place = words.index("--")
    return words[:place], ["--"], words[place + 1 :]


def _drop_stdout(*, flush: bool = False) -> None:
    """Keep the interpreter from complaining about what stdout still holds when it is gone."""
    with contextlib.suppress(OSError, ValueError):
        if flush:
            sys.stdout.flush()
            return
    with contextlib.suppress(OSError, ValueError):
        descriptor = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
