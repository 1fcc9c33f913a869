"""Spell a piece in tokens of characters, before any merging.

Source: huggingface/tokenizers ``models/bpe`` (unknown characters, bytes, what is written before and after characters).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal


def byte_token(byte: int) -> str:
    """Name the token of a byte.

    >>> byte_token(10)
    '<0x0A>'
    """
    return f"<0x{byte:02X}>"


def decorate(piece: str, *, prefix: str = "", suffix: str = "", separate_suffix: bool = False) -> list[str]:
    """Write a piece as symbols: characters with what is written before and after them.

    >>> decorate("abc", prefix="##", suffix="</w>"), decorate("ab", suffix="</w>", separate_suffix=True)
    (['a', '##b', '##c</w>'], ['a', 'b', '</w>'])
    """
    symbols = [prefix * (place > 0) + character for place, character in enumerate(piece)]
    if separate_suffix and suffix:
        symbols.append(suffix)
    elif symbols:
        symbols[-1] += suffix
    return symbols


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a symbol is spelt.

    Attributes:
        symbol: The symbol.
        tokens: What it becomes: itself, its bytes, the unknown token, or nothing.
        way: Which of these it is; "fused" if the unknown token before it stands for this one, too.
    """

    symbol: str
    tokens: tuple[str, ...]
    way: Literal["token", "bytes", "unknown", "fused", "left out"]


def spellings(
    symbols: Sequence[str],
    vocabulary: Collection[str],
    *,
    unknown: str | None = None,
    fuse_unknown: bool = False,
    byte_fallback: bool = False,
) -> Iterator[Spelling]:
    """Yield how each symbol is spelt.

    Args:
        symbols: The piece, as ``decorate`` writes it.
        vocabulary: All tokens.
        unknown: The token for a symbol that has none; None leaves such a symbol out.
        fuse_unknown: Whether neighbouring unknown symbols become one token.
        byte_fallback: Whether an unknown symbol becomes the tokens of its bytes, if all are there.

    >>> [spelling.way for spelling in spellings("axy", {"a"}, unknown="?", fuse_unknown=True)]
    ['token', 'unknown', 'fused']
    """
    after_unknown = False
    for symbol in symbols:
        in_bytes = tuple(byte_token(byte) for byte in symbol.encode("utf-8", "surrogateescape"))
        if symbol in vocabulary:
            yield Spelling(symbol, (symbol,), "token")
        elif byte_fallback and all(token in vocabulary for token in in_bytes):
            yield Spelling(symbol, in_bytes, "bytes")
        elif unknown is None:
            yield Spelling(symbol, (), "left out")
        elif fuse_unknown and after_unknown:
            yield Spelling(symbol, (), "fused")
            continue
        else:
            yield Spelling(symbol, (unknown,), "unknown")
            after_unknown = True
            continue
        after_unknown = False


# --------------------------------------------------------------------------------------------------
# Describe what a token may not be, however often its parts stand side by side.
#
# Sources: Land and Arnett, arXiv:2505.24689 (tokens keep to the borders of characters). Each function
# takes the text of a product, for ``bpe.train(allow=...)``.


def keeps_characters(product: str | bytes) -> bool:
    """Return whether a product is whole characters, or a proper beginning of a single one.

    >>> [keeps_characters(product) for product in ("你好".encode(), b"\\xe4\\xbd", b"\\xbd\\xa0", b"a\\xe4")]
    [True, True, False, False]
    """
    data = product.encode("utf-8", "surrogateescape") if isinstance(product, str) else product
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start == 0 and error.reason == "unexpected end of data"
    return True


def count_digits(product: str | bytes) -> int:
    """Count the numeric characters (Unicode category N) of a product; a part of one is none.

    >>> count_digits("a1\u0663"), count_digits(b"12\\xd9"), count_digits(b"\\xd9\\xa3")
    (2, 2, 1)
    """
    text = product if isinstance(product, str) else product.decode("utf-8", "surrogateescape")
    return sum(1 for character in text if unicodedata.category(character).startswith("N"))
