"""Lay out what a comparison holds besides its measures: probes, overlaps of vocabularies, disagreements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Blocks, Line
from bpe_cli.views.comparison.disagreements import disagreement_view
from bpe_cli.views.comparison.overlap import overlap_view
from bpe_cli.views.comparison.probes import probes_view
from bpe_cli.views.labels import full_names, short_names

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison


def additions_view(comparison: Comparison) -> Blocks | None:
    """Lay them out; None where there are none.

    What stands for shortened names is said here only if no measures are shown before.
    """
    names = short_names(comparison.tokenizers)
    parts: list[Blocks] = []
    if comparison.probes is not None:
        parts.append(probes_view(names, comparison.probes))
    if comparison.overlaps:
        parts.append(overlap_view(names, comparison.overlaps))
    if comparison.disagreements:
        parts.append(disagreement_view(names, comparison.disagreements))
    if parts and not comparison.rows:
        parts.insert(0, Blocks(*map(Line, full_names(comparison.tokenizers, names))))
    return Blocks(*parts) if parts else None
