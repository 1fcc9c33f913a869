"""Write pages and pictures to files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from bpe_cli.cli.console import note
from bpe_cli.errors import UsageError

Html = Annotated[
    str | None,
    typer.Option(
        "--html", metavar="FILE", rich_help_panel="Output",
        help="Write a page instead: one file for any browser, without network or need of scripts; - for stdout.",
    ),
]  # fmt: skip
Svg = Annotated[
    str | None,
    typer.Option(
        "--svg", metavar="FILE", rich_help_panel="Output", help="Write a picture instead, for a README; - for stdout."
    ),
]

_STDOUT = "-"


def check_outputs(outputs: Sequence[tuple[str, str | None]], *, stdout_taken: str | None = None) -> None:
    """Make sure that files can be written, before the work begins.

    Args:
        outputs: The option and the file it names, if it is given.
        stdout_taken: The option whose output goes to stdout already.

    Raises:
        UsageError: Two outputs would be one.
        OutputError: A file cannot be written.
    """
    from bpe_cli.sinks.atomic import check_writable

    taken = {_STDOUT: stdout_taken} if stdout_taken else {}
    for option, path in outputs:
        if path is None:
            continue
        if path in taken:
            what = "stdout" if path == _STDOUT else path
            raise UsageError(f"{taken[path]} and {option} would both be written to {what}", hint="name a file each")
        taken[path] = option
        if path != _STDOUT:
            check_writable(path)


def write_page(path: str, parts: Iterable[str], quiet: bool) -> None:
    """Write a file that appears when it is whole, part by part; ``-`` is stdout.

    Raises:
        OutputError: It cannot be written.
    """
    from bpe_cli.sinks.atomic import open_output, open_stdout

    with open_stdout(sys.stdout.buffer) if path == _STDOUT else open_output(path) as output:
        for part in parts:
            output.write(part.encode())
    if path != _STDOUT:
        note(f"wrote {path}", quiet=quiet)
