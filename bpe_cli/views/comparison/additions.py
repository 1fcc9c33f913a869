"""Lay out what a comparison holds besides its measures: probes, overlaps of vocabularies, and disagreements.

Disagreements stand side by side, in colours, or with bars where there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bpe_cli.views.blocks import Block, Blocks, Column, Heading, Line, Sheet, numbers
from bpe_cli.views.comparison.probes import probes_view, share
from bpe_cli.views.labels import count, fraction, full_names, header, short_names, whole
from bpe_cli.views.lines import BASIC_COLORS, CUBE_COLORS, PLAIN, Palette, token_style
from bpe_cli.views.sheets import Grid, listed
from bpe_cli.views.visible import BAR, harmless, units, visible

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.comparison import Comparison
    from bpe_cli.reports.comparison.disagreements import Difference, Disagreement
    from bpe_cli.reports.comparison.overlap import Alone, Overlap
    from bpe_cli.views.blocks import Screen


def additions_view(comparison: Comparison, *, full: bool = False) -> Blocks | None:
    """Lay out the additions of a comparison, all of their rows if ``full``; None if there are none.

    What stands for shortened names is said here only if no measures are shown before.
    """
    names = short_names(comparison.tokenizers)
    parts: list[Blocks] = []
    if comparison.probes is not None:
        parts.append(probes_view(names, comparison.probes, full=full))
    if comparison.overlaps:
        parts.append(overlap_view(names, comparison.overlaps))
    if comparison.disagreements:
        parts.append(disagreement_view(names, comparison.disagreements))
    if parts and not comparison.rows:
        parts.insert(0, Blocks(*map(Line, full_names(comparison.tokenizers, names))))
    return Blocks(*parts) if parts else None


_TOKEN_CELLS = 24
_SCRIPTS = 5
_LONGEST = 4
_NAMED = {"none": "no letter", "bytes": "no UTF-8", "other": "other scripts"}


def overlap_view(names: Sequence[str], overlaps: Sequence[Overlap]) -> Blocks:
    """Show vocabularies against the baseline's, one overlap per tokenizer that is not the baseline."""
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
        Heading(f"Vocabularies against {base}, by the texts that tokens stand for", apart=True),
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
    shown = Sheet(*numbers(""), Column(layout={"no_wrap": True}), "", is_list=True)
    for each in alone.scripts[:_SCRIPTS]:
        script = _NAMED.get(each.script, each.script)
        shown.add_row(f"  {whole(each.count)}", script, "  ".join(map(_short, each.examples)))
    more = alone.scripts[_SCRIPTS:]
    if more:
        names = ", ".join(_NAMED.get(each.script, each.script) for each in more)
        shown.add_row(f"  {whole(sum(each.count for each in more))}", "others", names)
    shown.add_row("", "longest", "  ".join(map(_short, alone.longest[:_LONGEST])))
    yield shown


def _short(token: bytes) -> str:
    """Write the beginning of a token."""
    shown = ""
    for unit in units(token.decode("utf-8", "surrogateescape")):
        if cell_len(shown) + cell_len(unit) > _TOKEN_CELLS:
            return shown + "…"
        shown += unit
    return shown


_RICH = (CUBE_COLORS[0], CUBE_COLORS[3])
_BASIC = BASIC_COLORS[:2]

_NOTHING = "∅"
"""A token that stands for no text of its own."""

_UNITS = 24
_AROUND = 12
_WIDE = 72


def disagreement_view(names: Sequence[str], disagreements: Sequence[Disagreement]) -> Blocks:
    """Show tokenizers against the baseline, one disagreement per tokenizer that is not the baseline."""
    first = disagreements[0]
    base = harmless(names[first.first])
    texts = count(first.byte_count, "byte") + ("" if first.whole else ", the beginning of each input")
    boundaries = [
        (f"boundaries of {base}", [whole(each.boundaries[0]) for each in disagreements]),
        ("of this one", [whole(each.boundaries[1]) for each in disagreements]),
        ("of both", [whole(each.common) for each in disagreements]),
    ]
    measures = [
        ("Jaccard", [fraction(each.jaccard, 3) for each in disagreements]),
        (f"precision (this one's in {base})", [fraction(each.precision, 3) for each in disagreements]),
        (f"recall ({base}'s in this one)", [fraction(each.recall, 3) for each in disagreements]),
        ("F1", [fraction(each.f1, 3) for each in disagreements]),
    ]
    words = [
        ("words cut alike", [share(each.share_alike) for each in disagreements]),
        (f"as {base} or finer", [share(each.share_finer) for each in disagreements]),
        (f"as {base} or coarser", [share(each.share_coarser) for each in disagreements]),
    ]
    others = [names[each.second] for each in disagreements]
    parts: list[Block] = [
        Heading(f"Boundaries against {base}, on {texts}", apart=True),
        Grid("", others, [boundaries, measures, words]),
    ]
    parts += [_Differences(base, harmless(names[each.second]), each) for each in disagreements]
    return Blocks(*parts)


@dataclass(frozen=True)
class _Differences:
    """The segments that two tokenizers cut differently."""

    first: str
    second: str
    disagreement: Disagreement

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield a sheet, or lines where five columns are too many."""
        palette: Palette = ()
        if screen.colors:
            palette = _RICH if screen.colors in ("256", "truecolor") else _BASIC
        yield from self._head()
        if self.disagreement.segments:
            yield from self._lines(palette) if screen.width < _WIDE else [self._sheet(palette)]
            yield from self._unknown()

    def _head(self) -> Iterator[Line]:
        disagreement = self.disagreement
        if not disagreement.segments:
            yield Line(f"{self.second} cuts everything as {self.first} does")
            return
        places = f"{count(disagreement.segments, 'place')} ({whole(disagreement.kinds)} different)"
        yield Line(f"{self.second} differs in {places}; tokens more or fewer than {self.first}, the most costly first:")

    def _sheet(self, palette: Palette) -> Sheet:
        rows = [
            (
                _cost(each),
                whole(each.times),
                _cut(each, each.first_ends, palette),
                _cut(each, each.second_ends, palette),
                _context(each),
            )
            for each in self.disagreement.differences
        ]
        return Sheet(*numbers("tokens", "times"), header(self.first), header(self.second), "as in", rows=rows)

    def _lines(self, palette: Palette) -> Iterator[Line]:
        for each in self.disagreement.differences:
            yield from listed(
                f"{_whole_cost(each)}, {count(each.times, 'time')}",
                [
                    (self.first, _cut(each, each.first_ends, palette)),
                    (self.second, _cut(each, each.second_ends, palette)),
                    ("as in", _context(each)),
                ],
            )

    def _unknown(self) -> Iterator[Line]:
        for name, lost in zip((self.first, self.second), self.disagreement.unknown, strict=True):
            if lost:
                yield Line(f"{name} loses text in {count(lost, 'place')}; that its tokens are few is not a merit")


def _cost(difference: Difference) -> str:
    return f"{difference.cost:+,}" if difference.cost else "0"


def _whole_cost(difference: Difference) -> str:
    """Write the cost with its unit, where no column's title says it."""
    unit = "token" if abs(difference.cost) == 1 else "tokens"
    return f"{_cost(difference)} {unit}{' in all' if difference.times > 1 else ''}"


def _cut(difference: Difference, ends: Sequence[int], palette: Palette) -> Line:
    """Write a segment with its tokens told apart."""
    parts: list[tuple[str, str]] = []
    start = written = 0
    for number, end in enumerate(ends):
        if number and not palette:
            parts.append((BAR, PLAIN))
        style = token_style(palette, number)
        for unit in units(difference.text[start:end].decode("utf-8", "surrogateescape"), bars=not palette):
            if written == _UNITS:
                return Line(*parts, "…")
            parts.append(("\\" + unit if unit == _NOTHING else unit, style))
            written += 1
        if start == end:
            parts.append((_NOTHING, style))
            written += 1
        start = max(start, end)
    return Line(*parts)


def _context(difference: Difference) -> Line:
    """Write a segment's first occurrence among its neighbours; characters cut at the ends are left out.

    A segment that begins or ends within a character is shown with all of it.
    """
    shown = difference.text if len(difference.text) <= _UNITS else difference.text[: _UNITS // 2]
    is_whole = len(shown) == difference.byte_count
    before, after = difference.before[-_AROUND:], difference.after[:_AROUND] if is_whole else b""
    text = before + shown + after
    start, end = _character_at(text, len(before))[0], _character_at(text, len(before) + len(shown))[1]
    rest = _whole(text[end:]) if is_whole else "…"
    return Line(_whole(text[:start]), (_whole(text[start:end]), "bold not dim"), rest, style="dim")


def _character_at(text: bytes, place: int) -> tuple[int, int]:
    """Return where the character begins and ends that a place is within; the place, twice, if it is within none."""
    for start in range(max(place - 3, 0), place):
        for end in range(place + 1, min(start + 4, len(text)) + 1):
            if len(text[start:end].decode("utf-8", "surrogateescape")) == 1:  # else each ill-formed byte is one
                return start, end
    return place, place


def _whole(content: bytes) -> str:
    """Write the whole characters of a text."""
    return visible(content.decode("utf-8", "ignore").encode())
