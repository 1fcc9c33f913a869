"""New tokens take the ids of the least used leaves, and nothing else moves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import FormatError, TrainingError, UsageError
from bpe_cli.formats import dump
from bpe_cli.stages import MergeBpe, RankBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.surgery import extend, prune, prune_and_extend, replace_tokens, replacing, used_ids
from bpe_cli.surgery.merge_rules import composite
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import train, unigram
from bpe_cli.trainers.counts import new_counts
from tests.counted import at_least, compared
from tests.needs import needs

from .makers import WORDS, byte_level, characters, counted


def texts_of(tokenizer: Tokenizer) -> list[tuple[bytes, ...]]:
    return [tuple(map(tokenizer.model.vocabulary.token, merge)) for merge in tokenizer.model.merges]


def test_worked_example():
    """``low`` is the one leaf that nobody uses: its id goes to ``er``."""
    begun = byte_level(["low", "low", "lower", "wide", "wide"], 5)
    tokens = [begun.token_bytes(token_id) for token_id in range(256, 261)]
    assert tokens == [b"lo", b"low", b"de", b"ide", b"wide"]
    done = replace_tokens(begun, 1, counted(begun, "wide lo lo"), counted(begun, "newer newer user"))
    tokens = [done.tokenizer.token_bytes(token_id) for token_id in range(256, 261)]
    assert tokens == [b"lo", b"er", b"de", b"ide", b"wide"]
    e, r = (begun.encode(letter)[0] for letter in "er")
    assert done.made_of == {257: (e, r)}
    assert done.old_to_new == {token_id: None if token_id == 257 else token_id for token_id in range(261)}
    assert (done.summary, done.notes) == (("1 replaced",), ())
    assert done.tokenizer.encode("lower") == [256, begun.encode("w")[0], 257]


@at_least(12)
@given(WORDS, WORDS, WORDS, st.integers(2, 12), st.integers(1, 6), st.sampled_from(["bytes", "characters", "whole"]))
def test_laws(words, used, learnt, merges, number, kind):
    specials = ("<s>", "<pad>")
    begun = characters(words, merges, special_tokens=specials) if kind == "characters" else byte_level(
        words, merges, special_tokens=specials
    )  # fmt: skip
    if kind == "whole":
        begun = replace(begun, model=replace(begun.model, ignore_merges=True))
    number = min(number, len(composite(begun.model)))
    try:
        counts = counted(begun, " ".join(used)), counted(begun, " ".join(learnt))
        done = replace_tokens(begun, number, *counts, min_frequency=1)
    except TrainingError:  # too few leaves, or nothing to learn
        return
    except UsageError:
        assert number == 0
        return
    new = done.tokenizer
    went = {old for old, now in done.old_to_new.items() if now is None}
    assert new.vocab_size == begun.vocab_size
    assert used_ids(new) == used_ids(begun) == [*done.old_to_new]
    assert new.special_tokens == begun.special_tokens
    assert went == {*done.made_of}
    for token_id in used_ids(begun):
        if token_id not in went:
            assert done.old_to_new[token_id] == token_id
            assert new.token_bytes(token_id) == begun.token_bytes(token_id)
    fresh = {token_id: new.token_bytes(token_id) for token_id in went}
    bare, before = Tokenizer(new.model), Tokenizer(begun.model)
    if kind != "characters":
        for token_id, content in fresh.items():
            assert list(done.made_of[token_id]) == before.encode(content)
        for token_id, content in new.model.vocabulary.items():  # nothing is out of reach
            assert bare.encode(content) == [token_id]
    for word in {*words, *used, *learnt}:
        ids = new.encode(word)
        assert new.decode(ids) == begun.decode(begun.encode(word))
        old = begun.encode(word)
        if went.isdisjoint(old) and not any(
            content.removesuffix(b"</w>") in word.encode() for content in fresh.values()
        ):
            assert ids == old
    compared()


@at_least(9)
@given(WORDS, WORDS, WORDS, st.integers(4, 12), st.integers(1, 3))
def test_it_is_pruning_and_extending_but_for_ids(words, used, learnt, merges, number):
    begun = byte_level(words, merges)
    number = min(number, len(composite(begun.model)) - 1)
    if number < 1:
        return
    counts, others = counted(begun, " ".join(used)), counted(begun, " ".join(learnt))
    size = begun.vocab_size - number
    both = prune_and_extend(begun, counts, size, others, begun.vocab_size)
    pruned = prune(begun, counts, size)
    extended = extend(pruned.tokenizer, others, begun.vocab_size)
    assert both.tokenizer == extended.tokenizer
    assert both.old_to_new == pruned.old_to_new
    for token_id, parts in both.made_of.items():
        assert list(parts) == Tokenizer(begun.model).encode(both.tokenizer.token_bytes(token_id))
    if not extended.notes and extended.made_of:  # there was enough to learn
        there = replace_tokens(begun, number, counts, others)
        if there.summary == (f"{number} replaced",):  # and nothing would be learnt again
            assert texts_of(there.tokenizer) == texts_of(both.tokenizer)
            compared()


def test_tokens_that_would_be_learnt_again_stay():
    begun = byte_level(["low", "low", "wide"], 2)
    done = replace_tokens(begun, 2, counted(begun, "wide"), counted(begun, "low low low"))
    assert done.tokenizer == begun
    assert done.old_to_new == {token_id: token_id for token_id in range(258)}
    assert done.made_of == {}
    assert (done.summary, done.notes) == (("0 replaced", "2 kept that would be learnt again"), ())


def merging(*texts: str) -> Tokenizer:
    """Make byte-level BPE of merges in this order, each given as its two parts."""
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for text in texts:
        left, right = (tokens.index(part.encode()) for part in text.split())
        merges.append((left, right, len(tokens)))
        tokens.append(tokens[left] + tokens[right])
    pre_tokenizer = byte_level(["a"], 0).pre_tokenizer
    return Tokenizer(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(merges)), pre_tokenizer)


def test_a_token_that_would_be_learnt_again_keeps_its_place_among_the_merges():
    begun = merging("a b", "b c", "x y")
    used, learnt = counted(begun, "bc xy"), counted(begun, "ab ab")
    done = replace_tokens(begun, 1, used, learnt)
    assert begun.encode("abc") == done.tokenizer.encode("abc") == [256, ord("c")]
    done = replace_tokens(begun, 2, used, counted(begun, "ab ab ab de de"))
    assert done.summary == ("1 replaced", "1 kept that would be learnt again")
    assert [done.tokenizer.token_bytes(token_id) for token_id in (256, 257, 258)] == [b"ab", b"bc", b"de"]
    assert done.tokenizer.encode("abc") == [256, ord("c")]


def test_what_it_was_made_of_stays_too():
    """``abc`` would be learnt again of other parts, and ``ab``, of which it is made, would not."""
    begun = merging("a b", "ab c", "x y")
    done = replace_tokens(begun, 3, counted(begun, "zz"), counted(begun, "abc abc bc bc bc de"))
    assert done.summary == ("1 replaced", "2 kept that would be learnt again")
    assert [done.tokenizer.token_bytes(token_id) for token_id in (256, 257)] == [b"ab", b"abc"]
    assert done.tokenizer.encode("abc") == [257]


def test_training_is_not_repeated_for_ever(monkeypatch):
    monkeypatch.setattr(replacing, "_ROUNDS", 1)
    begun = merging("a b", "b c", "x y")
    done = replace_tokens(begun, 1, counted(begun, "bc xy"), counted(begun, "ab ab"))
    assert done.summary == ("0 replaced", "1 learnt again, with the ids they had")
    assert done.notes == (
        "merges of tokens that were learnt again come last now, so texts with them may have other ids",
    )
    assert done.old_to_new == {token_id: token_id for token_id in range(259)}
    assert done.tokenizer.encode("abc") == [ord("a"), 257]


FEW = st.lists(st.text("abc", min_size=2, max_size=5), min_size=3, max_size=8)


@at_least(9)
@given(FEW, FEW, FEW, st.integers(3, 10), st.integers(1, 8), st.sampled_from([byte_level, characters]))
def test_only_new_and_replaced_tokens_change_a_text(words, used, others, merges, number, make):
    """What is learnt from has the words of the first training, so that tokens would be learnt again."""
    begun = make(words, merges)
    number = min(number, len(composite(begun.model)))
    counts = counted(begun, " ".join(used)), counted(begun, " ".join([*words, *others]))
    try:
        done = replace_tokens(begun, number, *counts, min_frequency=1)
    except (TrainingError, UsageError):  # too few leaves, or nothing to learn
        return
    new = {*done.made_of}
    assert new == {old for old, now in done.old_to_new.items() if now is None}
    for length in (3, 4):
        for text in map("".join, product("abc", repeat=length)):
            old, now = begun.encode(text), done.tokenizer.encode(text)
            if new.isdisjoint(old) and new.isdisjoint(now):
                assert now == old
    compared(any("kept" in part for part in done.summary))


def test_fewer_go_if_fewer_are_learnt():
    begun = byte_level(["low", "low", "wide", "wide", "wide"], 4)
    done = replace_tokens(begun, 3, counted(begun, "wide wide low"), counted(begun, "xy"))
    assert done.summary == ("1 replaced",)
    assert done.notes == ("no more pairs are left to merge: 1 tokens went, not 3",)
    assert len(begun.encode("wide")) == len(done.tokenizer.encode("wide")) == 1


def test_ranks_become_merges_that_keep_ids():
    """The first leaf's id is lower than that of a merge that comes before what takes its place."""
    whole = byte_level(["low", "low", "wide", "wide", "wide"], 5, compat="minbpe")
    ranks = Tokenizer(RankBpe(whole.model.vocabulary), whole.pre_tokenizer)
    used, learnt = counted(ranks, "lo wi"), counted(ranks, "xyxy wx wx wx wx")
    done = replace_tokens(ranks, 2, used, learnt)
    assert isinstance(done.tokenizer.model, MergeBpe)
    assert done.notes == (
        "no ranks do the same as the merges that are left and the new ones, so the result has merges",
    )
    by_merges = replace_tokens(whole, 2, used, learnt)
    assert done.made_of == by_merges.made_of
    assert done.tokenizer.model.vocabulary == by_merges.tokenizer.model.vocabulary


def test_like_the_tokenizers_library(corpora):
    hf = needs("tokenizers")
    english, german = ((corpora / "languages" / f"{name}.txt").read_text(encoding="utf-8") for name in ("en", "de"))
    begun = byte_level([english], 300).with_special_tokens([SpecialToken(b"<x>", 600)])
    done = replace_tokens(begun, 100, counted(begun, english), counted(begun, german))
    theirs = hf.Tokenizer.from_str(dump(done.tokenizer, "tokenizer.json")[""].decode())
    assert done.tokenizer.special_ids.keys() == {600}
    for line in (german + english).splitlines()[:200]:
        assert theirs.encode(line, add_special_tokens=False).ids == done.tokenizer.encode(line)
    before = sum(len(begun.encode(line)) for line in german.splitlines())
    assert sum(len(done.tokenizer.encode(line)) for line in german.splitlines()) < before


def test_progress_counts_leaves_and_tokens(corpora):
    english, german = ((corpora / "languages" / f"{name}.txt").read_text(encoding="utf-8") for name in ("en", "de"))
    begun = byte_level([english], 300)
    steps: list[tuple[int, int]] = []
    replace_tokens(
        begun, 100, counted(begun, english), counted(begun, german), progress=lambda *step: steps.append(step)
    )
    assert steps[0] == (64, 200)
    assert all(before <= after <= (200, 200) for before, after in pairwise(steps))


def test_what_cannot_be():
    begun = byte_level(["ab"], 1)
    counts, learnt = counted(begun, "cd"), counted(begun, "ef")
    with pytest.raises(UsageError, match="0 tokens cannot be replaced"):
        replace_tokens(begun, 0, counts, learnt)
    with pytest.raises(TrainingError, match="1 tokens can be replaced, not 2"):
        replace_tokens(begun, 2, counts, learnt)
    with pytest.raises(TrainingError, match="nothing to count"):
        replace_tokens(begun, 1, new_counts(), learnt)
    with pytest.raises(TrainingError, match="nothing to train on"):
        replace_tokens(begun, 1, counts, new_counts())
    with pytest.raises(TrainingError, match="nothing new is learnt"):
        replace_tokens(begun, 1, counts, counted(begun, "e f g"))
    with pytest.raises(FormatError, match="this is unigram"):
        replace_tokens(train(["a b"], unigram.Options(vocab_size=6)), 1, counts, learnt)
    with pytest.raises(UsageError, match="257 tokens cannot be extended to 257"):
        prune_and_extend(begun, counts, 257, learnt, 257)
