"""Hold two tokenizers against each other by the texts that they make of ids."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice

from bpe_cli.errors import InputError
from bpe_cli.formats.proof import texts
from bpe_cli.formats.proof.comparing import Ids, Law, encode, numbers_of
from bpe_cli.stages import SpaceMarksDecoder
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Tokenizer

TOGETHER = 32
"""How many tokens are decoded together."""


def difference(ours: Tokenizer, theirs: Tokenizer, law: Law, *, any_text: bool = False) -> str | None:
    """Describe the first token or text whose ids read otherwise; None if there is none.

    Args:
        ours: A tokenizer.
        theirs: Another.
        law: What of their ids is the same.
        any_text: Whether it is enough that the second can read its own ids.

    Raises:
        FormatError: if one of the two cannot be run.
    """
    habits = _habits(ours, theirs, law)
    excepted = [some | habits for some in law.excepted]
    for what, mine, other in _ids(ours, theirs, law, excepted[0] | excepted[1]):
        numbers = numbers_of(mine), numbers_of(other)
        if any(not some.isdisjoint(each) for some, each in zip(excepted, numbers, strict=True) if some):
            continue
        ends = _read(ours, numbers[0]), _read(theirs, numbers[1])
        if ends[1] is None or (ends[0] != ends[1] and not any_text):
            shown = ["no token" if end is None else quote(end) for end in ends]
            named = quote(what) if isinstance(what, bytes) else f"the id {what}, behind another,"
            return f"{named} is decoded as {shown[0]}, and read back as {shown[1]}"
    return None


def _habits(ours: Tokenizer, theirs: Tokenizer, law: Law) -> frozenset[int]:
    """Return the ids of special tokens if only one of the two is in SentencePiece's words.

    There they read as nothing, and in Hugging Face's as their texts: that is left to each library's habits. An unknown
    token that text can become is none of them, but where rare texts may differ.
    """
    marks = [any(isinstance(stage, SpaceMarksDecoder) for stage in each.decoder) for each in (ours, theirs)]
    if marks[0] == marks[1]:
        return frozenset()
    unreached = law.most or ours.model.byte_fallback
    return frozenset(ours.special_ids) - {None if unreached else ours.model.unk_id}


def _ids(
    ours: Tokenizer, theirs: Tokenizer, law: Law, excepted: frozenset[int]
) -> Iterator[tuple[int | bytes, Ids, Ids]]:
    """Yield what to decode, by its id or its text: each token if ids are the same, and what both make of texts."""
    if not law.renumbered:
        for token_id, ids in _each_id(ours, theirs, excepted):
            yield token_id, ids, ids
    some = (*texts.tricky(), *texts.of_samples())
    known = set()
    for text, mine, other in zip(some, encode(ours, some), encode(theirs, some), strict=True):
        if mine is not None and other is not None and (mine == other or not law.most) and (mine, other) not in known:
            known.add((mine, other))
            yield text, mine, other


def _each_id(ours: Tokenizer, theirs: Tokenizer, excepted: frozenset[int]) -> Iterator[tuple[int, bytes]]:
    """Yield the ids that may read otherwise: many together first, and each of those only if they do.

    At the beginning of a text each library has its habits with blanks: so each stands behind another token.
    """
    there = {token_id for token_id, _ in ours.model.vocabulary.items()} | ours.special_ids.keys()
    some = sorted(there - excepted)
    ordinary = (token_id for token_id in some if token_id not in ours.special_ids)
    first = list(islice((each for each in ordinary if (_read(ours, array("I", (each,))) or b"").strip()), 1))
    for start in range(0, len(some), TOGETHER):
        part = some[start : start + TOGETHER]
        run = array("I", (*first, *part))
        if _read(ours, run) != _read(theirs, run):
            yield from ((token_id, array("I", (*first, token_id)).tobytes()) for token_id in part)


def _read(tokenizer: Tokenizer, ids: object) -> bytes | None:
    try:
        return tokenizer.decode_bytes(ids)  # type: ignore[arg-type]  # an array
    except InputError:
        return None
