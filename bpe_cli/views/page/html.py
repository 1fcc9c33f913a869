"""Write what a console shows as markup: headings, lines and tables, none shortened to a width."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bpe_cli.views.comparison.blocks import Heading, Line, Sheet, taken_apart
from bpe_cli.views.page.markup import name

if TYPE_CHECKING:
    from rich.console import RenderableType


def rendered(shown: RenderableType | None) -> Iterator[str]:
    """Write it; every text in it is taken as one from outside."""
    heading = ""
    for part in taken_apart(shown):
        match part:
            case Heading(text):
                heading = name(text)
                yield f"<h2>{heading}</h2>\n"
            case Line(text):
                yield f'<p class="note">{name(text)}</p>\n'
            case Sheet():
                yield from _table(part, heading)


def _table(sheet: Sheet, label: str) -> Iterator[str]:
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
    if any(sheet.headers):
        heads = zip(sheet.headers, sheet.right, strict=True)
        yield f"<thead><tr>{''.join(_cell('th', text, right, 'col') for text, right in heads)}</tr></thead>"
    yield "<tbody>\n"
    for number, row in enumerate(sheet.rows):
        first, *others = row
        cells = "".join(_cell("td", text, right) for text, right in zip(others, sheet.right[1:], strict=True))
        yield f"<tr>{_cell('th', first, sheet.right[0], 'row')}{cells}</tr>\n"
        if number in sheet.ends:
            yield "</tbody><tbody>\n"
    yield "</tbody></table></div>\n"


def _cell(tag: str, text: str, right: bool, scope: str = "") -> str:
    attributes = (f' scope="{scope}"' if scope else "") + ("" if right else ' class="start"')
    return f"<{tag}{attributes}>{name(text)}</{tag}>"
