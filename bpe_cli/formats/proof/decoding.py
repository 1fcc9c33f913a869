"""Hold two tokenizers against each other by the texts that they make of ids."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from bpe_cli.errors import InputError
from bpe_cli.formats.checked import quote
from bpe_cli.formats.proof import texts
from bpe_cli.formats.proof.comparing import Ids, Law, encode, numbers_of
from bpe_cli.stages import SpaceMarksDecoder
from bpe_cli.tokenizer import Tokenizer


def difference(ours: Tokenizer, theirs: Tokenizer, law: Law, *, any_text: bool = False) -> str | None:
    """Tell of the first token or text whose ids read otherwise; None if there is none.

    Args:
        ours: A tokenizer.
        theirs: Another.
        law: What of their ids is the same.
        any_text: Whether it is enough that the second can read its own ids.

    Raises:
        FormatError: One of the two cannot be run.
    """
    excepted = law.excepted | _habits(ours, theirs)
    for what, mine, other in _ids(ours, theirs, law):
        numbers = numbers_of(mine), numbers_of(other)
        if excepted and any(not excepted.isdisjoint(each) for each in numbers):
            continue
        ends = _read(ours, numbers[0]), _read(theirs, numbers[1])
        if ends[1] is None or (ends[0] != ends[1] and not any_text):
            told = ["no token" if end is None else quote(end) for end in ends]
            named = quote(what) if isinstance(what, bytes) else f"the id {what}, behind another,"
            return f"{named} is decoded as {told[0]}, and read back as {told[1]}"
    return None


def _habits(ours: Tokenizer, theirs: Tokenizer) -> frozenset[int]:
    """Give the ids of special tokens if only one of the two is in SentencePiece's words.

    There they read as nothing, and in Hugging Face's as their texts: that is left to each library's habits. An unknown
    token that text can become is none of them.
    """
    marks = [any(isinstance(stage, SpaceMarksDecoder) for stage in each.decoder) for each in (ours, theirs)]
    if marks[0] == marks[1]:
        return frozenset()
    reached = None if getattr(ours.model, "byte_fallback", False) else getattr(ours.model, "unk_id", None)
    return frozenset(ours.special_ids) - {reached}


def _ids(ours: Tokenizer, theirs: Tokenizer, law: Law) -> Iterator[tuple[int | bytes, Ids, Ids]]:
    """Yield what to decode, by its id or its text: each token if ids are the same, and what both make of texts."""
    if not law.renumbered:
        some_ids = sorted({token_id for token_id, _ in ours.model.vocabulary.items()} | ours.special_ids.keys())
        # At the beginning of a text each library has its habits with a blank: so behind another token.
        first = [token_id for token_id in some_ids if token_id not in ours.special_ids][:1]
        for token_id in some_ids:
            ids = array("I", (*first, token_id)).tobytes()
            yield token_id, ids, ids
    some = (*texts.tricky(), *texts.of_samples())
    seen = set()
    for text, mine, other in zip(some, encode(ours, some), encode(theirs, some), strict=True):
        if mine is not None and other is not None and (mine == other or not law.most) and (mine, other) not in seen:
            seen.add((mine, other))
            yield text, mine, other


def _read(tokenizer: Tokenizer, ids: object) -> bytes | None:
    try:
        return tokenizer.decode(ids)  # type: ignore[arg-type]  # an array
    except InputError:
        return None
