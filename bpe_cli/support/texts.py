"""Bytes that are text, and a text that is cut down to what makes it interesting."""

from __future__ import annotations

from collections.abc import Callable

ATTEMPTS = 100
"""How often a text is made shorter."""


def is_utf8(data: bytes) -> bool:
    r"""Return whether bytes are UTF-8.

    >>> is_utf8("ä".encode()), is_utf8(b"\xe4")
    (True, False)
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def shortened(text: bytes, differs: Callable[[bytes], bool]) -> bytes:
    """Return a part of a text that differs too: without what can go, larger parts first.

    What is UTF-8 stays UTF-8. Complexity: ``ATTEMPTS`` calls at most.

    >>> shortened(b"low lower lowest!", lambda part: b"!" in part)
    b'!'
    """
    cut, at, left = (len(text) + 1) // 2, 0, ATTEMPTS
    is_text = is_utf8(text)
    while cut and left:
        part = text[:at] + text[at + cut :]
        left -= 1
        if part and (not is_text or is_utf8(part)) and differs(part):
            text = part
        else:
            at += cut
        if at >= len(text):
            cut, at = min(cut, len(text)) // 2, 0
    return text
