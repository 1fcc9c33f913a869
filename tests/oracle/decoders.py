"""Make text of tokens again: the decoders, written to be read, never optimised.

Each takes a list of strings and gives another; what the last one gives is joined. They are those of
Hugging Face's tokenizers, with one difference: a string here is bytes, and bytes that are no UTF-8 stay.
"""

from __future__ import annotations

import re
from itertools import groupby

from bpe_cli.stages.spelling import from_visible

Strings = list[bytes]

BYTE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")
CLEANUP = [
    (b" .", b"."), (b" ?", b"?"), (b" !", b"!"), (b" ,", b","), (b" ' ", b"'"), (b" n't", b"n't"),
    (b" 'm", b"'m"), (b" do not", b" don't"), (b" 's", b"'s"), (b" 've", b"'ve"), (b" 're", b"'re"),
]  # fmt: skip


def byte_level(tokens: Strings) -> Strings:
    """Read visible characters as the bytes they stand for.

    >>> byte_level(["Ġa".encode(), "你".encode()]) == [b" a" + "你".encode()]
    True
    """
    spelt = []
    for token in tokens:
        read = from_visible(token.decode("utf-8", "surrogateescape"))
        spelt.append(token if read is None else read)
    return [b"".join(spelt)]


def word_piece(tokens: Strings, prefix: bytes = b"##", cleanup: bool = True) -> Strings:
    """Put a space before each token that begins a word.

    >>> word_piece([b"un", b"##able", b"."])
    [b'un', b'able', b'.']
    """
    words = tokens[:1]
    for token in tokens[1:]:
        words.append(token.removeprefix(prefix) if token.startswith(prefix) else b" " + token)
    return [clean_up(word) for word in words] if cleanup else words


def clean_up(text: bytes) -> bytes:
    """Take out the spaces before punctuation and in English contractions."""
    for spaced, plain in CLEANUP:
        text = text.replace(spaced, plain)
    return text


def metaspace(tokens: Strings, mark: bytes, prepended: bool = True) -> Strings:
    """Read marks as spaces; those of the first token were put before the text."""
    return [token.replace(mark, b"" if number == 0 and prepended else b" ") for number, token in enumerate(tokens)]


def bpe(tokens: Strings, suffix: bytes = b"</w>") -> Strings:
    """Read the suffix of a word as a space, but at the end of the text."""
    return [token.replace(suffix, b" ") for token in tokens[:-1]] + [
        token.replace(suffix, b"") for token in tokens[-1:]
    ]


def ctc(tokens: Strings, pad: bytes = b"<pad>", delimiter: bytes = b"|", cleanup: bool = True) -> Strings:
    """Read what a speech model says: repeated tokens count once, and a pad stands between two that are meant.

    >>> ctc([b"l", b"l", b"<pad>", b"l", b"o", b"|"])
    [b'l', b'l', b'o', b' ']
    """
    texts = [token.replace(pad, b"") for token, _ in groupby(tokens)]
    if cleanup:
        texts = [clean_up(text).replace(delimiter, b" ") for text in texts]
    return [text for text in texts if text]


def byte_fallback(tokens: Strings) -> Strings:
    """Join each run of tokens that spell a byte.

    >>> byte_fallback([b"a", b"<0xC3>", b"<0xA9>"])
    [b'a', b'\\xc3\\xa9']
    """
    strings = []
    for spells_bytes, run in groupby(tokens, key=lambda token: BYTE.fullmatch(token) is not None):
        if spells_bytes:
            strings.append(bytes(int(token[3:5], 16) for token in run))
        else:
            strings.extend(run)
    return strings


def fuse(tokens: Strings) -> Strings:
    """Join all."""
    return [b"".join(tokens)]


def strip(tokens: Strings, content: bytes, start: int, stop: int) -> Strings:
    """Take at most so many characters off each end."""
    stripped = []
    for token in tokens:
        for _ in range(start):
            token = token.removeprefix(content)
        for _ in range(stop):
            token = token.removesuffix(content)
        stripped.append(token)
    return stripped


def replace(tokens: Strings, literal: bytes, content: bytes) -> Strings:
    """Put one text in the place of another."""
    return [token.replace(literal, content) for token in tokens]


def space_marks(tokens: Strings, strips_one: bool, strips_all: bool, unknown: int | None = None) -> Strings:
    """Read marks as blanks, as SentencePiece does (the token at place ``unknown`` is the unknown one).

    >>> space_marks(["▁▁a▁".encode(), b"<0x21>"], strips_one=True, strips_all=False)
    [b' a ', b'!']
    """
    mark = "▁".encode()
    text: Strings = []
    stripped = False
    for place, token in enumerate(tokens):
        if place == unknown:
            text.append(" ⁇ ".encode())
        elif BYTE.fullmatch(token):
            text.append(bytes([int(token[3:5], 16)]))
        else:
            if strips_one and not any(text) and (strips_all or not stripped) and token.startswith(mark):
                token = token.removeprefix(mark)
                stripped = True
            text.append(token.replace(mark, b" "))
    return text
