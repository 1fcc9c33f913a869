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
    from bpe_cli.reports.tokenizer.vocabulary_report import describe

    report = describe(model, fingerprint=fingerprint(model))
    if json:
        from bpe_cli.views.tokenizer.as_json import vocabulary_json

        print_json(vocabulary_json(report))
    else:
        from bpe_cli.views.tokenizer.tables import vocabulary_view

        stdout_console(color).print(vocabulary_view(report, full=full))
