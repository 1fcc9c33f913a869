"""Get the most characters out of bytes that are not all UTF-8.

Source: Wang, Cho and Gu, "Neural Machine Translation with Byte-Level Subwords", arXiv:1909.03341,
section 2.2. With B the bytes and f(k) the most characters that the first k of them can give:

    f(0) = 0
    f(k) = max over t = 1..4, t <= k of  f(k - t) + g(k - t + 1, k)

where g(i, j) is 1 if the bytes i to j are exactly one character, else 0.

A byte that goes on with a character never begins one, so no two characters can overlap: the choice is
unique, and ``bytes.decode("utf-8", "ignore")`` finds it in one pass.
"""

from __future__ import annotations

LONGEST_CHARACTER = 4
"""Bytes of the longest character in UTF-8."""


def character_of(data: bytes) -> str | None:
    r"""Return the character that bytes are exactly one of, or None: the paper's g.

    >>> character_of("é".encode()), character_of(b"ab"), character_of(b"\xa9")
    ('é', None, None)
    """
    try:
        text = data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        return None
    return text if len(text) == 1 else None


def recoverable(data: bytes) -> list[int]:
    r"""Return f: the most characters that the first 0, 1, ... len(data) bytes can give.

    >>> recoverable(b"a\xa9\xc3\xa9")
    [0, 1, 1, 1, 2]
    """
    most = [0]
    for end in range(1, len(data) + 1):
        most.append(
            max(
                most[end - size] + (character_of(data[end - size : end]) is not None)
                for size in range(1, min(LONGEST_CHARACTER, end) + 1)
            )
        )
    return most


def recover(data: bytes) -> str:
    r"""Return the text with the most characters, by walking back through the best choices.

    >>> recover(b"\xe4\xbd a\xa9 \xe4\xbd\xa0")
    ' a 你'
    """
    most = recoverable(data)
    characters: list[str] = []
    end = len(data)
    while end:
        for size in range(1, min(LONGEST_CHARACTER, end) + 1):
            character = character_of(data[end - size : end])
            if most[end] == most[end - size] + (character is not None):
                characters.append(character or "")
                end -= size
                break
    return "".join(reversed(characters))
