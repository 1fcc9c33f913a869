r"""Write a sheet as a LaTeX table, for papers: with the rules of booktabs, the best value of a row or column in bold.

What is put into a document: ``\usepackage{booktabs}``. Names are escaped, so that none is a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bpe_cli.views.blocks import Value
from bpe_cli.views.visible import harmless

if TYPE_CHECKING:
    from bpe_cli.views.blocks import Sheet

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\ttfamily\char34}",  # straight, and \textquotedbl needs a font encoding that LaTeX does not begin with
    "–": "--",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}

_LIGATURE = re.compile("[-–]{2,}|'{2,}|[`?!]`+|,{2,}")
"""What fonts would set as another character: longer dashes, quotation marks, marks upside down."""


def escaped(text: str) -> str:
    r"""Escape a text so that LaTeX sets it as it is.

    >>> print(escaped("a_b & 5% {x} C:\\y"))
    a\_b \& 5\% \{x\} C:\textbackslash{}y
    >>> print(escaped("a-b--c"))
    a-b{-}{-}c
    """
    shown = harmless(text)
    apart = {place for match in _LIGATURE.finditer(shown) for place in range(*match.span())}
    written = (_ESCAPES.get(character, character) for character in shown)
    return "".join(f"{{{each}}}" if place in apart else each for place, each in enumerate(written))


def table(sheet: Sheet) -> str:
    r"""Write a sheet as a ``tabular``.

    >>> from bpe_cli.views.blocks import Sheet, Value, numbers
    >>> print(table(Sheet("name", *numbers("tokens"), rows=[("a_b", Value("1,234", "best"))])))
    \begin{tabular}{lr}
    \toprule
    name & tokens \\
    \midrule
    a\_b & \textbf{1,234} \\
    \bottomrule
    \end{tabular}
    """
    headers, right, rows = sheet.plain()
    lines = [_row(map(_cell, row)) for row in rows]
    columns = "".join("r" if each else "l" for each in right)
    parts = [
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(map(escaped, headers)),
        r"\midrule",
        *lines,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(parts)


def _row(cells: Iterable[str]) -> str:
    row = " & ".join(cells)
    # After a rule or the end of a row, these would be an argument, even on the next line.
    start = "{}" if row.startswith(("[", "*")) else ""
    return rf"{start}{row} \\"


def _cell(cell: str | Value) -> str:
    if not isinstance(cell, Value):
        return escaped(cell)
    text = escaped(cell.text.strip())
    tail = escaped(cell.tail.strip())
    shown = f"\\textbf{{{text}}}" if cell.emphasis == "best" else text
    return f"{shown} {tail}" if tail else shown
