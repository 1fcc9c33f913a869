"""Show where tokenizers cut the same texts differently, side by side: in colours, or with bars where there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from bpe_cli.views.blocks import Block, Blocks, Line, Sheet, Verbatim
from bpe_cli.views.comparison.grid import Grid, listed
from bpe_cli.views.comparison.probes import share, title
from bpe_cli.views.labels import count, fraction, header, whole
from bpe_cli.views.visible import BAR, harmless, units, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from bpe_cli.reports.comparison.disagreements import Difference, Disagreement

# Both colours are given, so tokens read on dark and light terminals alike.
_RICH = (Style.parse("#000000 on #d7ffff"), Style.parse("#000000 on #ffaf5f"))
_BASIC = (Style.parse("black on cyan"), Style.parse("black on yellow"))

_NOTHING = "∅"
"""A token that stands for no text of its own."""

_UNITS = 24
_AROUND = 12
_WIDE = 72


def disagreement_view(names: Sequence[str], disagreements: Sequence[Disagreement]) -> Blocks:
    """Show tokenizers against the baseline.

    Args:
        names: The tokenizers.
        disagreements: One per tokenizer that is not the baseline.
    """
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
        title(f"Boundaries against {base}, on {texts}"),
        Grid("", others, [boundaries, measures, words]),
    ]
    parts += [_Differences(names, each) for each in disagreements]
    return Blocks(*parts)


class _Differences:
    """List segments that two tokenizers cut differently."""

    def __init__(self, names: Sequence[str], disagreement: Disagreement) -> None:
        self._first = harmless(names[disagreement.first])
        self._second = harmless(names[disagreement.second])
        self._disagreement = disagreement

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        palette: tuple[Style, ...] = ()
        if not console.no_color and console.color_system is not None:
            palette = _RICH if console.color_system in ("256", "truecolor") else _BASIC
        if options.max_width >= _WIDE or not self._disagreement.segments:
            yield Blocks(*self._blocks(palette))
            return
        yield Blocks(*self._head())
        yield from self._lines(palette)
        yield Blocks(*self._unknown())

    def blocks(self) -> Iterator[Block]:
        """Return all of it, however wide, without colours."""
        return self._blocks(())

    def _blocks(self, palette: Sequence[Style]) -> Iterator[Block]:
        yield from self._head()
        if self._disagreement.segments:
            yield self._sheet(palette)
            yield from self._unknown()

    def _head(self) -> Iterator[Line]:
        found = self._disagreement
        if not found.segments:
            yield Line(f"{self._second} cuts everything as {self._first} does")
            return
        places = f"{count(found.segments, 'place')} ({whole(found.kinds)} different)"
        yield Line(
            f"{self._second} differs in {places}; tokens more or fewer than {self._first}, the most costly first:"
        )

    def _sheet(self, palette: Sequence[Style]) -> Sheet:
        shown = Sheet()
        shown.add_numbers("tokens", "times")
        shown.add_column(Verbatim(header(self._first)), overflow="fold")
        shown.add_column(Verbatim(header(self._second)), overflow="fold")
        shown.add_column("as in", overflow="fold")
        for each in self._disagreement.differences:
            shown.add_row(
                Verbatim(_cost(each)),
                Verbatim(whole(each.times)),
                _cut(each, each.first_ends, palette),
                _cut(each, each.second_ends, palette),
                _context(each),
            )
        return shown

    def _lines(self, palette: Sequence[Style]) -> Iterator[Text]:
        """Lay out each difference as lines, where five columns are too many."""
        for each in self._disagreement.differences:
            yield from listed(
                f"{_cost(each)} tokens, {count(each.times, 'time')}",
                [
                    (self._first, _cut(each, each.first_ends, palette)),
                    (self._second, _cut(each, each.second_ends, palette)),
                    ("as in", _context(each)),
                ],
            )

    def _unknown(self) -> Iterator[Line]:
        for name, lost in zip((self._first, self._second), self._disagreement.unknown, strict=True):
            if lost:
                yield Line(f"{count(lost, 'token')} of {name} stand for unknown text; that they are few is no merit")


def _cost(difference: Difference) -> str:
    return f"{difference.cost:+,}" if difference.cost else "0"


def _cut(difference: Difference, ends: Sequence[int], palette: Sequence[Style]) -> Text:
    """Write a segment with its tokens told apart."""
    text = Text()
    start = written = 0
    for number, end in enumerate(ends):
        if number and not palette:
            text.append(BAR)
        style = palette[number % len(palette)] if palette else Style()
        for unit in units(difference.text[start:end].decode("utf-8", "surrogateescape"), bars=not palette):
            if written == _UNITS:
                return text.append("…")
            text.append("\\" + unit if unit == _NOTHING else unit, style)
            written += 1
        if start == end:
            text.append(_NOTHING, style)
            written += 1
        start = max(start, end)
    return text


def _context(difference: Difference) -> Text:
    """Write a segment's first occurrence among its neighbours; characters cut at the ends are left out."""
    text = Text(_whole(difference.before[-_AROUND:]), style="dim")
    shown = difference.text if len(difference.text) <= _UNITS else difference.text[: _UNITS // 2]
    text.append(_whole(shown), Style(bold=True, dim=False))
    if len(shown) < difference.byte_count:
        return text.append("…")
    return text.append(_whole(difference.after[:_AROUND]))


def _whole(content: bytes) -> str:
    """Write what is whole characters."""
    return visible(content.decode("utf-8", "ignore").encode())
