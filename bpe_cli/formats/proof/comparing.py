"""Hold two tokenizers against each other: the same ids, and the same text of them, on given texts."""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence

from bpe_cli.errors import InputError
from bpe_cli.support.blocks import Block
from bpe_cli.support.fast_dataclass import dataclass
from bpe_cli.support.messages import quote
from bpe_cli.tokenizer import Specials, Tokenizer

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
