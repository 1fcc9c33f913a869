"""Examine which tokens text can become."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.reachability.verdicts import Reachability

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer


def examine(tokenizer: Tokenizer, token_ids: Collection[int] | None = None) -> Reachability:
    """Find out which tokens text can become, with special tokens left alone.

    Args:
        tokenizer: The tokenizer.
        token_ids: The tokens to examine; None for all, special and added ones too.

    Returns:
        The verdicts: of all tokens asked for, or of those of all that are not plainly reachable.

    Raises:
        InputError: An id has no token.
    """
    raise NotImplementedError
