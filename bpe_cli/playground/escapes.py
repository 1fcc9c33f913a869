r"""Write any bytes as characters that can be typed into a field of a page, and read them back.

A field holds no carriage return, no NUL and no byte that is not UTF-8: all of these are written as escapes, in which a
backslash is ``\\``. ``read(written(content)) == content``, whatever the bytes.
"""

from __future__ import annotations

import re

from bpe_cli.errors import InputError

_NAMED = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", "e": b"\x1b"}
_WRITTEN = {"\\": "\\\\", "\r": "\\r", "\0": "\\0"}

_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|([\s\S])|$)")
_UNTYPED = re.compile("[\\\\\0-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")


def needs_escapes(content: bytes) -> bool:
    r"""Return whether a field would not give bytes back as they are.

    >>> needs_escapes(b"a\n\\b"), needs_escapes(b"a\r\n"), needs_escapes(b"\xff")
    (False, True, True)
    """
    return any(match.group() != "\\" for match in _UNTYPED.finditer(content.decode("utf-8", "surrogateescape")))


def written(content: bytes) -> str:
    r"""Return bytes as characters, with escapes for what cannot be typed.

    >>> print(written(b"C:\\ \xff\r\n").rstrip("\n"))
    C:\\ \xff\r
    """
    return _UNTYPED.sub(_escape, content.decode("utf-8", "surrogateescape"))


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _WRITTEN:
        return _WRITTEN[character]
    code = ord(character)
    if code >= 0xDC80:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{{{code:x}}}"


def read(text: str) -> bytes:
    r"""Return the bytes that characters with escapes stand for; the inverse of ``written``.

    ``\n``, ``\r``, ``\t``, ``\e``, ``\0`` and ``\\`` are what they usually are, ``\xe8`` is a byte, ``\u8c01`` and
    ``\u{1f642}`` are characters.

    >>> read(r"\xff\u8c01\u{1f642}\n\\") == b"\xff" + "\u8c01\U0001f642\n\\".encode()
    True

    Raises:
        InputError: if a backslash begins no escape.
    """
    parts, position = [], 0
    for match in _ESCAPE.finditer(text):
        parts += [text[position : match.start()].encode(), _meaning(match)]
        position = match.end()
    return b"".join([*parts, text[position:].encode()])


def _meaning(match: re.Match[str]) -> bytes:
    byte, braced, four, named = match.groups()
    if byte is not None:
        return bytes([int(byte, 16)])
    if braced is not None or four is not None:
        code = int(braced or four, 16)
        if code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
            return chr(code).encode()
    elif named in _NAMED:
        return _NAMED[named]
    raise InputError(
        f"character {match.start() + 1} begins {match.group()!r}, which is not an escape",
        hint="there are \\n \\r \\t \\e \\0 \\\\ \\xe8 \\u8c01 \\u{1f642}; a backslash itself is \\\\",
    )
