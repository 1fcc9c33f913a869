"""Describe an unexpected error in one sentence, without the user's texts, and with what a bug report needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from bpe_cli.errors import BpeError
from bpe_cli.support import __version__

_LONGEST = 80
_TEXT = "TEXT"
_TEXT_OPTIONS = ("-T", "--text")


class Unforeseen(BpeError):
    """Report a bug of the program, with an exit status of its own."""

    exit_code = 70  # EX_SOFTWARE of sysexits.h


def unforeseen(error: BaseException, words: Sequence[str]) -> Unforeseen:
    """Make the error for an unexpected exception.

    Args:
        error: The exception.
        words: The command line.
    """
    if isinstance(error, ImportError):
        hint = "install it again, unless a limit on memory or on open files is too low; --debug shows more"
        return Unforeseen(f"bpe cannot be loaded: {error}", hint=hint)
    kind = type(error).__name__
    what = "its core met a case that it was not written for" if kind == "PanicException" else kind
    platform = f"bpe {__version__}, Python {sys.version.split()[0]}, {sys.platform}"
    return Unforeseen(
        f"this is a bug in bpe: {what}{_place(error)}",
        hint=f"please report it with this: {platform}, `{command_line(words)}`; and, unless there are secrets in it, "
        "what the same line prints with --debug",
    )


def command_line(words: Sequence[str]) -> str:
    """Write a command line without the texts on it.

    >>> command_line(["encode", "-T", "my secret", "--text=another", "-qThidden", "a b", "-t", "gpt2"])
    'bpe encode -T TEXT --text=TEXT -qTTEXT TEXT -t gpt2'
    """
    import shlex

    return " ".join(["bpe", *map(shlex.quote, _without_texts(words))])


def _without_texts(words: Sequence[str]) -> Iterator[str]:
    before = ""
    for word in words:
        option, equals, _ = word.partition("=")
        joined, short, after = word.partition("T")
        if before in _TEXT_OPTIONS or len(word) > _LONGEST or any(map(str.isspace, word)):
            yield _TEXT
        elif equals and option in _TEXT_OPTIONS:
            yield f"{option}={_TEXT}"
        elif short and after and joined.startswith("-") and not joined.startswith("--"):
            yield f"{joined}T{_TEXT}"
        else:
            yield word
        before = "-T" if short and not after and joined[:1] == "-" and joined[1:2] != "-" else word


def _place(error: BaseException) -> str:
    """Return the place in our sources where an exception was raised."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/bpe_cli/" in path:
            place = f" in bpe_cli/{path.rpartition('/bpe_cli/')[2]}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
