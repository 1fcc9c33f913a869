"""Several sizes of a vocabulary from the same counts: each is what training that size alone gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import BpeError, TrainingError
from bpe_cli.trainers import bbpe, bpe, unigram
from bpe_cli.trainers.base import Trainer, merges_within, sized
from bpe_cli.trainers.counts import counts_of
from tests.counted import at_least, compared
from tests.trainer_options import KINDS, WORDS, Kind, counted

SUPERWORDS = [
    {"superwords": True, "switch": switch, **more}
    for switch in (0, 4, 9, 500)
    for more in ({}, {"max_words": 1}, {"max_token_length": 6}, {"initial_alphabet": "seen"})
]
SIZES = (30, 47, 60, 259, 263, 700)
NESTED = [kind for kind in KINDS if kind.name in ("bbpe", "bpe")]


def described(trained: Any) -> tuple[Any, ...]:
    """Return all that a training says."""
    more = (bytes(trained.merge_counts), trained.exhausted) if hasattr(trained, "merge_counts") else ()
    return trained.tokenizer, trained.summary, trained.shortfall, *more


def alone(kind: Kind, counts: Any, options: Any, size: int) -> Any:
    """Return what training a size alone gives; None if it has no room, or no such size exists."""
    try:
        chosen = sized(options, size)
        kind.trainer.untrained(chosen)
        return described(kind.trainer.train(counts, chosen))
    except BpeError:
        return None


@pytest.mark.parametrize("kind", NESTED, ids=str)
@at_least(50)
def test_each_is_what_training_it_alone_gives(kind: Kind) -> None:
    singles = [{name: value} for name in kind.field_names for value in kind.values(name) if name != "vocab_size"]
    for chosen in singles + (SUPERWORDS if kind.name == "bbpe" else []):
        try:
            options = kind.make(chosen)
        except BpeError:
            continue
        text = b"low 5\nlower 2\nnewest 6\n" if "dictionary" in chosen else WORDS.encode()
        try:
            counts = counted(kind, options, [text])
        except BpeError:
            continue
        found = {size: made for size in SIZES if (made := alone(kind, counts, options, size)) is not None}
        if not found:
            continue
        sizes = tuple(found)
        assert list(map(described, kind.trainer.train_sizes(counts, options, sizes))) == list(found.values()), chosen
        compared(len(sizes))
        assert kind.trainer.nests(options) == ("superwords" not in chosen or "switch" in chosen), chosen


def test_a_merge_whose_product_exists_ends_no_training() -> None:
    """``ab`` + ``c`` and ``a`` + ``bc`` make the same token: the second merge adds none."""
    counts = counts_of([(b"abc", 9), (b"bc", 5), (b"ab", 12), (b"aabc", 1), (b"xbc", 30), (b"aaa", 2)])
    options = bbpe.Options(vocab_size=0, pattern="", initial_alphabet="seen")
    sizes = tuple(range(4, 12))
    made = [described(each) for each in bbpe.TRAINER.train_sizes(counts, options, sizes)]
    assert made == [described(bbpe.TRAINER.train(counts, sized(options, size))) for size in sizes]
    assert merges_within([7, 8, 7, 9], first=7, size=9) == 2


@given(st.lists(st.tuples(st.text("abcé", min_size=1, max_size=9), st.integers(1, 9)), min_size=1, max_size=12))
def test_any_words(words: list[tuple[str, int]]) -> None:
    counts = counts_of([(word.encode(), number) for word, number in words])
    for trainer, options, first in (
        (bbpe.TRAINER, bbpe.Options(vocab_size=0, initial_alphabet="seen", special_tokens=("<s>",)), 8),
        (bpe.TRAINER, bpe.Options(vocab_size=0, compat="hf", special_tokens=("abc",)), 12),
    ):
        sizes = tuple(range(first, first + 6))
        made = [described(each) for each in trainer.train_sizes(counts, options, sizes)]
        assert made == [described(trainer.train(counts, sized(options, size))) for size in sizes]


@given(st.lists(st.text("ab c", min_size=1, max_size=12), min_size=1, max_size=9), st.integers(0, 5))
def test_any_lines_with_superwords(lines: list[str], switch: int) -> None:
    kind = next(kind for kind in KINDS if kind.name == "bbpe")
    options = bbpe.Options(
        vocab_size=0, pattern="gpt2", superwords=True, switch=switch, initial_alphabet="seen", special_tokens=("<s>",)
    )
    counts = counted(kind, options, ["\n".join(lines).encode()])
    sizes = tuple(range(6, 16))
    made = [described(each) for each in bbpe.TRAINER.train_sizes(counts, options, sizes)]
    assert made == [described(bbpe.TRAINER.train(counts, sized(options, size))) for size in sizes]


def test_all_sizes_are_checked_before_the_training() -> None:
    counts = counts_of([(b"low", 9)])
    calls: list[object] = []
    with pytest.raises(TrainingError, match="a vocabulary of 200 is smaller than its initial tokens"):
        next(bbpe.TRAINER.train_sizes(counts, bbpe.Options(vocab_size=0), (200, 300), lambda *done: calls.append(done)))
    assert calls == []


def test_those_that_do_not_nest_are_trained_one_by_one() -> None:
    counts = counts_of([(word.encode(), 3) for word in ("low", "lower", "lowest", "newer", "newest")])
    options = unigram.Options(vocab_size=12)
    others = [kind for kind in KINDS if type(kind.trainer).train_sizes is Trainer.train_sizes]
    assert {kind.name for kind in KINDS} - {kind.name for kind in others} == {kind.name for kind in NESTED}
    small, large = unigram.TRAINER.train_sizes(counts, options, (12, 16))
    assert not unigram.TRAINER.nests(options)
    assert [small.tokenizer.vocab_size, large.tokenizer.vocab_size] == [12, 14]
    assert large.shortfall is not None
