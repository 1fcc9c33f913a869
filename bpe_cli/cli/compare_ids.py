"""The part of ``bpe compare`` that verifies a port: ``--ids``."""

from bpe_cli.cli import options
from bpe_cli.cli.console import ConsoleListener, print_blocks, print_json, process_streams, stdout_console
from bpe_cli.errors import CheckFailed, UsageError
from bpe_cli.support.fast_typing import TYPE_CHECKING
from bpe_cli.support.ordered_threads import usable_threads

if TYPE_CHECKING:
    from bpe_cli.jobs.tokenizers import TokenizerChoice


def show_ids(
    choices: "tuple[TokenizerChoice, ...]",
    documents: options.Documents,
    special: list[str] | None,
    library: str | None,
    threads: int | None,
    *,
    json: bool,
    screen: options.Screen,
) -> None:
    """Compare ids, print the report, and fail if they are not the same.

    Raises:
        CheckFailed: if the ids are not the same.
    """
    from bpe_cli.jobs.compare_ids import IdsOptions, compare_ids_of
    from bpe_cli.views.comparison.ids import ids_json, ids_view, verdict
    from bpe_cli.views.on_console import OnConsole

    specials, refuse = options.specials_of(special)
    if refuse:
        raise UsageError("--special error is for encode: --ids compares special tokens as text, or with --special all")
    has_texts = bool(documents.inputs) or documents.text is not None
    report = compare_ids_of(
        choices, documents.source() if has_texts else None,
        IdsOptions(specials, library, usable_threads(threads)),
        listener=ConsoleListener(quiet=screen.quiet), streams=process_streams(),
    )  # fmt: skip
    if json:
        print_json(ids_json(report))
    else:
        print_blocks(OnConsole(ids_view(report)), stdout_console(screen.color))
    if not report.same:
        raise CheckFailed(verdict(report))
