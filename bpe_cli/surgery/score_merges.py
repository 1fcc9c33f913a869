"""SentencePiece's BPE as merges: scores say which concatenation comes first, merges say of what parts.

The neighbours whose concatenation has the highest score are merged. Whatever stands around a piece while
it is put together has no part in it; so it comes of the same two parts wherever it does, and those are
found by merging its own characters.
"""

from __future__ import annotations

from dataclasses import replace

from bpe_cli.errors import FormatError
from bpe_cli.stages import ScoredBpe
from bpe_cli.stages.sentencepiece_kinds import CONTROL, NORMAL, UNKNOWN, UNUSED
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.surgery.merge_rules import MergeRules
from bpe_cli.surgery.symbols import composite
from bpe_cli.tokenizer.merging import merged


def own_merges(model: ScoredBpe) -> MergeRules:
    """Find the one merge by which each piece is made; those of equal scores have equal priorities.

    These are for pruning: a piece out of reach has none. A list that another program is to merge by has
    all pairs, in an order in which no two are equal (``formats.dialects.score_merges``).

    Raises:
        FormatError: A character of a piece is none itself, or there are pieces that only serve merging.
    """
    if UNUSED in model.kinds:
        raise FormatError(
            "the model has unused pieces, which serve merging and are taken apart again", hint="make them normal ones"
        )
    texts = [model.vocabulary.token(token_id) for token_id in range(model.vocabulary.size)]
    products = composite(model)
    by_text = {texts[token_id]: (-model.scores[token_id], token_id) for token_id in products}
    scores = sorted({score for score, _ in by_text.values()})
    priority_of = {score: priority for priority, score in enumerate(scores)}
    products_of = {text: (priority_of[score], token_id) for text, (score, token_id) in by_text.items()}
    symbol_of = {
        texts[token_id].decode(): token_id
        for token_id, _ in model.vocabulary.items()
        if token_id not in products and (not model.kinds or model.kinds[token_id] == NORMAL)
    }
    rules = MergeRules(())
    for token_id in sorted(products):
        whole = texts[token_id]
        symbols = []
        for character in whole.decode():
            if character not in symbol_of:
                raise FormatError(
                    f"the piece {whole.decode()!r} has the character {character!r}, which is no piece itself"
                )
            symbols.append(symbol_of[character])

        def order(left: int, right: int, whole: bytes = whole) -> tuple[int, int] | None:
            text = texts[left] + texts[right]
            return None if text == whole else products_of.get(text)

        parts = merged(symbols, order)
        if len(parts) == 2:
            rules.add(parts[0], parts[1], token_id, products_of[whole][0])
    return rules


def without_products(model: ScoredBpe) -> ScoredBpe:
    """Return the model that only spells: without the pieces that merging makes."""
    products = composite(model)
    size = len(model.scores)
    kinds = bytearray(model.kinds or bytes([NORMAL]) * size)
    kinds[model.unk_id] = UNKNOWN
    texts = [b""] * size
    for token_id, content in model.vocabulary.items():
        texts[token_id] = b"" if token_id in products else content
    for token_id in products:
        kinds[token_id] = CONTROL
    return replace(model, vocabulary=Vocabulary.from_tokens(texts), kinds=bytes(kinds))
