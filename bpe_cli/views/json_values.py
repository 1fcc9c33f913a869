r"""Write what a report holds as plain JSON values.

A text from outside (a token, a name, a grapheme cluster) is a string when it is UTF-8, else an object
``{"bytes": "e8b0"}`` with its bytes in hexadecimal. Strings are not made harmless for terminals: write
them with ``ensure_ascii``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def text_value(content: bytes) -> str | dict[str, str]:
    r"""Return bytes as a string, or as an object when they are not UTF-8.

    >>> text_value("谁".encode()), text_value(b"\xe8\xb0")
    ('谁', {'bytes': 'e8b0'})
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"bytes": content.hex()}


def name_value(name: str | None) -> str | dict[str, str] | None:
    """Return a name, which may hold bytes that are not UTF-8 as lone surrogates."""
    return None if name is None else text_value(name.encode("utf-8", "surrogateescape"))


def one_or_several(values: Sequence[dict[str, Any]], origins: Sequence[tuple[str, int]], schema: str) -> dict[str, Any]:
    """Write one text's value as it is, and those of several as one object with a list ``texts`` of them.

    Each of several says besides which ``input`` it is of, and its number there (``document``, from 1).

    >>> one_or_several([{"a": 1}, {"a": 2}], [("x", 1), ("x", 2)], "s/1")["texts"][1]
    {'input': 'x', 'document': 2, 'a': 2}
    """
    if len(values) == 1:
        return values[0]
    named = zip(origins, values, strict=True)
    texts = [{"input": name_value(name), "document": number, **value} for (name, number), value in named]
    return {"schema": schema, "texts": texts}
