"""Tell whether tokens that are looked for in text can get in each other's way."""

from __future__ import annotations

from collections.abc import Collection


def overlapping(first: Collection[str], second: Collection[str]) -> tuple[str, str] | None:
    """Find a text of each collection that can lie over one another in some text.

    >>> overlapping(["<s>"], ["x<", "y"]), overlapping(["<s>"], ["<t>"])
    (('<s>', 'x<'), None)

    Complexity: quadratic in the length of a text, linear in their number.
    """
    prefixes: dict[str, str] = {}
    suffixes: dict[str, str] = {}
    inside: dict[str, str] = {}
    for text in first if second else ():
        for cut in range(1, len(text) + 1):
            prefixes.setdefault(text[:cut], text)
            suffixes.setdefault(text[-cut:], text)
            inside |= {text[start:cut]: text for start in range(cut)}
    for other in second if first else ():
        for cut in range(1, len(other) + 1):
            found = prefixes.get(other[-cut:]) or suffixes.get(other[:cut]) or inside.get(other)
            contained = (text for start in range(cut) if (text := other[start:cut]) in first)
            found = found or next(contained, None)
            if found:
                return found, other
    return None
