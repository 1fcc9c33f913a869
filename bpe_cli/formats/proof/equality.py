"""Find what two tokenizers do alike because their parts are equal, without running them."""

from __future__ import annotations

from bpe_cli.errors import FormatError
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import process


def encodes_the_same(ours: Tokenizer, theirs: Tokenizer) -> bool:
    """Return whether all parts that make ids of a text are equal."""
    return (ours.normalizer, ours.pre_tokenizer, ours.special_tokens, ours.model) == (
        theirs.normalizer, theirs.pre_tokenizer, theirs.special_tokens, theirs.model,
    )  # fmt: skip


def decodes_the_same(ours: Tokenizer, theirs: Tokenizer) -> bool:
    """Return whether all parts that make a text of ids are equal."""
    return (ours.decoder, ours.special_tokens, ours.model.vocabulary, _unk_id(ours)) == (
        theirs.decoder, theirs.special_tokens, theirs.model.vocabulary, _unk_id(theirs),
    )  # fmt: skip


def surrounds_the_same(ours: Tokenizer, theirs: Tokenizer) -> bool:
    """Return whether two post-processors put the same ids, and give the same types, around a text and a pair."""
    return ours.post_processor == theirs.post_processor or surroundings(ours) == surroundings(theirs)


def surroundings(tokenizer: Tokenizer) -> str:
    """Write what a post-processor makes of a text (-1), and of two (-1, -2)."""
    try:
        done = [process(tokenizer.post_processor, *parts) for parts in ([[-1]], [[-1], [-2]])]
    except FormatError as error:
        return error.message
    return ", and of two ".join(f"{one.ids} with the types {one.type_ids}" for one in done)


def _unk_id(tokenizer: Tokenizer) -> int | None:
    unk_id: int | None = tokenizer.model.unk_id
    return unk_id
