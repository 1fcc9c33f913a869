"""Add tokens to a tokenizer: they get the ids after all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bpe_cli.errors import InputError, UsageError
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.vocabulary import MAX_ID
from bpe_cli.surgery.operation import Operation, kept
from bpe_cli.tokenizer import Tokenizer


def add_tokens(tokenizer: Tokenizer, tokens: Iterable[SpecialToken]) -> Operation:
    """Add tokens that are found in text as they stand, whatever the model would make of them.

    A token whose content is one already, ordinary or special, is kept as it is and counted as such; one
    that is given twice is added once. ``made_of`` is how the tokenizer encoded the content before.

    Args:
        tokenizer: The tokenizer.
        tokens: The tokens in order of their new ids; the ids that they have are of no meaning.

    Raises:
        UsageError: A token is empty, or no id is left.
    """
    present = {token.content for token in tokenizer.special_tokens}
    vocabulary = tokenizer.model.vocabulary
    first = tokenizer.vocab_size
    given: set[bytes] = set()
    added: list[SpecialToken] = []
    made_of: dict[int, tuple[int, ...]] = {}
    repeated, existing, unspelt = 0, [], 0
    for token in tokens:
        if not token.content:
            raise UsageError("a token that is to be added is empty")
        if token.content in given:
            repeated += 1
            continue
        given.add(token.content)
        if token.content in present or vocabulary.id_of(token.content) is not None:
            existing.append(token.content)
            continue
        token_id = first + len(added)
        if token_id >= MAX_ID:
            raise UsageError(f"there is no id left for a new token: ids end at {MAX_ID - 1:,}")
        added.append(replace(token, token_id=token_id))
        try:
            made_of[token_id] = tuple(tokenizer.encode(token.content))
        except InputError:
            made_of[token_id] = ()
            unspelt += 1
    grown = replace(tokenizer, special_tokens=(*tokenizer.special_tokens, *added)) if added else tokenizer
    summary = [f"{len(added):,} added"]
    notes = []
    if repeated:
        summary.append(f"{repeated:,} given twice")
    if existing:
        summary.append(f"{len(existing):,} kept that were there")
        shown = ", ".join(repr(content.decode("utf-8", "backslashreplace")) for content in existing[:3])
        notes.append(f"{shown}{', ...' if len(existing) > 3 else ''}: a token already, and kept as it is")
    if unspelt:
        notes.append(f"{unspelt:,} of the new tokens have a text that could not be encoded before")
    return Operation(grown, kept(tokenizer), made_of, tuple(summary), tuple(notes))
