"""Write numbers, and state how much is shown unless all is asked for."""

from __future__ import annotations

from bpe_cli.support.messages import plural as count  # among the other ways to write numbers

__all__ = ["ABSENT", "count", "fraction", "percent", "whole"]

ABSENT = "–"
"""Stands for a number that there is not."""


def whole(number: int | None) -> str:
    """Write a whole number.

    >>> whole(1234567), whole(None)
    ('1,234,567', '–')
    """
    return ABSENT if number is None else f"{number:,}"


def fraction(number: float | None, digits: int = 2) -> str:
    """Write a number with decimals.

    >>> fraction(4.126), fraction(None), fraction(1234.5, 1)
    ('4.13', '–', '1,234.5')
    """
    return ABSENT if number is None else f"{number:,.{digits}f}"


def percent(share: float) -> str:
    """Write a share of one.

    >>> percent(0.125)
    '12.5%'
    """
    return f"{share:.1%}"


TOKEN_LIMIT = 1000
"""Tokens of a text."""
DOCUMENT_LIMIT = 100
"""Documents of a page or picture."""
