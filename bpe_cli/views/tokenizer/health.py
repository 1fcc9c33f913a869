"""Lay out whether a tokenizer is healthy: the summary, then all sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Block, Blocks, Gap
from bpe_cli.views.tokenizer.corpus import corpus_view
from bpe_cli.views.tokenizer.reachability import reachability_view
from bpe_cli.views.tokenizer.structure import findings_view, structure_view
from bpe_cli.views.tokenizer.tables import vocabulary_view

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.health import HealthReport


def health_view(report: HealthReport, *, full: bool = False) -> Blocks:
    """Lay out a report; ``full`` lists everything, however long."""
    first: list[Block | Blocks] = [reachability_view(report.reachability, full=full), Gap()]
    if report.corpus is not None:
        first.append(corpus_view(report.corpus))
    sections = [structure_view(report.structure, full=full)]
    return Blocks(
        findings_view(report.findings),
        Gap(),
        vocabulary_view(report.vocabulary, full=full, first=first, sections=sections),
    )
