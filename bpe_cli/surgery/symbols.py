"""Which tokens everything is spelt with, and which are put together from several of those."""

from __future__ import annotations

from bpe_cli.stages import (
    CharacterBpe,
    LongestMatch,
    MergeBpe,
    Model,
    NGram,
    RankBpe,
    ScoredBpe,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.sentencepiece_kinds import BYTE_TEXTS, NORMAL
from bpe_cli.tokenizer import Tokenizer

_BYTE_TEXTS = frozenset(BYTE_TEXTS)
"""What the bytes of unknown characters are written as."""


def composite(model: Model) -> set[int]:
    """Return the tokens that a model could do without: none of them is a byte or a character.

    Words and n-grams are no symbols of each other: there every token is one.
    """
    tokens = model.vocabulary.items()
    if isinstance(model, (RankBpe, MergeBpe)):
        return {token_id for token_id, content in tokens if len(content) > 1}
    if isinstance(model, (WordLevel, NGram)):
        return {token_id for token_id, _ in tokens}
    prefix = model.continuing_subword_prefix.encode()
    suffix = model.end_of_word_suffix.encode() if isinstance(model, (CharacterBpe, LongestMatch)) else b""
    separate = isinstance(model, (CharacterBpe, LongestMatch)) and model.separate_suffix
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
    """Return the tokens that no merge uses or makes of text: special ones, the unknown one, bytes of characters.

    Args:
        tokenizer: Whose special tokens count.
        model: Its model, with merges.
    """
    used = {*model.merges.triples}
    several = composite(model)
    found = {token_id for token_id in tokenizer.special_ids if token_id not in used and token_id in several}
    if isinstance(model, CharacterBpe):
        if model.unk_id is not None and model.unk_id not in used:
            found.add(model.unk_id)
        if model.byte_fallback:
            found |= {token_id for token_id, content in model.vocabulary.items() if content in _BYTE_TEXTS}
    return found
