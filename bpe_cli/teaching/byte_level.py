"""Give every byte a visible character, as GPT-2's files do: a space is ``Ġ``, a line feed ``Ċ``.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section 2.2, and
the files published with it. The rule: a byte whose Latin-1 character is printable and not a space
stands for itself; the others take the characters from U+0100 on, in ascending order.
"""

from __future__ import annotations

_VISIBLE = [byte for byte in range(256) if chr(byte).isprintable() and chr(byte) != " "]
_HIDDEN = [byte for byte in range(256) if byte not in _VISIBLE]

CHARACTERS: dict[int, str] = {byte: chr(byte) for byte in _VISIBLE} | {
    byte: chr(0x100 + number) for number, byte in enumerate(_HIDDEN)
}
"""The character of each byte, in ascending order of characters.

The same order numbers the 256 single bytes in GPT-2's and cl100k's vocabularies, and in Hugging Face's
byte-level alphabet: ``!`` is 0, byte 0 is 188.
"""

BYTES: dict[str, int] = {character: byte for byte, character in CHARACTERS.items()}
"""The byte of each character."""

ALPHABET: tuple[bytes, ...] = tuple(bytes([byte]) for byte in CHARACTERS)
"""All single bytes in that order: the initial tokens of a byte-level BPE."""


def show(data: bytes) -> str:
    r"""Write bytes visibly.

    >>> show(b" token\n"), show("你".encode())
    ('ĠtokenĊ', 'ä½ł')
    """
    return "".join(CHARACTERS[byte] for byte in data)


def parse(text: str) -> bytes:
    """Give the bytes that ``show`` wrote so.

    Raises:
        ValueError: A character stands for no byte.

    >>> parse("Ġtoken")
    b' token'
    """
    try:
        return bytes(BYTES[character] for character in text)
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} stands for no byte") from None
