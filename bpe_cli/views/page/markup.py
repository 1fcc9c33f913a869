r"""Write any text as markup in which nothing acts: every text of a page goes through ``escape`` or ``marked``.

A browser gives back from ``marked`` exactly the text (when it is copied, say), but for what HTML cannot hold: NUL and
bytes that are not UTF-8, the surrogates among these too. Nor does a page hold the controls U+0080 to U+009F: no
reference means them, and as they are one of them would command a terminal that the page is printed to. All of these
stand there as their bytes, ``\x00``, ``\xff``, ``\xc2\x9b``. What has no shape of its own stands in an element of its
own, whose mark comes from the style sheet. ``rendered`` writes neutral blocks, none shortened to a width.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Blocks, Heading, Line, Sheet, Value
from bpe_cli.views.visible import HIDDEN, harmless

if TYPE_CHECKING:
    import regex


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_CONTROLS = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
)  # fmt: skip
"""The names of control characters: few fonts have their pictures."""

_TABLE = str.maketrans(_ENTITIES)


def escape(text: str) -> str:
    """Write text from inside the program, for an element or a quoted attribute.

    >>> escape('<a href="x">')
    '&lt;a href=&quot;x&quot;&gt;'
    """
    return text.translate(_TABLE)


def name(text: str) -> str:
    r"""Write a name from outside: of a file or a tokenizer.

    >>> name("<b>\u202e.txt")
    '&lt;b&gt;&lt;U+202E&gt;.txt'
    """
    return escape(harmless(text))


@lru_cache(maxsize=1)
def _remarkable() -> regex.Pattern[str]:
    """Compile what cannot stand in a page as it is.

    A joiner between two emoji is no mark of its own, or there would be no families; and no character carries more
    than eight combining marks, which would cover the lines above.
    """
    import regex

    joiner = r"(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic})"
    return regex.compile(
        rf"""[&<>"']| +|[\udc80-\udcff]+|(?!{joiner}){HIDDEN}|(?<=\p{{M}}{{8}})\p{{M}}""", regex.VERSION1
    )


def marked(text: str) -> str:
    r"""Write a stretch of text, decoded with ``surrogateescape``, with marks for what is not seen.

    >>> marked("a<b")
    'a&lt;b'
    >>> marked("a  b")
    'a<i class="s">  </i>b'
    >>> marked("\u202e\udcff")
    '<i class="m" data-m="U+202E">&#x202e;</i><i class="x">\\xff</i>'
    """
    return _remarkable().sub(_mark, text)


def _mark(match: regex.Match[str]) -> str:
    run = match.group()
    character = run[0]
    code = ord(character)
    if character in _ENTITIES:
        return _ENTITIES[character]
    if character == " ":
        return f'<i class="s">{run}</i>'
    if character == "\n":
        return '<i class="n">\n</i>'
    if character == "\t":
        return '<i class="h">\t</i>'
    if 0xDC80 <= code <= 0xDCFF:
        written = "".join(f"\\x{ord(each) - 0xDC00:02x}" for each in run)
        return f'<i class="x">{written}</i>'
    # A reference to NUL means U+FFFD; one to U+0080 to U+009F another character, for history's sake.
    if not code or 0x80 <= code < 0xA0:
        written = "".join(f"\\x{byte:02x}" for byte in character.encode())
        return f'<i class="x">{written}</i>'
    mark = _CONTROLS[code] if code < 32 else f"U+{code:04X}"
    return f'<i class="m" data-m="{mark}">&#x{code:x};</i>'


def rendered(shown: Blocks | None) -> Iterator[str]:
    """Write it; every text in it is taken as one from outside."""
    heading = ""
    for part in shown.neutral() if shown is not None else ():
        match part:
            case Heading(text):
                heading = name(text.strip())
                yield f"<h2>{heading}</h2>\n"
            case Line():
                yield f'<p class="note">{name(str(part).strip())}</p>\n'
            case Sheet():
                yield from table(part, heading)


def table(sheet: Sheet, label: str) -> Iterator[str]:
    """Write a sheet, all of it, as a region with a label."""
    headers, rights, rows = sheet.plain()
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
    if any(headers):
        heads = zip(headers, rights, strict=True)
        yield f"<thead><tr>{''.join(_cell('th', text, right, 'col') for text, right in heads)}</tr></thead>"
    part = "tbody"
    yield "<tbody>\n"
    for number, row in enumerate(rows):
        first, *others = row
        cells = "".join(_cell("td", text, right) for text, right in zip(others, rights[1:], strict=True))
        yield f"<tr>{_cell('th', first, rights[0], 'row')}{cells}</tr>\n"
        if number in sheet.ends and number + 1 < len(rows):
            ended, part = part, "tfoot" if sheet.has_foot and number + 2 == len(rows) else part
            yield f"</{ended}><{part}>\n"
    yield f"</{part}></table></div>\n"


def _cell(tag: str, cell: str | Value, right: bool, scope: str = "") -> str:
    attributes = (f' scope="{scope}"' if scope else "") + ("" if right else ' class="start"')
    if isinstance(cell, str):
        return f"<{tag}{attributes}>{name(cell)}</{tag}>"
    attributes += ' class="best"' if cell.emphasis == "best" else ""
    attributes += f' title="{escape(cell.title)}"' if cell.title else ""
    text = f"<strong>{escape(cell.text)}</strong>" if cell.emphasis == "bad" else escape(cell.text)
    return f"<{tag}{attributes}>{text}{''.join(f'<small>{escape(each)}</small>' for each in cell.small)}</{tag}>"
