"""Every two options of every trainer together: they work, or the refusal names them both.

Every pair of options is trained, with some of their values, or with all for a hunt. Many come to the same tokenizer,
down to what it says of its training: that is saved, read and run once.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from random import Random
from typing import Any

import pytest

from bpe_cli import formats
from bpe_cli.errors import BpeError, InputError
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Origin
from tests.every_format import what_dump_reads
from tests.thorough import more
from tests.trainer_options import KINDS, WORDS, Kind, counted

TEXTS = ["low new", "undo 12 é!", "LOW  slow</w>", "## x"]
ABOUT_THE_CORPUS = (
    "there is nothing to train on", "is smaller than its", "is too small for", "has no room after",
    "nothing in the corpus is frequent enough", "there is too little text",
)  # fmt: skip
"""What a refusal says that is about sizes, and about no option beside ``vocab_size``."""

VALUES = more(1, 1000)
"""How many values of two options together are tried."""

Option = tuple[str, Any]
"""A name and a value."""

Outcomes = dict[tuple[Tokenizer, Origin | None], str | None]
"""What became of saving and running a tokenizer: the refusal, or None."""


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_pairs(kind: Kind) -> None:
    known: Outcomes = {}
    single = [(name, value) for name in kind.field_names for value in kind.values(name)]
    alone = [(name, value) for name, value in single if outcome(kind, {name: value}, known) is None]
    assert len(alone) >= len(single) // 2
    wrong, worked, refused = [], 0, 0
    for (first, one), (second, other) in pairs(alone, VALUES):
        refusal = outcome(kind, {first: one, second: other}, known)
        if refusal is None:
            worked += 1
        elif any(each in refusal for each in ABOUT_THE_CORPUS):
            continue
        elif all(names(name, refusal) for name in (first, second)):
            refused += 1
        else:
            wrong.append(f"{first}={one!r} {second}={other!r}: {refusal}")
    assert not wrong, "\n".join(wrong[:40])
    assert worked > refused
    assert len(known) >= 5


def pairs(alone: list[Option], most: int) -> list[tuple[Option, Option]]:
    """Return every two options with that many of the values that they have together."""
    chance, together = Random(5), defaultdict(list)
    for one, other in combinations(alone, 2):
        if one[0] != other[0]:
            together[one[0], other[0]].append((one, other))
    return [pair for each in together.values() for pair in chance.sample(each, min(len(each), most))]


def names(option: str, refusal: str) -> bool:
    """Return whether a refusal names an option, in one of the ways that there are."""
    return any(each in refusal for each in (option, option.replace("_", " "), option.replace("_", "-"),
                                            "--special" if option == "special_tokens" else option))  # fmt: skip


def outcome(kind: Kind, chosen: dict[str, Any], known: Outcomes) -> str | None:
    """Train, save, load and run; give the refusal, or None."""
    try:
        options = kind.make(chosen)
        kind.trainer.untrained(options)
        texts = [b"low 5\nlower 2\nnewest 6\n" if chosen.get("dictionary") or kind.name == "list" else WORDS.encode()]
        trained = kind.trainer.train(counted(kind, options, texts), options).tokenizer
    except BpeError as error:
        return f"{error.message} {error.hint or ''}"
    key = trained, trained.origin  # which is no part of its value, and is saved too
    if key not in known:
        known[key] = saved_and_run(trained)
    return known[key]


def saved_and_run(trained: Tokenizer) -> str | None:
    """Save, load and run; give the refusal, or None. What is equal in all its parts does the same."""
    try:
        with what_dump_reads() as reads:
            formats.dump(trained, "bpe.json", ["ids"])
    except BpeError as error:
        return f"{error.message} {error.hint or ''}"
    [(_, saved)] = reads
    done = [done_with(trained, text) for text in TEXTS]
    assert saved == trained or [done_with(saved, text) for text in TEXTS] == done
    return None


def done_with(tokenizer: Tokenizer, text: str) -> tuple[list[int], bytes] | None:
    """Return the ids of a text, and what they read as; None if it is refused, as without an unknown token."""
    try:
        ids = tokenizer.encode(text)
    except InputError:
        return None
    return ids, tokenizer.decode_bytes(ids)
