r"""Write what a report holds as plain JSON values.

A text from outside (a token, a name, a grapheme cluster) is a string when it is UTF-8, else an object
``{"bytes": "e8b0"}`` with its bytes in hexadecimal. Strings are not made harmless for terminals: write
them with ``ensure_ascii``.
"""

from __future__ import annotations


def text_value(content: bytes) -> str | dict[str, str]:
    r"""Give bytes as a string, or as an object when they are not UTF-8.

    >>> text_value("谁".encode()), text_value(b"\xe8\xb0")
    ('谁', {'bytes': 'e8b0'})
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"bytes": content.hex()}


def name_value(name: str | None) -> str | dict[str, str] | None:
    """Give a name, which may hold bytes that are not UTF-8 as lone surrogates."""
    return None if name is None else text_value(name.encode("utf-8", "surrogateescape"))
