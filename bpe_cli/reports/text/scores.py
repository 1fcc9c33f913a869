"""Find the score that a model gave each token of a text.

Of a unigram model it is the natural logarithm of the token's probability (Kudo, arXiv:1804.10959); of
SentencePiece's BPE, a number that only orders merges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.stages import ScoredBpe, Unigram

if TYPE_CHECKING:
    from bpe_cli.tokenizer import Tokenizer

UNKNOWN_PENALTY = 10.0
"""How far an unknown character lies below the lowest score of a unigram model (SentencePiece)."""
FIXED_UNKNOWN = -1000.0
"""What an unknown character scores where scores are rounded to ten-thousandths."""
SMALLEST = 2.0**-126
"""Where the highest score begins: the smallest normal single-precision number above 0 (SentencePiece)."""
_NORMAL, _USER_DEFINED = 1, 4


def scores_of(tokenizer: Tokenizer) -> Callable[[int], float | None] | None:
    """Return what tells the score of an id; None for a model without scores.

    The score is None for a token that no score decided on: special tokens, and bytes that a character
    fell back on. An unknown token has the score of one unknown character, however many it stands for.
    """
    model = tokenizer.model
    if not isinstance(model, (Unigram, ScoredBpe)):
        return None
    scores, kinds, special = model.scores, model.kinds, tokenizer.special_ids
    unknown_id = unknown = highest = None
    taken: tuple[int, ...] = (_NORMAL,)
    if isinstance(model, Unigram):
        normal = [score for number, score in enumerate(scores) if not kinds or kinds[number] == _NORMAL]
        unknown_id, unknown = model.unk_id, min(normal, default=0.0) - UNKNOWN_PENALTY
        highest = max(normal, default=0.0)
        if model.fixed_point:
            unknown, highest, taken = FIXED_UNKNOWN, None, (_NORMAL, _USER_DEFINED)

    def score(token_id: int) -> float | None:
        if token_id == unknown_id:
            return unknown
        kind = kinds[token_id] if token_id < len(kinds) else _NORMAL
        if kind == _USER_DEFINED and highest is not None:
            characters = len(model.vocabulary.token(token_id).decode("utf-8", "surrogateescape"))
            return characters * max(highest, SMALLEST) - 0.1
        if kind not in taken or token_id in special or token_id >= len(scores):
            return None
        return scores[token_id]

    return score


def check_scores(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer whose model has no scores.

    Raises:
        UsageError: if it has none.
    """
    if not isinstance(tokenizer.model, (Unigram, ScoredBpe)):
        raise UsageError(
            f"tokens have scores in unigram models and in SentencePiece's BPE, and this is {tokenizer.model.kind}",
            hint="leave out --scores; the ids of merges (--ids) say which came first",
        )
