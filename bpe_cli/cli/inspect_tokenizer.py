"""What ``bpe inspect`` shows of a tokenizer by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.cli.console import print_json, stdout_console

if TYPE_CHECKING:
    from bpe_cli.cli import options
    from bpe_cli.tokenizer import Tokenizer


def report_tokenizer(model: Tokenizer, *, json: bool, full: bool, color: options.Color) -> None:
    """Print the report on a tokenizer."""
    from bpe_cli.fingerprint import fingerprint
    from bpe_cli.reports.tokenizer.reachability import examine
    from bpe_cli.reports.tokenizer.vocabulary_report import describe
    from bpe_cli.views.tokenizer.reachability import reachability_json, reachability_view

    report = describe(model, fingerprint=fingerprint(model))
    reachability = examine(model)
    if json:
        from bpe_cli.views.tokenizer.as_json import vocabulary_json

        print_json(vocabulary_json(report) | {"reachability": reachability_json(reachability, full=full)})
    else:
        from bpe_cli.views.tokenizer.tables import vocabulary_view

        console = stdout_console(color)
        console.print(vocabulary_view(report, full=full))
        console.print()
        console.print(reachability_view(reachability, full=full))
