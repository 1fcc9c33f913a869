"""The part of ``bpe inspect`` that looks at ids which were written."""

import sys
from typing import TYPE_CHECKING

from bpe_cli.cli.console import (
    ConsoleListener,
    check_page_name,
    print_blocks,
    print_json,
    process_streams,
    stdout_console,
    write_page,
)
from bpe_cli.cli.idle import as_typed, given_in
from bpe_cli.cli.pictures import outputs_of, picture_files, write_pictures
from bpe_cli.errors import UsageError
from bpe_cli.jobs.files import check_kept, check_outputs
from bpe_cli.views.pictures import DATA_PICTURES

if TYPE_CHECKING:
    from bpe_cli.cli.inspect.view_options import Shown
    from bpe_cli.cli.options import Documents, Screen
    from bpe_cli.jobs.tokenizers import TokenizerChoice


def rows_of(text: str) -> tuple[int, int | None]:
    """Read which documents are named: ``17``, ``17:20``, ``17:`` or ``:20``.

    Raises:
        UsageError: if the text is something else.
    """
    first, colon, last = text.partition(":")
    named = [each for each in (first, last) if each]
    if not named or not all(each.isascii() and each.isdigit() and len(each) <= 15 for each in named):
        raise UsageError(
            f"--documents {text!r} is neither a number nor a range", hint="for example: --documents 17:20, or 17"
        )
    begin = int(first) if first else 1
    return begin, (int(last) if last else None) if colon else begin


def show_data(
    path: str, choice: "TokenizerChoice | None", shown: "Shown", documents: "Documents", screen: "Screen"
) -> None:
    """Look at the ids at a path, and print what there is to say.

    Raises:
        UsageError: if something is asked for that ids do not have.
    """
    from bpe_cli.datasets.inspect import MOST_TOKENS, DataOptions, inspect_data

    shown = as_typed(shown, but=("ids", "documents", "full", "json"))
    given = [*shown.given(), *given_in(documents)]
    if idle := next((name for name in given if name not in ("--ids", "--html", "--svg", "--png")), None):
        raise UsageError(f"{idle} is for texts, and {path} holds ids", hint="bpe decode turns them into text")
    wanted = None if shown.documents is None else rows_of(shown.documents)
    if option := "--token" if shown.token else "--corpus" if shown.corpus else shown.sectioned:
        raise UsageError(f"{option} is for a report on a tokenizer, and {path} holds ids")
    if shown.plot:
        raise UsageError("--plot draws tokenizers; a report on ids always has a histogram", hint="leave it out")
    check_page_name(shown.html)
    pictures = picture_files(shown.svg, shown.png, DATA_PICTURES, DATA_PICTURES)
    outputs = [("--html", shown.html), *outputs_of(pictures)]
    check_outputs(outputs, stdout_taken="--json" if shown.json else None)
    check_kept(outputs, [("the ids", path)], process_streams())
    most = None if shown.full else MOST_TOKENS if wanted is None else 10 * MOST_TOKENS
    done = inspect_data(
        path, choice, DataOptions(wanted, most),
        listener=ConsoleListener(quiet=screen.quiet), streams=process_streams(),
    )  # fmt: skip
    from bpe_cli.views.data import DataView, data_json

    if shown.html is not None:
        write_page(shown.html, [done.to_html()], screen.quiet)
    write_pictures(pictures, done, screen.quiet)
    if shown.json:
        print_json(data_json(done.report))
    if shown.json or shown.html is not None or pictures:
        return
    from bpe_cli.views.on_console import OnConsole
    from bpe_cli.views.tokens import Notes

    view = DataView(done.report, done.eot_name, Notes(ids=shown.ids), sys.stdout.isatty())
    print_blocks(OnConsole(view.blocks()), stdout_console(screen.color))
