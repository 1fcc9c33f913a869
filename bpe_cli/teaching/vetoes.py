"""Describe what a token may not be, however often its parts stand side by side.

Sources: Land and Arnett, arXiv:2505.24689 (tokens keep to the borders of characters). Each function
takes the text of a product, for ``bpe.train(allow=...)``.
"""

from __future__ import annotations

import unicodedata


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
