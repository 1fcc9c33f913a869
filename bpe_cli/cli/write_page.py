"""Write pages and pictures to files."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated

from bpe_cli.cli.console import note
from bpe_cli.cli.output_checks import STDOUT
from bpe_cli.cli.parameters import Option

Html = Annotated[
    str | None,
    Option(
        "--html", metavar="FILE", rich_help_panel="Output",
        help="Write a page instead: one file for any browser, without network or need of scripts; - for stdout.",
    ),
]  # fmt: skip
Svg = Annotated[
    str | None,
    Option(
        "--svg", metavar="FILE", rich_help_panel="Output", help="Write a picture instead, for a README; - for stdout."
    ),
]


def check_page_names(*, html: str | None = None, svg: str | None = None) -> None:
    """Make sure that no page or picture is called another thing.

    Raises:
        UsageError: One is.
    """
    from bpe_cli.sinks.naming import TEXT, check_name

    check_name("--html", html, "a page", (".html", ".htm", *TEXT))
    check_name("--svg", svg, "a picture", (".svg", *TEXT))


def write_page(path: str, parts: Iterable[str], quiet: bool) -> None:
    """Write a file that appears when it is whole, part by part; ``-`` is stdout.

    Raises:
        OutputError: It cannot be written.
    """
    from bpe_cli.sinks.atomic import open_output, open_stdout

    with open_stdout(sys.stdout.buffer) if path == STDOUT else open_output(path) as output:
        for part in parts:
            output.write(part.encode())
    if path != STDOUT:
        note(f"wrote {path}", quiet=quiet)
