"""Make sure, before the work begins, that outputs can be written and replace nothing that is read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError

if TYPE_CHECKING:
    from typing import TextIO

    from bpe_cli.corpus import Inputs

STDOUT = "-"

_Identity = tuple[int, int]


def check_outputs(outputs: Sequence[tuple[str, str | None]], *, stdout_taken: str | None = None) -> None:
    """Make sure that files can be written, and that no two are one, by whatever names.

    Args:
        outputs: The option and the file it names, if it is given; ``-`` is stdout.
        stdout_taken: The option whose output goes to stdout already.

    Raises:
        UsageError: Two outputs would be one.
        OutputError: A file cannot be written.
    """
    from bpe_cli.sinks.atomic import check_writable
    from bpe_cli.support.messages import show_path

    taken: dict[object, str] = {STDOUT: stdout_taken} if stdout_taken else {}
    for option, path in outputs:
        if path is None:
            continue
        if path != STDOUT:
            check_writable(path)
        place = path if path == STDOUT else os.path.realpath(path)
        for key in (place, *_identities(path)):
            if key in taken:
                what = "stdout" if path == STDOUT else show_path(path)
                raise UsageError(f"{taken[key]} and {option} would both be written to {what}", hint="name a file each")
        taken |= dict.fromkeys((place, *_identities(path)), option)


def check_text_output(path: str, *, jsonl: bool = False) -> None:
    """Make sure that a file of text can be written, compressed if its name says so, and is not called another thing.

    Raises:
        UsageError: Its name is that of another kind of file.
        OutputError: It cannot be written.
    """
    from bpe_cli.sinks.atomic import check_writable
    from bpe_cli.sinks.compressing import check_compressing
    from bpe_cli.sinks.naming import ENDINGS, TEXT, check_name

    check_name("-o", path, "text", ENDINGS["jsonl"] if jsonl else TEXT, packable=True)
    check_compressing(path)
    check_writable(path)


def check_kept(outputs: Iterable[tuple[str, str | None]], read: Iterable[tuple[str, str]]) -> None:
    """Make sure that no output is a file that is read, by whatever name: neither a file nor stdout nor stderr.

    Args:
        outputs: The option and the file it names, if it is given.
        read: What a message calls a file that is read, and its path; ``-`` is stdin.

    Raises:
        UsageError: One is.
    """
    replaced = {identity: option for option, path in outputs if path is not None for identity in _identities(path)}
    streams = {
        identity: name
        for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr))
        for identity in _identities(STDOUT, stream)
    }
    if not replaced and not streams:
        return
    for what, path in read:
        for each in _identities(path, sys.stdin):
            if each in replaced:
                raise UsageError(
                    f"{replaced[each]} would replace {what}",
                    hint="write to another file, and move it there when all is well",
                )
            if each in streams:
                raise UsageError(
                    f"{streams[each]} goes to {what}", hint="name another file behind the > (which empties it at once)"
                )


def read_inputs(found: Inputs) -> Iterator[tuple[str, str]]:
    """Return the inputs for ``check_kept``."""
    return ((f"the input {item.name}", item.path) for item in found.items)


def _identities(path: str, standard: TextIO | None = None) -> list[_Identity]:
    """Return which plain file has a path: its device and number, or nothing where there is none.

    Args:
        path: The path.
        standard: The stream that ``-`` stands for.
    """
    if path == STDOUT and standard is None:
        return []
    try:
        status = os.fstat(standard.fileno()) if path == STDOUT and standard else os.stat(path)
    except (OSError, ValueError):  # there is none, no file can have such a name, or no descriptor is behind it
        return []
    return [(status.st_dev, status.st_ino)] if stat.S_ISREG(status.st_mode) else []
