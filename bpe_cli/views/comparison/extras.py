"""Show what a comparison holds besides its measures: probes, overlaps of vocabularies, disagreements."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group

from bpe_cli.views.comparison.disagreements import disagreement_view
from bpe_cli.views.comparison.overlap import overlap_view
from bpe_cli.views.comparison.probes import probes_view

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bpe_cli.reports.comparison.comparison import Comparison


def extras_view(comparison: Comparison) -> RenderableType | None:
    """Show them; None where there are none."""
    names = comparison.tokenizers
    parts: list[RenderableType] = []
    if comparison.probes is not None:
        parts.append(probes_view(names, comparison.probes))
    if comparison.overlaps:
        parts.append(overlap_view(names, comparison.overlaps))
    if comparison.disagreements:
        parts.append(disagreement_view(names, comparison.disagreements))
    return Group(*parts) if parts else None


def extras_text(comparison: Comparison) -> str:
    """Write them as plain text, 100 columns wide, for a page or a comment; empty where there are none."""
    view = extras_view(comparison)
    if view is None:
        return ""
    file = io.StringIO()
    Console(file=file, width=100, color_system=None, highlight=False).print(view)
    return "\n".join(line.rstrip() for line in file.getvalue().strip("\n").split("\n"))
