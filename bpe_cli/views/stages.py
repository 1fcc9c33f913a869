"""Show what each stage makes of a text, one under the other; and ranked segmentations, a line each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.text import Text

from bpe_cli.views.labels import TOKEN_LIMIT, count, fraction
from bpe_cli.views.lines import PLAIN, Column, Palette, Writer, interlinear, palette_of, token_style
from bpe_cli.views.tokens import Notes, columns, span, totals_lines, warning_lines
from bpe_cli.views.visible import BAR, bordered, harmless, units, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.style import Style

    from bpe_cli.reports.text.scores import RankedToken, Ranking
    from bpe_cli.reports.text.stages import Change, Normalized, StagesReport
    from bpe_cli.reports.text.warnings import TextWarning


_CHANGES = 10
_NONE = "none"


class StagesView:
    """Render the stages of a text: each with its name, what it makes, and the totals at the end."""

    def __init__(
        self,
        report: StagesReport,
        *,
        notes: Notes,
        limit: int | None = TOKEN_LIMIT,
        warnings: Sequence[TextWarning] = (),
        marked: bool = False,
    ) -> None:
        """Choose what to show.

        Args:
            report: What to show.
            notes: What to set under each token, besides its id.
            limit: Show only so many pieces and tokens, and characters of texts; None for all.
            warnings: What to warn of.
            marked: Whether to keep in its place what reads from the right; see ``direction``.
        """
        self._report = report
        self._notes = replace(notes, ids=True)
        self._limit = limit
        self._warnings = warnings
        self._marked = marked

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        palette, width, report = palette_of(console), options.max_width, self._report
        for stage in report.normalizers:
            yield _heading("normalizer", [stage.name])
            yield from self._text(stage.content, palette, width)
            yield from self._changes(stage)
            yield Segment.line()
        if not report.normalizers:
            yield _heading("normalizer", [])
            yield Segment.line()
        yield _heading("pre-tokenizer", report.pre_tokenizers, count(len(report.pieces), "piece"))
        yield from self._columns(self._piece_columns(palette), len(report.pieces), palette, width)
        yield Segment.line()
        yield _heading("model", [report.model], count(report.segmentation.token_count, "token"))
        yield from self._columns(self._token_columns(palette), report.segmentation.token_count, palette, width)
        yield Segment.line()
        yield _heading("post-processor", report.post_processor, self._added())
        if any(report.processed.special_mask) or any(report.processed.type_ids):
            yield from self._columns(self._processed_columns(palette), len(report.contents), palette, width)
        yield Segment.line()
        yield _heading("decoder", report.decoders)
        yield from self._text(report.decoded, palette, width)
        yield Segment.line()
        yield totals_lines(report.segmentation)
        yield from warning_lines(self._warnings, palette)

    def _text(self, content: bytes, palette: Palette, width: int) -> Iterator[Segment]:
        text = content.decode("utf-8", "surrogateescape")
        shown = text if self._limit is None else text[: self._limit]
        writer = Writer(width, marked=self._marked)
        for unit in units(shown, bars=not palette):
            writer.put(unit, PLAIN)
        yield from writer.finish()
        if len(shown) < len(text):
            yield from _more(len(text) - len(shown), "character")

    def _changes(self, stage: Normalized) -> Iterator[Text | Segment]:
        if not stage.changes:
            yield Text("changes nothing", style="italic")
            return
        shown = stage.changes if self._limit is None else stage.changes[:_CHANGES]
        places = [str(each.start) if each.start == each.end else span(each.start, each.end) for each in shown]
        wide = max(map(len, places))
        for place, change in zip(places, shown, strict=True):
            yield Text(f"{place:>{wide}}  {_rewriting(change, self._marked)}")
        if len(shown) < len(stage.changes):
            yield from _more(len(stage.changes) - len(shown), "change")

    def _columns(self, made: Iterable[Column], total: int, palette: Palette, width: int) -> Iterator[Segment]:
        yield from interlinear(made, width, bars=not palette, marked=self._marked)
        if self._limit is not None and total > self._limit:
            yield from _more(total - self._limit, "more")

    def _piece_columns(self, palette: Palette) -> Iterator[Column]:
        for number, piece in enumerate(self._report.pieces[: self._limit]):
            style = token_style(palette, number, piece.special)
            yield Column(_units(piece.content, palette, style, piece.special), (span(piece.start, piece.end),), style)

    def _token_columns(self, palette: Palette) -> Iterator[Column]:
        """Yield the tokens; where pieces become several, their numbers stand under the first of each."""
        report = self._report
        firsts: dict[int, int] = {}
        for number, piece in enumerate(report.pieces):
            if piece.token_end > piece.first:
                firsts.setdefault(piece.first, number)
        excerpt = report.segmentation.excerpt(self._limit)
        made = columns(excerpt, palette, self._notes)
        if len(firsts) == report.segmentation.token_count:
            yield from made
            return
        for number, column in enumerate(made):
            note = f"piece {firsts[number]}" if number in firsts else ""
            yield replace(column, notes=(*column.notes, note))

    def _processed_columns(self, palette: Palette) -> Iterator[Column]:
        processed = self._report.processed
        shown = zip(self._report.contents, processed.ids, processed.type_ids, self._report.special, strict=True)
        for number, (content, token_id, type_id, special) in enumerate(shown):
            if number == self._limit:
                return
            style = token_style(palette, number, special)
            notes = (str(token_id), f"type {type_id}") if any(processed.type_ids) else (str(token_id),)
            yield Column(_units(content, palette, style, special), notes, style)

    def _added(self) -> str:
        added = sum(self._report.processed.special_mask)
        return f"{count(added, 'special token')} with bpe encode --add-special-tokens" if added else "adds nothing"


def _heading(stage: str, names: Iterable[str], detail: str = "") -> Text:
    """Write the name of a stage, and of what it is made of."""
    shown = ", ".join(map(harmless, names)) or _NONE
    return Text.assemble((stage, "bold"), f"  {shown}", f": {detail}" if detail and shown != _NONE else "")


def _units(content: bytes, palette: Palette, style: Style, special: bool) -> list[tuple[str, Style]]:
    shown = list(units(content.decode("utf-8", "surrogateescape"), bars=not palette))
    return [(unit, style) for unit in (("⟦", *shown, "⟧") if special else shown)]


def _rewriting(change: Change, marked: bool) -> str:
    """Write a change; what looks the same before and after, in code points too."""
    before, after = (bordered(visible(content), active=marked) for content in (change.before, change.after))
    if not change.before:
        return f"{after} put in"
    if not change.after:
        return f"{before} left out"
    texts = [content.decode("utf-8", "surrogateescape") for content in (change.before, change.after)]
    alike = unicodedata.normalize("NFC", texts[0]) == unicodedata.normalize("NFC", texts[1])
    points = "  ({} → {})".format(*(" ".join(f"U+{ord(c):04X}" for c in text) for text in texts)) if alike else ""
    return f"{before} → {after}{points}"


def _more(number: int, thing: str) -> Iterator[Segment]:
    shown = f"and {number:,} more" if thing == "more" else f"and {count(number, 'more ' + thing)}"
    yield Segment(shown)
    yield Segment.line()


class RankingView:
    """Show the best segmentations of a text: rank, score, tokens with bars between, number of tokens."""

    def __init__(self, ranking: Ranking, *, ids: bool = False) -> None:
        """Show a ranking; ``ids`` puts each token's id behind it."""
        self._ranking = ranking
        self._ids = ids

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        palette = palette_of(console)
        shown = self._ranking.segmentations
        scores = [fraction(each.score, 4) for each in shown]
        wide = max(map(len, scores), default=0)
        for number, (segmentation, score) in enumerate(zip(shown, scores, strict=True), start=1):
            # A line each, however long: folded ones could not be compared.
            line = Text(f"{number:>{len(str(len(shown)))}}  {score:>{wide}}  ", no_wrap=True, overflow="ignore")
            for place, token in enumerate(segmentation.tokens):
                line.append(BAR if place else "")
                line.append(self._token(token), style=token_style(palette, place, token.special))
            yield line
        few = "" if len(shown) == self._ranking.wanted else f" of the {self._ranking.wanted:,} asked for: no more exist"
        yield Text(f"{count(len(shown), 'segmentation')}{few}")

    def _token(self, token: RankedToken) -> str:
        text = visible(token.content, bars=True)
        text = f"⟦{text}⟧" if token.special else text
        return f"{text} {token.token_id}" if self._ids else text
