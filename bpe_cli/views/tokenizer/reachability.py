"""Show which tokens text can become, as a table of layers and the tokens to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.reachability import LAYERS, REACHABLE
from bpe_cli.views.blocks import NARROW, Block, Blocks, Gap, Heading, Line, Sheet, TableWithNotes, Verbatim
from bpe_cli.views.numbers import count, whole
from bpe_cli.views.visible import harmless, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from bpe_cli.reports.tokenizer.reachability import Layer, Reachability, Verdict

FIRST = 3
"""How many tokens of a layer are shown without ``--full``."""

_TELLING: tuple[Layer, ...] = ("merges", "scores", "pieces", "shadowed", "undecided", "ill-formed", "whole")
"""Layers of which tokens are shown, those first that concern most."""

_WITNESSED: tuple[Layer, ...] = ("context", "completion", "fallback")
"""Layers that a good tokenizer's tokens can be of, thousands of them: listed with ``--full`` only."""

_UNPROVEN: dict[Layer, str] = {"special": "if asked", "undecided": "unknown"}
"""What stands for yes and no in layers that have no proof either way."""

_CELLS = 60


def reachability_view(reachability: Reachability, *, full: bool = False) -> Blocks:
    """Lay out layers, and the first tokens of those that tell of trouble.

    With ``full``, all tokens but plain ones, and special ones, which are listed by themselves.
    """
    parts: list[Block] = [Heading("Reachability"), _layers(reachability)]
    shown: list[Verdict] = []
    more = 0
    for layer in listed_layers(full=full):
        of_layer = [verdict for verdict in reachability.verdicts.values() if verdict.layer == layer]
        shown += of_layer if full else of_layer[:FIRST]
        more += 0 if full else max(0, len(of_layer) - FIRST)
    if shown:
        parts.append(_Tokens(reachability, shown))
    if more:
        parts.append(Line(f"and {count(more, 'more token')}; --full shows all", style="italic"))
    return Blocks(*parts)


def listed_layers(*, full: bool) -> tuple[Layer, ...]:
    """Return the layers of which tokens are listed one by one."""
    return (*_TELLING, *_WITNESSED) if full else _TELLING


def _layers(reachability: Reachability) -> TableWithNotes:
    table = TableWithNotes(("layer", "tokens", "reachable"), "what it means")
    for layer, tokens in reachability.counts:
        reached = "yes" if layer in REACHABLE else _UNPROVEN.get(layer, "no")
        table.add_row(layer, whole(tokens), reached, note=LAYERS[layer])
    return table


class _Tokens:
    """Show tokens with their witness or reason; a narrow console has that below each."""

    def __init__(self, reachability: Reachability, verdicts: Sequence[Verdict]) -> None:
        self._rows = [
            (str(verdict.token_id), _short(visible(reachability.contents[verdict.token_id])), verdict)
            for verdict in verdicts
        ]

    def blocks(self) -> list[Block]:
        """Return a sheet with the witness or reason in its last column."""
        sheet = Sheet()
        sheet.add_numbers("id")
        sheet.add_column("token", overflow="fold")
        sheet.add_column("layer", no_wrap=True)
        sheet.add_column("witness or reason", overflow="fold")
        for token_id, content, verdict in self._rows:
            sheet.add_row(token_id, Verbatim(content), verdict.layer, Verbatim(_why(verdict)))
        return [sheet]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width >= NARROW:
            yield Blocks(*self.blocks())
            return
        for token_id, content, verdict in self._rows:
            yield Blocks(Line(f"{token_id}  {content}  {verdict.layer}"), Line(_why(verdict)), Gap())


def _why(verdict: Verdict) -> str:
    """Return the witness, the reason, or both."""
    witness = "" if verdict.witness is None else f"as in {_short(visible(verdict.witness))}"
    reason = "" if verdict.reason is None else harmless(verdict.reason)
    return "; ".join(part for part in (witness, reason) if part)


def _short(text: str) -> str:
    return text if len(text) <= _CELLS else f"{text[:_CELLS]}…"
