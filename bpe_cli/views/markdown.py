"""Write neutral blocks as Markdown (GitHub's dialect).

Names are code, in which no link, mention, reference to an issue or markup works. One with a character that could end
the code or a cell of the table is written as HTML code with that character by its number.
"""

from __future__ import annotations

import re

from bpe_cli.views.blocks import Blocks, Heading, Line, Name, Sheet, Value, Words
from bpe_cli.views.visible import harmless

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~ ]")
_WORD = re.compile(r"[^\s,;:]+(?=[,;:]?(?:\s|$))|\S+")
_PLAIN_WORD = re.compile(r"(?:[^\W_]|[-'’–…%?+×,()=:;]|(?<=\d)\.(?=\d))*(?:(?<=[^\W_])\.|(?<=%\))\.)?")
_FIRST_WORD = re.compile(r"[^\W_]+(?:,\d+)*[,:;]?|\?:?")
"""What makes no list of a line that it begins."""

_PLAIN = re.compile(r"[^`|\\\s](?:[^`|\\]*[^`|\\\s])?")


def written(blocks: Blocks) -> str:
    """Write blocks; texts and names in them may be from outside."""
    return "\n\n".join(filter(None, map(_part, blocks.neutral())))


def code(name: str) -> str:
    r"""Write a name as code.

    >>> code("corpora/en.txt"), code("a|b<c>"), code("@you")
    ('`corpora/en.txt`', '<code>a&#124;b&#60;c&#62;</code>', '`@you`')
    """
    shown = harmless(name)
    if _PLAIN.fullmatch(shown):
        return f"`{shown}`"
    # Punctuation by its number means itself, wherever it stands; so does a space at an end.
    numbered = _PUNCTUATION.sub(lambda match: f"&#{ord(match[0])};", shown)
    # GitHub makes links of addresses even in HTML code: a comment keeps the parts of one from each other.
    return f"<code>{numbered.replace('&#64;', '&#64;<!-- -->')}</code>"


def _part(part: Heading | Line | Sheet) -> str:
    """Write a part of what a console shows; texts and names in it may be from outside."""
    if isinstance(part, Heading):
        return f"#### {_words(part.text.strip())}"
    if isinstance(part, Line):
        return _words(str(part).strip())
    return table(part)


def _words(text: str) -> str:
    """Write a sentence, all in it that is not a plain word or number as code."""

    def word(match: re.Match[str]) -> str:
        plain = _PLAIN_WORD if match.start() else _FIRST_WORD
        return match[0] if plain.fullmatch(match[0]) else code(match[0])

    return _WORD.sub(word, text)


def _cell(cell: str | Value) -> str:
    """Write a cell as it is, or as code; the best value, and a bad one, in bold."""
    if isinstance(cell, Value):
        text = escaped(cell.text.strip())
        return " ".join([f"**{text}**" if cell.emphasis else text, *escaped(cell.tail).split()])
    if isinstance(cell, Words):
        return escaped(cell)
    if isinstance(cell, Name):
        return code(cell)
    text = cell.replace("\n", " ")
    return text if all(map(_PLAIN_WORD.fullmatch, text.split())) else code(text)


def table(sheet: Sheet) -> str:
    """Write a sheet."""
    headers, right, rows = sheet.plain()
    lines = [map(_cell, headers), ("---:" if each else "---" for each in right), *(map(_cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    r"""Escape our own words so that no punctuation is markup.

    >>> escaped(r"a_b \<")
    'a\\_b \\\\\\<'
    """
    return re.sub(r"([\\&*_\[\]<>|`])", r"\\\1", text)


def folded(summary: str, content: str) -> str:
    """Fold content in below its summary."""
    return f"<details><summary>{summary}</summary>\n\n{content}\n\n</details>"
