"""Hold two tokenizers against each other: the same ids, and the same text of them, on given texts."""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats.proof import texts
from bpe_cli.stages import SpaceMarksDecoder
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Specials, Tokenizer
from bpe_cli.tokenizer.post_processor import process

SHOWN = 8
"""How many tokens of a cut a message has."""

ATTEMPTS = 100
"""How often a text is made shorter."""

THREADS = min(4, os.cpu_count() or 1)

Ids = bytes | None
"""The ids of a text, as the bytes of a u32 array; None for a text that cannot be encoded."""


@dataclass(frozen=True, slots=True)
class Law:
    """Describe what of two tokenizers' ids is to be the same.

    Attributes:
        renumbered: Whether the second may have other ids for the same tokens.
        excepted: Ids of the first and of the second that may be found otherwise: a text that has one is not looked at.
        most: Whether only most of the texts are to have the same ids.
    """

    renumbered: bool = False
    excepted: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    most: bool = False


SAME = Law()


def difference(
    ours: Tokenizer, theirs: Tokenizer, texts: Collection[bytes], specials: Specials = (), law: Law = SAME
) -> str | None:
    """Describe the first text that becomes other ids, cut short; None if there is none.

    Raises:
        FormatError: if one of the two cannot be run.
    """
    some = list(texts)
    quick = [_together(each, some, specials) for each in (ours, theirs)]
    if not law.renumbered and None not in quick and quick[0] == quick[1]:
        return None
    both = [
        encode(each, some, specials) if done is None else list(_divided(*done))
        for each, done in zip((ours, theirs), quick, strict=True)
    ]
    found = _first(both[0], both[1], law)
    if found is None:
        return None
    text = some[found] if law.renumbered or law.most else _shortened(ours, theirs, some[found], specials, law)
    cuts = [shown(each, encode(each, [text], specials)[0]) for each in (ours, theirs)]
    asked = ", with special tokens asked for," if specials else ""
    return f"{quote(text)}{asked} becomes {cuts[0]}, and read back {cuts[1]}"


def _together(tokenizer: Tokenizer, texts: Sequence[bytes], specials: Specials) -> tuple[bytes, array[int]] | None:
    """Encode texts in one call: the bytes of all ids, and where each text's end; None if one cannot be encoded."""
    try:
        ids, ends = tokenizer.encode_block(Block.of(texts), tokenizer.matcher(specials), THREADS)
    except InputError:
        return None
    return ids.cast("B").tobytes(), array("Q", ends.cast("B").tobytes())


def encode(tokenizer: Tokenizer, texts: Sequence[bytes], specials: Specials = ()) -> list[Ids]:
    """Encode texts; None for each that cannot be.

    Raises:
        FormatError: if the tokenizer cannot be run.
    """
    matcher = tokenizer.matcher(specials)
    found: list[Ids] = []
    size = len(texts)
    while len(found) < len(texts):
        part = texts[len(found) : len(found) + size]
        try:
            ids, ends = tokenizer.encode_block(Block.of(part), matcher, THREADS if size > 1 else 1)
        except InputError:
            if size == 1:
                found.append(None)
            size = max(1, size // 8)
            continue
        found += _divided(memoryview(ids).cast("B").tobytes(), ends)
        size *= 2
    return found


def _divided(ids: bytes, ends: Iterable[int]) -> Iterator[bytes]:
    start = 0
    for end in ends:
        yield ids[start : 4 * end]
        start = 4 * end


def _first(ours: Sequence[Ids], theirs: Sequence[Ids], law: Law) -> int | None:
    """Return the number of the first text whose ids break the law."""
    broken: list[int] = []
    names: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if mine == other and not law.renumbered:
            continue
        ids = [numbers_of(each) for each in (mine, other)]
        if any(not some.isdisjoint(each) for some, each in zip(law.excepted, ids, strict=True) if some):
            continue
        if law.renumbered and mine is not None and other is not None and _renamed(ids[0], ids[1], *names):
            continue
        if mine is None and other is None:
            continue
        if not law.most:
            return number
        broken.append(number)
    return broken[0] if 2 * len(broken) > len(ours) else None


def _renamed(mine: array[int], other: array[int], to: dict[int, int], back: dict[int, int]) -> bool:
    """Return whether ids are the same but for their numbers, which are the same for each token in all texts."""
    if len(mine) != len(other):
        return False
    pairs = zip(mine, other, strict=True)
    return all(to.setdefault(one, two) == two and back.setdefault(two, one) == one for one, two in pairs)


def _shortened(ours: Tokenizer, theirs: Tokenizer, text: bytes, specials: Specials, law: Law) -> bytes:
    """Return a part of a text that has the difference too: without what can go, larger parts first.

    Complexity: ``ATTEMPTS`` encodings of the text at most.
    """
    cut, at, left = (len(text) + 1) // 2, 0, ATTEMPTS
    while cut and left:
        part = text[:at] + text[at + cut :]
        left -= 1
        if _is_cut_cleanly(part, text) and _differs(ours, theirs, part, specials, law):
            text = part
        else:
            at += cut
        if at >= len(text):
            cut, at = min(cut, len(text)) // 2, 0
    return text


def _differs(ours: Tokenizer, theirs: Tokenizer, text: bytes, specials: Specials, law: Law) -> bool:
    mine, other = (encode(each, [text], specials) for each in (ours, theirs))
    return mine != other and _first(mine, other, law) is not None


def _is_cut_cleanly(part: bytes, text: bytes) -> bool:
    return bool(part) and (_is_text(part) or not _is_text(text))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def numbers_of(ids: Ids) -> array[int]:
    """Return ids as numbers; none for a text that cannot be encoded."""
    return array("I", ids or b"")


def shown(tokenizer: Tokenizer, ids: Ids) -> str:
    """Write what a text was cut into: each token and its id."""
    if ids is None:
        return "an error (it has no token for a part of it)"
    numbers = numbers_of(ids)
    written = [f"{_token(tokenizer, number)} ({number})" for number in numbers[:SHOWN]]
    rest = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
    return " ".join(written) + rest if written else "no tokens"


def _token(tokenizer: Tokenizer, token_id: int) -> str:
    try:
        return quote(tokenizer.token_bytes(token_id))
    except InputError:
        return "no token"


# --------------------------------------------------------------------------------------------------
# Find what two tokenizers do alike because their parts are equal, without running them.


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


# --------------------------------------------------------------------------------------------------
# Hold two tokenizers against each other by the texts that they make of ids.


TOGETHER = 32
"""How many tokens are decoded together."""


def decoding_difference(ours: Tokenizer, theirs: Tokenizer, law: Law, *, any_text: bool = False) -> str | None:
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
        ends = _decoded(ours, numbers[0]), _decoded(theirs, numbers[1])
        if ends[1] is None or (ends[0] != ends[1] and not any_text):
            told = ["no token" if end is None else quote(end) for end in ends]
            named = quote(what) if isinstance(what, bytes) else f"the id {what}, behind another,"
            return f"{named} is decoded as {told[0]}, and read back as {told[1]}"
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
    seen = set()
    for text, mine, other in zip(some, encode(ours, some), encode(theirs, some), strict=True):
        if mine is not None and other is not None and (mine == other or not law.most) and (mine, other) not in seen:
            seen.add((mine, other))
            yield text, mine, other


def _each_id(ours: Tokenizer, theirs: Tokenizer, excepted: frozenset[int]) -> Iterator[tuple[int, bytes]]:
    """Yield the ids that may read otherwise: many together first, and each of those only if they do.

    At the beginning of a text each library has its habits with blanks: so each stands behind another token.
    """
    there = {token_id for token_id, _ in ours.model.vocabulary.items()} | ours.special_ids.keys()
    some = sorted(there - excepted)
    ordinary = (token_id for token_id in some if token_id not in ours.special_ids)
    first = list(islice((each for each in ordinary if (_decoded(ours, array("I", (each,))) or b"").strip()), 1))
    for start in range(0, len(some), TOGETHER):
        part = some[start : start + TOGETHER]
        run = array("I", (*first, *part))
        if _decoded(ours, run) != _decoded(theirs, run):
            yield from ((token_id, array("I", (*first, token_id)).tobytes()) for token_id in part)


def _decoded(tokenizer: Tokenizer, ids: object) -> bytes | None:
    try:
        return tokenizer.decode_bytes(ids)  # type: ignore[arg-type]  # an array
    except InputError:
        return None
