"""A tokenizer's parts with one thing changed: what ``with_special_tokens`` and ``with_longest_match`` do."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bpe_cli.errors import UsageError
from bpe_cli.stages import CharacterBpe, LongestMatch, SpecialToken

if TYPE_CHECKING:
    from bpe_cli.stages import Model
    from bpe_cli.stages.vocabulary import Vocabulary


def joined_special_tokens(
    vocabulary: Vocabulary, special_tokens: Sequence[SpecialToken], more: Iterable[SpecialToken]
) -> tuple[SpecialToken, ...]:
    """Return special tokens and more of them, sorted by id; of equal contents the later one counts.

    Raises:
        UsageError: if an id is taken, or a content stands for another id.
    """
    joined = {token.content: token for token in special_tokens}
    taken = {token.token_id: token for token in special_tokens}
    for token in more:
        if not token.content:
            raise UsageError("a special token needs a text")
        present = joined.get(token.content)
        if present is not None and present.token_id != token.token_id:
            raise UsageError(
                f"the special token {_show(token.content)} already has id {present.token_id}, not {token.token_id}"
            )
        holder = taken.get(token.token_id)
        ordinary = vocabulary.token(token.token_id) if token.token_id < vocabulary.size else b""
        if (holder is not None and holder.content != token.content) or (ordinary and ordinary != token.content):
            free = max(vocabulary.size, max(taken, default=-1) + 1)
            raise UsageError(
                f"id {token.token_id} for the special token {_show(token.content)} is taken by "
                f"{_show(holder.content if holder else ordinary)}",
                hint=f"the first free id after all others is {free}",
            )
        joined[token.content] = token
        taken[token.token_id] = token
    return tuple(sorted(joined.values(), key=lambda token: token.token_id))


def longest_match(
    model: Model,
    special_tokens: Iterable[SpecialToken],
    left_to_right: bool,
    frequencies: Mapping[bytes, int] | None,
) -> LongestMatch:
    """Return the model that applies a BPE vocabulary by its longest tokens instead of by merges.

    Raises:
        UsageError: if this is not BPE over characters, or lacks a token that has a frequency.
    """
    if not isinstance(model, CharacterBpe):
        raise UsageError(
            f"longest match is another way to apply a vocabulary of BPE over characters, and this is {model.kind}",
            hint="-a bpe trains one",
        )
    special = {token.content for token in special_tokens}
    for token in frequencies or ():
        if model.vocabulary.id_of(token) is None and token not in special:
            raise UsageError(
                f"the vocabulary has no token {_show(token)}, which has a frequency",
                hint="name tokens as the vocabulary writes them, with their marks",
            )
    by_id = (model.vocabulary.token(token_id) for token_id in range(model.vocabulary.size))
    counts = None if frequencies is None else array("d", (frequencies.get(each, 0) for each in by_id))
    return LongestMatch(
        model.vocabulary,
        left_to_right,
        model.unk_id,
        model.end_of_word_suffix,
        separate_suffix=model.separate_suffix,
        continuing_subword_prefix=model.continuing_subword_prefix,
        frequencies=counts,
    )


def _show(content: bytes) -> str:
    return repr(content.decode("utf-8", "backslashreplace"))
