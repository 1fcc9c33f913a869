"""Hold scores to what can be added, compared and written again: finite numbers that a file can tell apart."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise

from bpe_cli.errors import FormatError
from bpe_cli.stages import ScoredBpe
from bpe_cli.support.messages import quote

LARGEST = float.fromhex("0x1.fffffep+127")
"""The largest number in single precision."""


def check(scores: Sequence[float], text_of: Callable[[int], bytes], source: str, *, single: bool = False) -> None:
    """Refuse scores that nothing can be done with.

    Args:
        scores: One for each token.
        text_of: Gives the text of a token.
        source: Where they stand, for the message.
        single: Whether they are added in single precision.

    Raises:
        FormatError: if one is no finite number, or too large; its token is named.
    """
    most = LARGEST if single else math.inf
    if all(map(math.isfinite, scores)) and (not single or all(-most <= score <= most for score in scores)):
        return
    token_id = next(n for n, score in enumerate(scores) if not math.isfinite(score) or abs(score) > most)
    why = "that is too large for single precision" if math.isfinite(scores[token_id]) else "that is not a finite number"
    token = f"token {token_id}, {quote(text_of(token_id))},"
    raise FormatError(f"{source}: the score of {token} is {scores[token_id]:g}: {why}")


def check_order(model: ScoredBpe, holder: str) -> None:
    """Refuse a model whose scores single precision would make other pairs the first of.

    Args:
        model: The model; merging goes by the order of its scores alone.
        holder: What the file is called, as in "a GGUF file".

    Raises:
        FormatError: if a score is too large, or two that differ would be equal; the token is named.
    """
    check(model.scores, model.vocabulary.token, holder, single=True)
    rounded = array("f", model.scores)
    if array("d", rounded) == model.scores:
        return
    order = sorted(range(len(rounded)), key=model.scores.__getitem__)
    for low, high in pairwise(order):
        if rounded[low] == rounded[high] and model.scores[low] != model.scores[high]:
            raise FormatError(
                f"{holder} has scores in single precision, in which those of {quote(model.vocabulary.token(low))} "
                f"(id {low}) and {quote(model.vocabulary.token(high))} (id {high}) are equal",
                hint="bpe.json holds them (--format bpe.json)",
            )
