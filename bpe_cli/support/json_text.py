"""Write text from outside as JSON has it, whatever bytes it holds."""

from __future__ import annotations


def text_value(content: bytes) -> str | dict[str, str]:
    r"""Return bytes as a string, or as an object when they are not UTF-8.

    >>> text_value("谁".encode()), text_value(b"\xe8\xb0")
    ('谁', {'bytes': 'e8b0'})
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"bytes": content.hex()}


def name_value(name: str) -> str | dict[str, str]:
    """Return a name, which may hold bytes that are not UTF-8 as lone surrogates."""
    return name if name.isascii() else text_value(name.encode("utf-8", "surrogateescape"))
