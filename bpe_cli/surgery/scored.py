"""SentencePiece's BPE as merges: scores say which concatenation comes first, merges say of what parts.

The neighbours whose concatenation has the highest score are merged. Whatever stands around a piece while
it is put together has no part in it; so it comes of the same two parts wherever it does, and those are
found by merging its own characters with what has higher scores.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bpe_cli.errors import FormatError
from bpe_cli.stages import ScoredBpe
from bpe_cli.surgery.merge_rules import MergeRules
from bpe_cli.surgery.symbols import NORMAL, composite
from bpe_cli.vocabulary import Vocabulary

_UNKNOWN, _CONTROL, _UNUSED = 2, 3, 5


def merges_of_scores(model: ScoredBpe) -> MergeRules:
    """Write the merges out. A piece that no merge reaches has none, and never occurs.

    Raises:
        FormatError: Two pieces have the same score, so that their places in a text decide; a character of
            a piece is none itself; or there are pieces that only serve merging.
    """
    if _UNUSED in model.kinds:
        raise FormatError(
            "the model has unused pieces, which serve merging and are taken apart again", hint="make them normal ones"
        )
    order = sorted(composite(model), key=lambda token_id: -model.scores[token_id])
    for first, second in pairwise(order):
        if model.scores[first] == model.scores[second]:
            texts = " and ".join(repr(model.vocabulary.token(each).decode()) for each in (first, second))
            raise FormatError(
                f"the pieces {texts} have the same score, so that no order of merges does the same",
                hint="give all pieces different scores",
            )
    rules = MergeRules(())
    for priority, token_id in enumerate(order):
        symbols = []
        for character in model.vocabulary.token(token_id).decode():
            symbol = model.vocabulary.id_of(character.encode())
            if symbol is None or (model.kinds and model.kinds[symbol] != NORMAL):
                raise FormatError(
                    f"the piece {model.vocabulary.token(token_id).decode()!r} has the character {character!r}, "
                    "which is no piece itself"
                )
            symbols.append(symbol)
        parts = rules.apply(symbols)
        if len(parts) == 2:
            rules.add(parts[0], parts[1], token_id, priority)
    return rules


def without_products(model: ScoredBpe) -> ScoredBpe:
    """Give the model that only spells: without the pieces that merging makes."""
    products = composite(model)
    size = len(model.scores)
    kinds = bytearray(model.kinds or bytes([NORMAL]) * size)
    kinds[model.unk_id] = _UNKNOWN
    texts = [b""] * size
    for token_id, content in model.vocabulary.items():
        texts[token_id] = b"" if token_id in products else content
    for token_id in products:
        kinds[token_id] = _CONTROL
    return replace(model, vocabulary=Vocabulary.from_tokens(texts), kinds=bytes(kinds))
