"""Write neutral blocks as markup: headings, lines and tables, none shortened to a width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bpe_cli.views.blocks import Blocks, Heading, Line, Sheet
from bpe_cli.views.page.markup import escape, name
from bpe_cli.views.page.page import foot, head


def blocks_page(title: str, shown: Blocks) -> Iterator[str]:
    """Write a page of nothing but blocks."""
    yield from head(title, "wide")
    yield from rendered(shown)
    yield from foot()


def framed(page: Iterable[str], title: str) -> str:
    """Write a page as a part of another one, a notebook: its styles stay inside, and so does its script."""
    content = escape("".join(page))
    style = "width:100%;height:30em;border:0;resize:vertical"
    return f'<iframe title="{name(title)}" sandbox="allow-scripts" style="{style}" srcdoc="{content}"></iframe>'


def rendered(shown: Blocks | None) -> Iterator[str]:
    """Write it; every text in it is taken as one from outside."""
    heading = ""
    for part in shown.neutral() if shown is not None else ():
        match part:
            case Heading(text):
                heading = name(text.strip())
                yield f"<h2>{heading}</h2>\n"
            case Line(text, lead):
                yield f'<p class="note">{name(f"{lead}{text}".strip())}</p>\n'
            case Sheet():
                yield from _table(part, heading)


def _table(sheet: Sheet, label: str) -> Iterator[str]:
    headers, rights, rows = sheet.plain()
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
    if any(headers):
        heads = zip(headers, rights, strict=True)
        yield f"<thead><tr>{''.join(_cell('th', text, right, 'col') for text, right in heads)}</tr></thead>"
    yield "<tbody>\n"
    for number, row in enumerate(rows):
        first, *others = row
        cells = "".join(_cell("td", text, right) for text, right in zip(others, rights[1:], strict=True))
        yield f"<tr>{_cell('th', first, rights[0], 'row')}{cells}</tr>\n"
        if number in sheet.ends and number + 1 < len(rows):
            yield "</tbody><tbody>\n"
    yield "</tbody></table></div>\n"


def _cell(tag: str, text: str, right: bool, scope: str = "") -> str:
    attributes = (f' scope="{scope}"' if scope else "") + ("" if right else ' class="start"')
    return f"<{tag}{attributes}>{name(text)}</{tag}>"
