"""Show ranked segmentations, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from bpe_cli.views.numbers import count, fraction
from bpe_cli.views.palette import palette_of, token_style
from bpe_cli.views.visible import BAR, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from bpe_cli.reports.text.scores import RankedToken, Ranking


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
