"""Put what messages name into words the same way everywhere."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMED = 10
"""How many of several that are at fault a message names."""


def quote(text: str | bytes) -> str:
    r"""Show a token in a message: quoted, control characters escaped, cut when long.

    >>> quote("Ġa"), quote(b"\xff\n")
    ('"Ġa"', '"\\\\xff\\n"')
    """
    import json

    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    return json.dumps(text if len(text) <= 60 else text[:57] + "...", ensure_ascii=False)


def listed(parts: Sequence[str], most: int = MOST_NAMED, separator: str = "; ") -> str:
    """Name several, as many as a message bears, and say how many more there are.

    >>> listed(["a", "b", "c"], most=2), listed(["a", "b"], most=2, separator=", ")
    ('a; b; and 1 more', 'a, b')
    """
    more = len(parts) - most
    return separator.join([*parts[:most], f"and {more:,} more"] if more > 0 else parts)


def plural(number: int, noun: str) -> str:
    """Write a number of things.

    >>> plural(1, "merge"), plural(1200, "merge")
    ('1 merge', '1,200 merges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
