"""Run the command line: as ``bpe``, and as ``python -m bpe_cli``."""

# `signal` makes enumerations of what this has, which takes longer than all of this module.
import _signal  # type: ignore[import-not-found]
import gc
import os
import sys

_MANY = 50_000

_INTERRUPTED = 130
_UNFORESEEN = 70  # EX_SOFTWARE of sysexits.h


def main() -> int:
    """Run the command line and give its exit status."""
    _heed_signals()
    # What is imported stays: looking through it for garbage, ten times by the usual threshold, finds nothing.
    gc.set_threshold(_MANY)
    try:
        from bpe_cli.cli.app import main as run
    except Exception as error:
        return _say_cannot_start(error)
    status = run()
    gc.freeze()  # nor need it be looked through at the end: memory goes with the process
    _ignore_interrupts()
    return status


def _heed_signals() -> None:
    """End at once when a signal asks for it, from now on, unless whoever started this has it ignored (``nohup``)."""
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):  # Windows has no SIGHUP
        number = getattr(_signal, name, None)
        if number is not None and _signal.getsignal(number) not in (_signal.SIG_IGN, None):
            _signal.signal(number, _leave)


def _leave(number: int, _: object) -> None:
    """End the process without unwinding what a signal interrupts, but for files that have a name and are not whole.

    No exception: code that cannot cope with one at any moment is everywhere. A compiled module that imports others
    crashes, a destructor or a callback loses it, a ``finally`` that it meets is not finished.
    """
    # Without the module there are no such files.
    unfinished = getattr(sys.modules.get("bpe_cli.support.unfinished"), "UNFINISHED", None)
    end = _interrupt if number == _signal.SIGINT else lambda: _die(number)
    if unfinished is None:
        end()
    else:
        unfinished.end(end)


def _interrupt() -> None:
    _signal.signal(_signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))  # whoever is in a hurry waits for no reader
    message = b"interrupted\n"
    try:
        if "tqdm" in sys.modules and os.isatty(2):  # there may be a bar in this line
            message = b"\r" + b" " * (os.get_terminal_size(2).columns - 1) + b"\r" + message
        os.write(2, message)
    except OSError:  # there is no stderr
        pass
    os._exit(_INTERRUPTED)


def _die(number: int) -> None:
    """End the process by a signal, as if it were not handled, so that the parent process sees which it was."""
    _signal.signal(number, _signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def _ignore_interrupts() -> None:
    """Let an interrupt that comes when all is done change nothing: Python's own end takes a moment."""
    if _signal.getsignal(_signal.SIGINT) is _leave:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


def _say_cannot_start(error: Exception) -> int:
    """Explain why the program cannot start, with the standard library alone."""
    reason = f"{type(error).__name__}: {error}".encode("ascii", "backslashreplace").decode().replace("\n", " ")
    hint = "install it again, unless a limit on memory or on open files is too low; --debug shows more"
    trace = ""
    if "--debug" in sys.argv:
        import traceback

        trace = "".join(traceback.format_exception(error))
    try:
        sys.stderr.write(f"{trace}error: bpe cannot be loaded: {reason}\n\nhint: {hint}\n")
        sys.stderr.flush()
    except (AttributeError, OSError):  # there is no stderr
        pass
    return _UNFORESEEN


if __name__ == "__main__":
    sys.exit(main())
