"""Change files in ways after which most of them still load: the same change in every place that it concerns.

Two ids or two tokens change places wherever they stand, a token is called otherwise everywhere, a flag is turned, a
stage is one of another file, the last tokens go with their merges. So mutants get past the reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from tests.proof.kinds.mutating import TEXTS, Pairs, Written, read_or_none, some_word, write

STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens")
"""Keys under which the files of Hugging Face hold what any model may have."""

FRESH = ("z", "zz", "é", "漢", "##z", "▁z", "Ġz", "z</w>", "<z>", "🙂z")
"""What a token may be called otherwise."""


def change_everywhere(chance: Random, data: bytes, others: Sequence[bytes]) -> tuple[str, bytes]:
    """Make one such change; return what was done, and the file."""
    value = read_or_none(data)
    if isinstance(value, list):
        done = chance.choice((_rename, _swap_ids, _swap_ids, _swap_texts, _turn, _stage, _stage, _shorten))
        return done(chance, value, others), write(value)
    if b"\0" in data[:4096] or sum(byte < 32 for byte in data[:400]) > 40:
        return change_words(chance, data)
    return change_fields(chance, data)


# -- JSON ------------------------------------------------------------------------------------------


def _lists(value: Any) -> Iterator[list[Any]]:
    """Yield all objects and arrays in a value, itself too."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            yield each
            waiting += [item[1] for item in each] if isinstance(each, Pairs) else each


def _scalars(value: Any, *kinds: type) -> list[Any]:
    found = []
    for inside in _lists(value):
        if isinstance(inside, Pairs):
            found += [key for key, _ in inside] if str in kinds else []
            found += [each for _, each in inside if type(each) in kinds]
        else:
            found += [each for each in inside if type(each) in kinds]
    return found


def _replace(value: Any, other: Callable[[Any], Any]) -> None:
    """Replace each key and each value that is no object and no array."""
    for inside in _lists(value):
        for place, each in enumerate(inside):
            if isinstance(inside, Pairs):
                held = each[1] if isinstance(each[1], list) else other(each[1])
                inside[place] = [other(each[0]), held]
            elif not isinstance(each, list):
                inside[place] = other(each)


def _tokens(value: Any) -> list[str]:
    """Return texts that may be tokens: the keys of the largest object, or else all texts."""
    objects = [each for each in _lists(value) if isinstance(each, Pairs)]
    largest = max(objects, key=len, default=None)
    if largest is not None and len(largest) > 12:
        return [key for key, _ in largest]
    return sorted(set(_scalars(value, str)))


def _renamed(texts: dict[str, str]) -> Callable[[Any], Any]:
    """Return what calls texts otherwise, where they stand alone or as one of two in a merge."""

    def other(each: Any) -> Any:
        if type(each) is not str:
            return each
        left, blank, right = each.partition(" ")
        if each in texts or not blank:
            return texts.get(each, each)
        return texts.get(left, left) + blank + texts.get(right, right)

    return other


def _rename(chance: Random, value: Any, _: Sequence[bytes]) -> str:
    known = _tokens(value)
    if known:
        _replace(value, _renamed({chance.choice(known): chance.choice((*FRESH, *TEXTS))}))
    return "renamed a token everywhere"


def _swap_texts(chance: Random, value: Any, _: Sequence[bytes]) -> str:
    known = _tokens(value)
    if known:
        one, other = chance.choice(known), chance.choice(known)
        _replace(value, _renamed({one: other, other: one}))
    return "swapped two tokens everywhere"


def _swap_ids(chance: Random, value: Any, _: Sequence[bytes]) -> str:
    numbers = sorted({each for each in _scalars(value, Written) if each.isdigit()})
    if numbers:
        one, other = chance.choice(numbers), chance.choice(numbers)
        texts = {one: other, other: one}
        _replace(value, lambda each: texts.get(each, each) if type(each) is Written else each)
    return "swapped two numbers everywhere"


def _turn(chance: Random, value: Any, _: Sequence[bytes]) -> str:
    places = [
        (inside, place)
        for inside in _lists(value)
        if isinstance(inside, Pairs)
        for place, (_, each) in enumerate(inside)
        if isinstance(each, bool)
    ]
    if places:
        inside, place = chance.choice(places)
        inside[place] = [inside[place][0], not inside[place][1]]
    return "turned a flag"


def _stage(chance: Random, value: Any, others: Sequence[bytes]) -> str:
    theirs = read_or_none(chance.choice(list(others))) if others else None
    if isinstance(value, Pairs) and isinstance(theirs, Pairs):
        stages = {key: each for key, each in theirs if key in STAGES}
        mine = [place for place, (key, _) in enumerate(value) if key in stages]
        if mine:
            place = chance.choice(mine)
            value[place] = [value[place][0], stages[value[place][0]]]
    return "took a stage of another file"


def _shorten(chance: Random, value: Any, _: Sequence[bytes]) -> str:
    """Cut the ends of the longest object and the longest array off, by as much."""
    count = chance.choice((1, 1, 2, 5))
    for kind in (Pairs, list):
        found = max((each for each in _lists(value) if type(each) is kind), key=len, default=[])
        if len(found) > 8:
            del found[-count:]
    return "left the last tokens and merges out"


# -- lines and binary files ------------------------------------------------------------------------


def change_fields(chance: Random, data: bytes) -> tuple[str, bytes]:
    """Change a field of a file of lines in all lines, or leave its last lines out."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return "nothing", data
    if chance.random() < 0.2:
        return "left the last lines out", b"".join(lines[: -chance.choice((1, 1, 2, 5))])
    fields = [re.split(rb"([ \t\r\n]+)", line) for line in lines]
    one, other = (chance.choice(chance.choice(fields)[::2]) for _ in range(2))
    swapped = {one: other, other: one}
    if chance.random() < 0.3:
        swapped = {one: chance.choice(FRESH).encode()}
    changed = b"".join(swapped.get(field, field) for line in fields for field in line)
    return "changed a field in all lines", changed


def change_words(chance: Random, data: bytes) -> tuple[str, bytes]:
    """Swap two texts of one length wherever they stand in a binary file, or turn one of its small numbers."""
    found = some_word(chance, data)
    if found is not None and chance.random() < 0.8:
        one = found[0]
        drawn = (some_word(chance, data) for _ in range(30))
        other = next((each[0] for each in drawn if each and len(each[0]) == len(one) and each[0] != one), one)
        pattern = re.compile(re.escape(one) + b"|" + re.escape(other))
        swapped = {one: other, other: one}
        return "swapped two texts everywhere", pattern.sub(lambda match: swapped[match[0]], data)
    small = re.compile(rb"[\0-\7]").search(data, chance.randrange(len(data) + 1))
    if small is None:
        return "nothing", data
    place = small.start()
    return "set a small number", data[:place] + bytes([chance.randrange(8)]) + data[place + 1 :]
