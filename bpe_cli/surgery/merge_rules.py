"""Merges that can be removed one at a time, and the tokens that they make of a piece.

The core compiles a model once and runs it fast; here a model changes with every token that goes, so a
piece is merged in Python instead, which does the same (the tests hold it to the core).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from bpe_cli.errors import FormatError
from bpe_cli.stages import (
    CharacterBpe,
    FewestTokens,
    LongestMatch,
    MergeBpe,
    Model,
    NGram,
    ScoredBpe,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.spelling import BYTE_TEXTS, CONTROL, NORMAL, UNKNOWN, UNUSED
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.cached import cached_property
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.merging import merged


class MergeRules:
    """Merges by the pair they join, with the merges that make and use each token.

    Args:
        merges: (left, right, product) in order of priority; of a pair that appears twice the last counts.
    """

    def __init__(self, merges: Iterable[tuple[int, int, int]]) -> None:
        self._rules = {(left, right): (priority, product) for priority, (left, right, product) in enumerate(merges)}

    # Whoever merges or spells a few tokens has no use for one of these, and merges are many.

    @cached_property
    def _makers(self) -> dict[int, list[tuple[int, int]]]:
        """The pairs that make each token."""
        makers: dict[int, list[tuple[int, int]]] = {}
        for pair, (_, product) in self._rules.items():
            makers.setdefault(product, []).append(pair)
        return makers

    @cached_property
    def _uses(self) -> Counter[int]:
        """How often each token is a part of a pair."""
        return Counter(chain.from_iterable(self._rules))

    def add(self, left: int, right: int, product: int, priority: int) -> None:
        """Add a merge of a pair that has none; the lowest priority comes first."""
        makers, uses = self._makers, self._uses
        self._rules[left, right] = (priority, product)
        makers.setdefault(product, []).append((left, right))
        uses.update((left, right))

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Return the pairs that are merged."""
        return self._rules.keys()

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return pair in self._rules

    def is_leaf(self, token_id: int) -> bool:
        """Return whether no merge uses a token as a part."""
        return not self._uses[token_id]

    def is_made(self, token_id: int) -> bool:
        """Return whether a merge makes a token."""
        return bool(self._makers.get(token_id))

    def remove(self, token_id: int) -> list[int]:
        """Remove the merges that make a leaf; return the parts of which it was made."""
        uses = self._uses
        parts = []
        for pair in self._makers.pop(token_id, ()):
            del self._rules[pair]
            for part in pair:
                uses[part] -= 1
                parts.append(part)
        return parts

    def parts(self, token_id: int) -> tuple[int, int] | None:
        """Return the two tokens of which one is made, by the merge that comes first; None if by none."""
        makers = self._makers.get(token_id)
        return min(makers, key=lambda pair: self._rules[pair][0]) if makers else None

    def spell(self, token_id: int) -> list[int]:
        """Return the symbols that a token is made of in the end."""
        symbols: list[int] = []
        waiting = [token_id]
        while waiting:
            token = waiting.pop()
            pair = self.parts(token)
            if pair is None:
                symbols.append(token)
            else:
                waiting += reversed(pair)
        return symbols

    def apply(self, symbols: Sequence[int]) -> list[int]:
        """Merge symbols: always the pair whose merge comes first, the leftmost of equals.

        Complexity: n log n.
        """
        return merged(symbols, lambda left, right: self._rules.get((left, right)))


def made_of(
    old: MergeBpe | CharacterBpe,
    new: MergeBpe | CharacterBpe,
    token_ids: Iterable[int],
    old_ids: Mapping[int, int] | None = None,
) -> dict[int, tuple[int, ...]]:
    """Return what the old merges make of tokens that only the new model has; nothing for a text with a new symbol.

    ``old_ids`` has the old id of each symbol of the new model; None if ids are the same.
    """
    both, own = MergeRules(new.merges), MergeRules(old.merges)
    parts_of = {}
    for token_id in token_ids:
        symbols: list[int | None] = [*both.spell(token_id)]
        if symbols == [token_id]:  # no merge makes it: it is a piece as a whole
            content = new.vocabulary.token(token_id)
            if isinstance(new, MergeBpe):
                symbols = [new.vocabulary.id_of(content[at : at + 1]) for at in range(len(content))]
            elif is_run(content, run := new.whole_runs_of.encode()):
                symbols = [new.vocabulary.id_of(run)] * (len(content) // len(run))
        if old_ids is not None:
            symbols = [None if symbol is None else old_ids.get(symbol) for symbol in symbols]
        known = [symbol for symbol in symbols if symbol is not None and symbol < old.vocabulary.size]
        parts_of[token_id] = tuple(own.apply(known)) if len(known) == len(symbols) else ()
    return parts_of


def is_run(content: bytes, character: bytes) -> bool:
    r"""Return whether a text is one character again and again; it is not if there is no such character.

    >>> is_run(b"\n\n\n", b"\n"), is_run(b"\n ", b"\n"), is_run(b"\n", b"")
    (True, False, False)
    """
    return bool(character) and content == character * (len(content) // len(character))


# --------------------------------------------------------------------------------------------------
# SentencePiece's BPE as merges: scores say which concatenation comes first, merges say of what parts.
#
# The neighbours whose concatenation has the highest score are merged. Whatever stands around a piece while
# it is put together has no part in it; so it comes of the same two parts wherever it does, and those are
# found by merging its own characters.


def own_merges(model: ScoredBpe) -> MergeRules:
    """Find the one merge by which each piece is made; those of equal scores have equal priorities.

    These are for pruning: a piece out of reach has none. A list that another program is to merge by has
    all pairs, in an order in which no two are equal (``formats.dialects.score_merges``).

    Raises:
        FormatError: if a character of a piece is none itself, or there are pieces that only serve merging.
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
                    f"the piece {whole.decode()!r} has the character {character!r}, which is not a piece itself"
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


# --------------------------------------------------------------------------------------------------
# Which tokens everything is spelt with, and which are put together from several of those.


_BYTE_TEXTS = frozenset(BYTE_TEXTS)
"""What the bytes of unknown characters are written as."""


def composite(model: Model) -> set[int]:
    """Return the tokens that can be removed: those that are neither a byte nor a character.

    Words and n-grams are no symbols of each other: there every token is one.
    """
    tokens = model.vocabulary.items()
    if model.byte_level:
        return {token_id for token_id, content in tokens if len(content) > 1}
    if isinstance(model, (WordLevel, NGram)):
        return {token_id for token_id, _ in tokens}
    prefix = model.continuing_subword_prefix.encode()
    suffix = model.end_of_word_suffix.encode() if isinstance(model, (CharacterBpe, LongestMatch, FewestTokens)) else b""
    separate = isinstance(model, (CharacterBpe, LongestMatch, FewestTokens)) and model.separate_suffix
    kinds = model.kinds if isinstance(model, (ScoredBpe, Unigram)) else b""
    by_byte = _BYTE_TEXTS if model.byte_fallback else frozenset()

    def is_symbol(content: bytes) -> bool:
        if content in by_byte or content == suffix:
            return True
        stem = content.removeprefix(prefix)
        stem = stem if separate else stem.removesuffix(suffix)
        return len(stem.decode("utf-8", "replace")) <= 1

    return {
        token_id for token_id, content in tokens if not is_symbol(content) and (not kinds or kinds[token_id] == NORMAL)
    }


def textless(tokenizer: Tokenizer, model: MergeBpe | CharacterBpe) -> set[int]:
    """Return the tokens that no merge uses or makes of text: special ones, the unknown one, bytes of characters."""
    used = {*model.merges.triples}
    several = composite(model)
    without_text = {token_id for token_id in tokenizer.special_ids if token_id not in used and token_id in several}
    if model.unk_id is not None and model.unk_id not in used:
        without_text.add(model.unk_id)
    return without_text.union(byte_tokens(model).values())


def byte_tokens(model: MergeBpe | CharacterBpe) -> dict[bytes, int]:
    """Return the tokens of the bytes of unknown characters, by their texts."""
    if not model.byte_fallback:
        return {}
    return {content: token_id for token_id, content in model.vocabulary.items() if content in _BYTE_TEXTS}
