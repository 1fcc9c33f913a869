"""The steps of one text, for tests."""

from __future__ import annotations

from bpe_cli.reports.text.steps.record import teller_of


def tell(tokenizer, text, specials=(), limits=None):
    """Return how a tokenizer arrives at the tokens of a text."""
    return teller_of(tokenizer, specials, limits)(text)
