"""Put what messages name into words the same way everywhere."""

from __future__ import annotations


def quote(text: str | bytes) -> str:
    r"""Show a token in a message: quoted, control characters escaped, cut when long.

    >>> quote("Ġa"), quote(b"\xff\n")
    ('"Ġa"', '"\\\\xff\\n"')
    """
    import json

    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    return json.dumps(text if len(text) <= 60 else text[:57] + "...", ensure_ascii=False)


def plural(number: int, noun: str) -> str:
    """Write a number of things.

    >>> plural(1, "merge"), plural(1200, "merge")
    ('1 merge', '1,200 merges')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
