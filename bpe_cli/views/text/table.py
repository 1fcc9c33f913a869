"""List the tokens of a text in a table, one a line, with all there is to say of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from bpe_cli.views.direction import bordered
from bpe_cli.views.layout import table
from bpe_cli.views.numbers import ABSENT, whole
from bpe_cli.views.palette import Palette, token_style
from bpe_cli.views.visible import visible

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import PlacedToken


def token_table(tokens: tuple[PlacedToken, ...], palette: Palette, *, marked: bool = False) -> Table:
    """List tokens: number, id, token, bytes, spans in the text, and piece and score where there are any."""
    listed = table()
    pieces = any(token.piece is not None for token in tokens)
    digits = score_digits(tokens)
    listed.add_column("#", justify="right", no_wrap=True)
    listed.add_column("id", justify="right", no_wrap=True)
    listed.add_column("token", overflow="fold")
    listed.add_column("bytes", overflow="fold")
    listed.add_column("span", justify="right", no_wrap=True)
    listed.add_column("characters", justify="right", no_wrap=True)
    if pieces:
        listed.add_column("piece", justify="right", no_wrap=True)
    if digits is not None:
        listed.add_column("score", justify="right", no_wrap=True)
    for number, token in enumerate(tokens):
        shown = visible(token.reading)
        shown = bordered(f"⟦{shown}⟧" if token.special else shown, active=marked)
        row: list[str | Text] = [
            str(number),
            str(token.token_id),
            Text(shown, style=token_style(palette, number, token.special)),
            Text(" ".join(f"{byte:02x}" for byte in token.reading)),
            span(token.start, token.end),
            span(token.character_start, token.character_end),
        ]
        if pieces:
            row.append(whole(token.piece))
        if digits is not None:
            row.append(score_text(token.score, digits))
        listed.add_row(*row)
    return listed


def span(start: int, end: int) -> str:
    """Write a span of bytes or characters, the end exclusive."""
    return f"{start}–{end}"


def score_digits(tokens: tuple[PlacedToken, ...]) -> int | None:
    """Give how many decimals the scores of tokens need; None if there are no scores."""
    scores = [token.score for token in tokens if token.score is not None]
    return (0 if all(score == int(score) for score in scores) else 2) if scores else None


def score_text(score: float | None, digits: int) -> str:
    """Write a score.

    >>> score_text(-9.31, 2), score_text(-28723.0, 0), score_text(None, 2)
    ('-9.31', '-28723', '–')
    """
    return ABSENT if score is None else f"{score:.{digits}f}"
