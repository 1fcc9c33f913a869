"""Show which tokens serve as steps of merging only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.residues import LEAST_MADE
from bpe_cli.views.blocks import Block, Blocks, Column, Gap, Heading, Line, Sheet, numbers
from bpe_cli.views.labels import count, percent, whole
from bpe_cli.views.structure import short

if TYPE_CHECKING:
    from bpe_cli.reports.tokenizer.residues import Residues

LIMIT = 20
"""How many residues are listed, if not all are asked for."""


def residues_view(report: Residues, *, full: bool = False) -> Blocks:
    """Lay out the measures, and the worst residues; ``full`` lists all."""
    parts: list[Block] = [Heading("Residues of merging"), Gap(), _facts(report), Gap(), _staying(report)]
    if report.tokens:
        parts.append(_list(report, full))
        more = 0 if full else len(report.tokens) - LIMIT
        parts += [Line(f"and {count(more, 'more residue')}; --full shows all", style="italic")] if more > 0 else []
        parts.append(Gap())
    return Blocks(*parts)


def _facts(report: Residues) -> Sheet:
    table = Sheet.of_facts()
    what = f"made at least {LEAST_MADE} times, and at most {percent(report.share)} of the times they stay"
    table.add_row("residues", f"{count(report.count, 'token')} ({percent(report.vocabulary_share)}): {what}")
    table.add_row("never stay", whole(report.never_final))
    table.add_row("in the corpus", f"{count(report.final_count, 'time')}, {percent(report.final_share)} of its tokens")
    table.add_row("scaffolds", _scaffolds(report))
    return table


def _scaffolds(report: Residues) -> str:
    if not report.scaffold_limit:
        return "not known: the corpus does not make half of the last merges"
    times = count(report.scaffold_limit, "time")
    return f"{count(report.scaffolds, 'token')} that others are made of stay less than {times}, as the last merges"


def _staying(report: Residues) -> Sheet:
    """Show how many tokens each threshold finds."""
    threshold = Column("threshold", right=True, layout={"min_width": len("100.0%")})
    table = Sheet("measure", threshold, *numbers("tokens", "of those measured"))
    for share, tokens in report.staying:
        table.add_row("stays at most", percent(share), whole(tokens), _part(tokens, report.measured))
    for share, tokens in report.taken:
        table.add_row("one merge takes at least", percent(share), whole(tokens), _part(tokens, report.measured))
    return table


def _part(tokens: int, measured: int) -> str:
    return percent(tokens / measured if measured else 0.0)


def _list(report: Residues, full: bool) -> Sheet:
    table = Sheet(*numbers("id"), "token", *numbers("made", "stays", "share", "taken"), "mainly becomes")
    for each in report.tokens if full else report.tokens[:LIMIT]:
        table.add_row(
            str(each.token.token_id), short(each.token.content), whole(each.made), whole(each.final),
            percent(each.ratio), percent(each.taken), short(each.mainly.content),
        )  # fmt: skip
    return table
