"""The command ``bpe``: its subcommands, and the one place where an error becomes a message and a status."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import Annotated

import typer

from bpe_cli import __version__
from bpe_cli.cli import compare, convert, decode, encode, inspect, train
from bpe_cli.cli.console import report
from bpe_cli.errors import BpeError, UsageError

app = typer.Typer(
    name="bpe", add_completion=True, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)  # fmt: skip

_COMMANDS = (train, encode, decode, inspect, compare, convert)
_NAMES = [command.NAME for command in _COMMANDS]

for command in _COMMANDS:
    app.command(command.NAME, epilog=command.EPILOG)(command.run)


def _show_version(wanted: bool) -> None:
    if wanted:
        from bpe_cli import _core
        from bpe_cli.splitting import regex_version

        python = ".".join(str(number) for number in sys.version_info[:3])
        typer.echo(f"bpe {__version__} (Unicode {_core.UNICODE_VERSION}, regex {regex_version()}, Python {python})")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Print versions and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Train, run, inspect, compare and convert tokenizers.

    [bold]Examples[/bold]

        bpe train corpus.txt -s 32000 -o tokenizer.json

        bpe encode corpus.txt -t tokenizer.json | bpe decode -t tokenizer.json

        bpe inspect -T "hello world" -t gpt-4o
    """


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
        status = app(words, prog_name="bpe", standalone_mode=False)
        sys.stdout.flush()
        # typer makes a status of its own, 130, of an interrupt while a command runs.
        return _interrupted() if status == 130 else status if isinstance(status, int) else 0
    except BrokenPipeError:
        return _reader_went_away()
    except SystemExit as stop:
        # typer leaves with a status of its own, 1, when a pipe breaks while a command runs.
        if isinstance(stop.__context__, BrokenPipeError):
            return _reader_went_away()
        raise
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BpeError as error:
        _drop_stdout(flush=True)
        _trace(debug)
        report(error)
        return error.exit_code
    except typer.exceptions.TyperException as error:
        return _report_usage(error, words)
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
    if any(command.NAME in words and "block_size" in command.run.__annotations__ for command in _COMMANDS):
        return "try a smaller --block-size, or fewer --threads"
    return "try smaller inputs, or one at a time"


def _reader_went_away() -> int:
    _drop_stdout()
    return 141


def _interrupted() -> int:
    _drop_stdout()
    sys.stderr.write("interrupted\n")
    return 130


def _divide(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Divide words at ``--``, after which there are no options."""
    place = words.index("--")
    return words[:place], ["--"], words[place + 1 :]


def _report_usage(error: Exception, words: list[str]) -> int:
    """Report what the parser of the command line objects to, in our own form."""
    message = str(getattr(error, "format_message", lambda: error)()).rstrip(".")
    if not message:  # the help was shown instead of running without arguments
        return 2
    message, _, near = message.partition(". Did you mean ")
    near = near.replace("'", "").replace(", ", " or ")
    if options := getattr(error, "possibilities", None):
        message = message.partition(" (Possible options")[0]
        near = " or ".join(sorted(options)) + "?"
    if chosen := re.search(r"'([^']*)' is not one of (.*)", message):
        import difflib

        choices = difflib.get_close_matches(chosen[1], re.findall(r"'([^']*)'", chosen[2]), n=3)
        if choices:
            message = f"{message[: chosen.start()]}there is no '{chosen[1]}'"
            near = " or ".join(choices) + "?"
    # The parser quotes another one: "Invalid value for '-s': Value error, ...", "...: Input should be ...".
    message = re.sub(r"(?<=[')]: )(Value error, )?([A-Z]?)", lambda match: match[2].lower(), message, count=1)
    command = next((word for word in words if word in _NAMES), None)
    hint = f"did you mean {near}" if near else f"{f'bpe {command}' if command else 'bpe'} --help explains it"
    report(UsageError(message[:1].lower() + message[1:], hint=hint))
    return 2


def _drop_stdout(*, flush: bool = False) -> None:
    """Keep the interpreter from complaining about what stdout still holds when it is gone."""
    with contextlib.suppress(OSError, ValueError):
        if flush:
            sys.stdout.flush()
            return
    with contextlib.suppress(OSError, ValueError):
        descriptor = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
