"""What ``bpe inspect`` shows of a tokenizer by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.cli.console import print_json, stdout_console

if TYPE_CHECKING:
    from bpe_cli.cli import options
    from bpe_cli.tokenizer import Tokenizer


def report_tokenizer(model: Tokenizer, *, json: bool, full: bool, color: options.Color) -> None:
    """Print the health report on a tokenizer."""
    from bpe_cli.fingerprint import fingerprint
    from bpe_cli.reports.tokenizer.findings import findings
    from bpe_cli.reports.tokenizer.structure import Anatomy, examine_structure
    from bpe_cli.reports.tokenizer.vocabulary_report import describe

    anatomy = Anatomy(model)
    report = describe(model, fingerprint=fingerprint(model), contents=anatomy.contents)
    structure = examine_structure(anatomy)
    found = findings(model.model, report, structure)
    if json:
        from bpe_cli.views.tokenizer.as_json import vocabulary_json

        print_json(vocabulary_json(report))
        return
    from rich.text import Text

    from bpe_cli.views.tokenizer.structure import findings_view, structure_view
    from bpe_cli.views.tokenizer.tables import vocabulary_view

    console = stdout_console(color)
    console.print(findings_view(found), Text())
    console.print(vocabulary_view(report, full=full, sections=[structure_view(structure, full=full)]))
