"""Show what vocabularies have in common, and what each has alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bpe_cli.views.blocks import Block, Blocks, Line, Sheet, Verbatim
from bpe_cli.views.comparison.grid import Grid
from bpe_cli.views.comparison.probes import share, title
from bpe_cli.views.labels import count, fraction, whole
from bpe_cli.views.visible import harmless, units

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.overlap import Alone, Overlap

_TOKEN_CELLS = 24
_SCRIPTS = 5
_LONGEST = 4
_NAMED = {"none": "no letter", "bytes": "no UTF-8", "other": "other scripts"}


def overlap_view(names: Sequence[str], overlaps: Sequence[Overlap]) -> Blocks:
    """Show vocabularies against the baseline's.

    Args:
        names: The tokenizers.
        overlaps: One per tokenizer that is not the baseline.
    """
    base = harmless(names[overlaps[0].first])
    sizes = [
        (f"texts in {base}", [whole(each.sizes[0]) for each in overlaps]),
        ("texts in this one", [whole(each.sizes[1]) for each in overlaps]),
        ("in both", [whole(each.shared) for each in overlaps]),
    ]
    shares = [
        ("Jaccard", [fraction(each.jaccard, 3) for each in overlaps]),
        (f"share of {base}'s", [share(each.containment[0]) for each in overlaps]),
        ("share of this one's", [share(each.containment[1]) for each in overlaps]),
    ]
    if any(each.weighted != (None, None) for each in overlaps):
        shares += [
            (f"of {base}'s tokens on the inputs", [share(each.weighted[0]) for each in overlaps]),
            ("of this one's", [share(each.weighted[1]) for each in overlaps]),
        ]
    orders = [
        ("order alike (tau-b)", [fraction(each.rank_correlation, 3) for each in overlaps]),
        ("equal merges from the first on", [whole(each.equal_merges) for each in overlaps]),
    ]
    others = [names[each.second] for each in overlaps]
    parts: list[Block] = [
        title(f"Vocabularies against {base}, by the texts that tokens stand for"),
        Grid("", others, [sizes, shares, orders]),
    ]
    for each in overlaps:
        other = harmless(names[each.second])
        parts += _alone(f"{base} and not in {other}", each.first_alone)
        parts += _alone(f"{other} and not in {base}", each.second_alone)
    return Blocks(*parts)


def _alone(where: str, alone: Alone) -> Iterator[Block]:
    if not alone.count:
        yield Line(f"nothing in {where}")
        return
    yield Line(f"{count(alone.count, 'text')} in {where}")
    shown = Sheet(is_list=True)
    shown.add_numbers("")
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    for each in alone.scripts[:_SCRIPTS]:
        script = _NAMED.get(each.script, each.script)
        shown.add_row(f"  {whole(each.count)}", script, Verbatim("  ".join(map(_short, each.examples))))
    more = alone.scripts[_SCRIPTS:]
    if more:
        names = ", ".join(_NAMED.get(each.script, each.script) for each in more)
        shown.add_row(f"  {whole(sum(each.count for each in more))}", "others", Verbatim(names))
    shown.add_row("", "longest", Verbatim("  ".join(map(_short, alone.longest[:_LONGEST]))))
    yield shown


def _short(token: bytes) -> str:
    """Write the beginning of a token."""
    shown = ""
    for unit in units(token.decode("utf-8", "surrogateescape")):
        if cell_len(shown) + cell_len(unit) > _TOKEN_CELLS:
            return shown + "…"
        shown += unit
    return shown
