"""List the tokens of a text in a table, one a line, with all there is to say of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from bpe_cli.views.blocks import Blocks, Heading, Line, Sheet, Verbatim
from bpe_cli.views.direction import bordered
from bpe_cli.views.layout import table
from bpe_cli.views.numbers import ABSENT, TOKEN_LIMIT, count, fraction, whole
from bpe_cli.views.palette import Palette, token_style
from bpe_cli.views.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from bpe_cli.reports.text.segmentation import PlacedToken, Segmentation
    from bpe_cli.reports.text.warnings import TextWarning


def token_table(
    tokens: tuple[PlacedToken, ...], palette: Palette, width: int, *, marked: bool = False
) -> Iterator[RenderableType]:
    """List tokens: number, id, token, bytes, spans in the text, and piece and score where there are any.

    What does not fit into ``width`` columns is left out, and named.
    """
    cells = _columns(tokens, marked)
    left_out = _too_many(cells, width)
    listed = table()
    for name in (name for name in cells if name not in left_out):
        folded = name in _FOLDED
        listed.add_column(
            name, justify="left" if folded else "right", no_wrap=not folded, overflow="fold" if folded else "ellipsis"
        )
    styles = [token_style(palette, number, token.special) for number, token in enumerate(tokens)]
    kept = [
        [Text(cell, style=style if name == "token" else "") for cell, style in zip(column, styles, strict=True)]
        for name, column in cells.items()
        if name not in left_out
    ]
    for row in zip(*kept, strict=True):
        listed.add_row(*row)
    yield listed
    if left_out:
        yield Text(f"left out, too narrow: {', '.join(left_out)}", style="italic")


def text_blocks(
    segmentation: Segmentation,
    warnings: Sequence[TextWarning] = (),
    *,
    title: str | None = None,
    limit: int | None = TOKEN_LIMIT,
) -> Blocks:
    """Lay a text out as blocks: what it is called, its totals, its tokens, and what is warned of."""
    excerpt = segmentation.excerpt(limit)
    cells = _columns(excerpt.tokens, marked=False)
    tokens = Sheet()
    for name in cells:
        tokens.add_column("number" if name == "#" else name, right=name not in _FOLDED)
    for row in zip(*cells.values(), strict=True):
        tokens.add_row(*map(Verbatim, row))
    more = [Line(f"and {count(excerpt.more, 'more token')}")] if excerpt.more else []
    told = [Line(f"{warning.message} (byte {whole(warning.start)}); {warning.hint}") for warning in warnings]
    return Blocks(
        *([] if title is None else [Heading(title)]),
        Line(totals_lines(segmentation).plain.replace("\n", ", ").replace("/", " per ")),
        *([tokens] if excerpt.tokens else []),
        *more,
        *told,
    )


def totals_lines(segmentation: Segmentation) -> Text:
    """Write the totals of a segmentation: tokens and characters first, the rest on a line of its own."""
    first = f"{count(segmentation.token_count, 'token')}, {count(segmentation.character_count, 'character')}"
    parts = [count(segmentation.byte_count, "byte")]
    if segmentation.tokens:
        parts.append(f"{fraction(segmentation.bytes_per_token)} bytes/token")
        parts.append(f"{fraction(segmentation.characters_per_token)} characters/token")
    if segmentation.differs_at is None:
        parts.append("round trip ok")
    else:
        parts.append(f"round trip differs from byte {whole(segmentation.differs_at)} on")
    return Text.assemble((first, "bold"), "\n", ", ".join(parts))


def _columns(tokens: tuple[PlacedToken, ...], marked: bool) -> dict[str, list[str]]:
    """Return the cells of each column: piece and score only where there are any."""
    digits = score_digits(tokens)
    cells = {
        "#": [str(number) for number in range(len(tokens))],
        "id": [str(token.token_id) for token in tokens],
        "token": [_shown(token, marked) for token in tokens],
        "bytes": [" ".join(f"{byte:02x}" for byte in token.reading) for token in tokens],
        "span": [span(token.start, token.end) for token in tokens],
        "characters": [span(token.character_start, token.character_end) for token in tokens],
    }
    if any(token.piece is not None for token in tokens):
        cells["piece"] = [whole(token.piece) for token in tokens]
    if digits is not None:
        cells["score"] = [score_text(token.score, digits) for token in tokens]
    return cells


_FOLDED = ("token", "bytes")
_FOLDED_WIDTH = 12
_BETWEEN = 3
_EXPENDABLE = ("characters", "piece", "bytes", "#", "score", "span")
"""What is left out of a narrow table, in this order."""


def _too_many(cells: dict[str, list[str]], width: int) -> list[str]:
    """List the columns that have no place."""
    needs = {name: max(map(cell_len, [name, *column])) + _BETWEEN for name, column in cells.items()}
    for name in _FOLDED:
        needs[name] = min(needs[name], _FOLDED_WIDTH + _BETWEEN)
    left_out = []
    for name in _EXPENDABLE:
        if sum(needs.values()) <= width:
            break
        if needs.pop(name, None) is not None:
            left_out.append(name)
    return left_out


def _shown(token: PlacedToken, marked: bool) -> str:
    shown = visible(token.reading)
    return bordered(f"⟦{shown}⟧" if token.special else shown, active=marked)


def span(start: int, end: int) -> str:
    """Write a span of bytes or characters, the end exclusive."""
    return f"{start}–{end}"


def score_digits(tokens: tuple[PlacedToken, ...]) -> int | None:
    """Return how many decimals the scores of tokens need; None if there are no scores."""
    scores = [token.score for token in tokens if token.score is not None]
    return (0 if all(score == int(score) for score in scores) else 2) if scores else None


def score_text(score: float | None, digits: int) -> str:
    """Write a score.

    >>> score_text(-9.31, 2), score_text(-28723.0, 0), score_text(None, 2)
    ('-9.31', '-28723', '–')
    """
    return ABSENT if score is None else f"{score:.{digits}f}"
