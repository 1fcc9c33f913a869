"""Show what each stage makes of a text, one under the other; and ranked segmentations, a line each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Gap, Line, SetText
from bpe_cli.views.labels import TOKEN_LIMIT, count, fraction
from bpe_cli.views.lines import PLAIN, Interlined, Palette, Writer, interlinear, palette_of, token_style
from bpe_cli.views.tokens import Notes, columns, span, totals_line, warning_lines
from bpe_cli.views.visible import BAR, bordered, harmless, units, visible

if TYPE_CHECKING:
    from bpe_cli.reports.text.scores import RankedToken, Ranking
    from bpe_cli.reports.text.stages import Change, Normalized, StagesReport
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.views.blocks import Block, Screen

_CHANGES = 10
_NONE = "none"


@dataclass(frozen=True)
class StagesView:
    """The stages of a text: each with its name, what it makes, and the totals at the end.

    Attributes:
        report: What to show.
        notes: What to set under each token, besides its id.
        limit: Show only so many pieces and tokens, and characters of texts; None for all.
        warnings: What to warn of.
        marked: Whether to keep in its place what reads from the right; see ``visible``.
        pieces_only: Whether to end with the pieces: there is no model.
    """

    report: StagesReport
    notes: Notes
    limit: int | None = TOKEN_LIMIT
    warnings: Sequence[TextWarning] = ()
    marked: bool = False
    pieces_only: bool = False

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield the blocks for a screen."""
        palette, width, report = palette_of(screen), screen.width, self.report
        for stage in report.normalizers:
            yield _heading("normalizer", [stage.name])
            yield from self._text(stage.content, palette, width)
            yield from self._changes(stage)
            yield Gap()
        if not report.normalizers:
            yield _heading("normalizer", [])
            yield Gap()
        yield _heading("pre-tokenizer", report.pre_tokenizers, count(len(report.pieces), "piece"))
        yield from self._columns(self._piece_columns(palette), len(report.pieces), palette, width)
        if self.pieces_only:
            return
        yield Gap()
        yield _heading("model", [report.model], count(report.segmentation.token_count, "token"))
        yield from self._columns(self._token_columns(palette), report.segmentation.token_count, palette, width)
        yield Gap()
        yield _heading("post-processor", report.post_processor, self._added())
        if any(report.processed.special_mask) or any(report.processed.type_ids):
            yield from self._columns(self._processed_columns(palette), len(report.contents), palette, width)
        yield Gap()
        yield _heading("decoder", report.decoders)
        yield from self._text(report.decoded, palette, width)
        yield Gap()
        yield totals_line(report.segmentation)
        yield from warning_lines(self.warnings, palette)

    def _text(self, content: bytes, palette: Palette, width: int) -> Iterator[Block]:
        text = content.decode("utf-8", "surrogateescape")
        shown = text if self.limit is None else text[: self.limit]
        writer = Writer(width, marked=self.marked)
        for unit in units(shown, bars=not palette):
            writer.put(unit, PLAIN)
        yield SetText(writer.finish())
        if len(shown) < len(text):
            yield _more(len(text) - len(shown), "character")

    def _changes(self, stage: Normalized) -> Iterator[Block]:
        if not stage.changes:
            yield Line("changes nothing", style="italic")
            return
        shown = stage.changes if self.limit is None else stage.changes[:_CHANGES]
        places = [str(each.start) if each.start == each.end else span(each.start, each.end) for each in shown]
        wide = max(map(len, places))
        for place, change in zip(places, shown, strict=True):
            yield Line(f"{place:>{wide}}  {_rewriting(change, self.marked)}")
        if len(shown) < len(stage.changes):
            yield _more(len(stage.changes) - len(shown), "change")

    def _columns(self, made: Iterable[Interlined], total: int, palette: Palette, width: int) -> Iterator[Block]:
        yield SetText(interlinear(made, width, bars=not palette, marked=self.marked))
        if self.limit is not None and total > self.limit:
            yield _more(total - self.limit, "more")

    def _piece_columns(self, palette: Palette) -> Iterator[Interlined]:
        for number, piece in enumerate(self.report.pieces[: self.limit]):
            style = token_style(palette, number, piece.special)
            yield Interlined(
                _units(piece.content, palette, style, piece.special), (span(piece.start, piece.end),), style
            )

    def _token_columns(self, palette: Palette) -> Iterator[Interlined]:
        """Yield the tokens; where pieces become several, their numbers stand under the first of each."""
        report = self.report
        firsts: dict[int, int] = {}
        for number, piece in enumerate(report.pieces):
            if piece.token_end > piece.first:
                firsts.setdefault(piece.first, number)
        excerpt = report.segmentation.excerpt(self.limit)
        made = columns(excerpt, palette, replace(self.notes, ids=True))
        if len(firsts) == report.segmentation.token_count:
            yield from made
            return
        for number, column in enumerate(made):
            note = f"piece {firsts[number]}" if number in firsts else ""
            yield replace(column, notes=(*column.notes, note))

    def _processed_columns(self, palette: Palette) -> Iterator[Interlined]:
        processed = self.report.processed
        shown = zip(self.report.contents, processed.ids, processed.type_ids, self.report.special, strict=True)
        for number, (content, token_id, type_id, special) in enumerate(shown):
            if number == self.limit:
                return
            style = token_style(palette, number, special)
            notes = (str(token_id), f"type {type_id}") if any(processed.type_ids) else (str(token_id),)
            yield Interlined(_units(content, palette, style, special), notes, style)

    def _added(self) -> str:
        added = sum(self.report.processed.special_mask)
        return f"{count(added, 'special token')} with bpe encode --add-special-tokens" if added else "adds nothing"


def _heading(stage: str, names: Iterable[str], detail: str = "") -> Line:
    """Write the name of a stage, and of what it is made of."""
    shown = ", ".join(map(harmless, names)) or _NONE
    return Line((stage, "bold"), f"  {shown}", f": {detail}" if detail and shown != _NONE else "")


def _units(content: bytes, palette: Palette, style: str, special: bool) -> list[tuple[str, str]]:
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


def _more(number: int, thing: str) -> Line:
    return Line(f"and {number:,} more" if thing == "more" else f"and {count(number, 'more ' + thing)}")


@dataclass(frozen=True)
class RankingView:
    """The best segmentations of a text: rank, score, tokens with bars between, number of tokens.

    Attributes:
        ranking: What to show.
        ids: Whether each token's id stands behind it.
    """

    ranking: Ranking
    ids: bool = False

    def blocks(self, screen: Screen) -> Iterator[Block]:
        """Yield the blocks for a screen."""
        palette, shown = palette_of(screen), self.ranking.segmentations
        scores = [fraction(each.score, 4) for each in shown]
        wide = max(map(len, scores), default=0)
        for number, (segmentation, score) in enumerate(zip(shown, scores, strict=True), start=1):
            parts: list[str | tuple[str, str]] = [f"{number:>{len(str(len(shown)))}}  {score:>{wide}}  "]
            for place, token in enumerate(segmentation.tokens):
                parts += [BAR if place else "", (self._token(token), token_style(palette, place, token.special))]
            yield Line(*parts, whole=True)  # however long: folded ones could not be compared
        few = "" if len(shown) == self.ranking.wanted else f" of the {self.ranking.wanted:,} asked for: no more exist"
        yield Line(f"{count(len(shown), 'segmentation')}{few}")

    def _token(self, token: RankedToken) -> str:
        text = visible(token.content, bars=True)
        text = f"⟦{text}⟧" if token.special else text
        return f"{text} {token.token_id}" if self.ids else text
