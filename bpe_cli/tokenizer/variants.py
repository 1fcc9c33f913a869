"""A tokenizer with one thing changed: what ``Tokenizer.with_special_tokens`` and ``with_longest_match`` do."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.stages import CharacterBpe, LongestMatch, SpecialToken
from bpe_cli.support.fast_dataclass import replace

if TYPE_CHECKING:
    from bpe_cli.tokenizer.tokenizer import Tokenizer


def with_special_tokens(tokenizer: Tokenizer, tokens: Iterable[SpecialToken]) -> Tokenizer:
    """Return a tokenizer that has more special tokens.

    Raises:
        UsageError: If an id is taken, or a content stands for another id.
    """
    vocabulary = tokenizer.model.vocabulary
    merged = {token.content: token for token in tokenizer.special_tokens}
    taken = dict(tokenizer.special_ids)
    for token in tokens:
        if not token.content:
            raise UsageError("a special token needs a text")
        present = merged.get(token.content)
        if present is not None and present.token_id != token.token_id:
            raise UsageError(
                f"the special token {_show(token.content)} already has id {present.token_id}, not {token.token_id}"
            )
        holder = taken.get(token.token_id)
        ordinary = (
            tokenizer.model.vocabulary.token(token.token_id)
            if token.token_id < tokenizer.model.vocabulary.size
            else b""
        )
        if (holder is not None and holder.content != token.content) or (ordinary and ordinary != token.content):
            free = max(vocabulary.size, max(taken, default=-1) + 1)
            raise UsageError(
                f"id {token.token_id} for the special token {_show(token.content)} is taken by "
                f"{_show(holder.content if holder else ordinary)}",
                hint=f"the first free id after all others is {free}",
            )
        merged[token.content] = token
        taken[token.token_id] = token
    return replace(tokenizer, special_tokens=tuple(sorted(merged.values(), key=lambda token: token.token_id)))


def with_longest_match(tokenizer: Tokenizer, left_to_right: bool, frequencies: Mapping[bytes, int] | None) -> Tokenizer:
    """Return a tokenizer that applies a BPE vocabulary by its longest tokens instead of by merges.

    Raises:
        UsageError: If this is not BPE over characters, or lacks a token that has a frequency.
    """
    model = tokenizer.model
    if not isinstance(model, CharacterBpe):
        raise UsageError(
            f"longest match is another way to apply a vocabulary of BPE over characters, and this is {model.kind}",
            hint="-a bpe trains one",
        )
    for token in frequencies or ():
        if model.vocabulary.id_of(token) is None and all(each.content != token for each in tokenizer.special_tokens):
            raise UsageError(
                f"the vocabulary has no token {_show(token)}, which has a frequency",
                hint="name tokens as the vocabulary writes them, with their marks",
            )
    by_id = (model.vocabulary.token(token_id) for token_id in range(model.vocabulary.size))
    counts = None if frequencies is None else array("d", (frequencies.get(each, 0) for each in by_id))
    longest = LongestMatch(
        model.vocabulary,
        left_to_right,
        model.unk_id,
        model.end_of_word_suffix,
        separate_suffix=model.separate_suffix,
        continuing_subword_prefix=model.continuing_subword_prefix,
        frequencies=counts,
    )
    return replace(tokenizer, model=longest)


def _show(content: bytes) -> str:
    return repr(content.decode("utf-8", "backslashreplace"))
