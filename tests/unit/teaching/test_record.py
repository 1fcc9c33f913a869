"""Check what competes in the steps of trainings: against everything counted anew, and against what was taken."""

from __future__ import annotations

from fractions import Fraction
from math import isclose, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bpe_cli.errors import TrainingError
from bpe_cli.support.blocks import Block
from bpe_cli.teaching import bpe, unigram, wordpiece
from bpe_cli.teaching.maxmatch import Rules
from bpe_cli.teaching.record import record
from bpe_cli.teaching.steps import (
    ByteIds,
    Candidate,
    Counted,
    Entry,
    Estimation,
    Joining,
    NumberedPieces,
    Pruning,
    ScoredPieces,
    ThresholdSearch,
    UseCounts,
)
from bpe_cli.trainers import TRAINERS
from bpe_cli.trainers.counts import new_counts
from bpe_cli.trainers.unigram import UnigramOptions
from tests.counted import at_least, compared
from tests.oracle.strategies import BYTE_PIECES, TEXT_WORDS


@at_least(60)
@given(BYTE_PIECES, st.sampled_from(["lowest-ids", "first-seen", "largest-text"]), st.integers(0, 6))
def test_the_first_pair_is_the_one_that_is_merged(pieces, tie, most):
    training = bpe.train(bpe.byte_words(pieces), tie=tie, num_merges=6)
    recorded = record(training, None)
    words = training.words
    for step, all_of_it, some in zip(training, recorded.steps, record(training, most).steps, strict=True):
        counts = bpe.count_pairs(words)
        assert {each.parts: each.count for each in all_of_it.candidates} == counts
        assert [each.count for each in all_of_it.candidates] == sorted(counts.values(), reverse=True)
        first, *others = all_of_it.candidates
        assert (first.parts, first.product, first.taken, first.tied) == (step.pair, step.product, True, False)
        assert [each.tied for each in others] == [each.count == step.count for each in others]
        assert not any(each.taken for each in others)
        assert all_of_it.tied_count == sum(each.tied for each in others)
        assert some.candidates == all_of_it.candidates[:most]
        assert (some.candidate_count, some.tied_count) == (len(counts), all_of_it.tied_count)
        # What changes is what has the pair, and nothing else.
        merged = bpe.merge_words(words, step.pair, step.product)
        changed = {change.before: change.count for change in all_of_it.changes}
        assert changed == {word: words[word] for word in words if bpe.merge_word(word, step.pair, step.product) != word}
        assert all(change.after in merged for change in all_of_it.changes)
        assert {each.symbols[0]: each.count for each in all_of_it.tokens} == bpe.count_symbols(step.words)
        words = step.words
        compared()


@at_least(60)
@given(TEXT_WORDS, st.sampled_from(["most-frequent", "first-seen"]))
def test_the_highest_score_is_merged(words, tie):
    training = wordpiece.train(words, 30, tie=tie)
    present = training.words
    for step, recorded in zip(training, record(training, None).steps, strict=True):
        scores = wordpiece.scores(present)
        assert {each.parts: each.score for each in recorded.candidates} == scores
        first, *others = recorded.candidates
        assert (first.parts, first.score, first.taken) == (step.pair, step.score, True)
        assert [each.score for each in recorded.candidates] == sorted(scores.values(), reverse=True)
        assert all(each.tied == (each.score == step.score) for each in others)
        for each in recorded.candidates:
            assert each.score == Fraction(each.count, each.left_count * each.right_count)
            assert each.product == wordpiece.join(each.parts, "##")
        present = step.words
        compared()


@at_least(60)
@given(TEXT_WORDS, st.integers(4, 12), st.floats(0.05, 0.6))
def test_the_smallest_losses_go(words, size, dropped):
    rounds = list(unigram.train(words, size, initial_size=30, dropped=dropped))
    steps = list(record(Pruning(words, rounds, (), {}), None).steps)
    assert [step.size for step in steps] == [len(tokens) for tokens in rounds]
    for before, after, step in zip(rounds[:-1], rounds[1:], steps[1:], strict=True):
        losses = unigram.losses(words, unigram.costs(before))
        assert {each.product: each.loss for each in step.candidates} == losses
        gone = [each.product for each in step.candidates if each.taken]
        assert set(gone) == set(before) - set(after) == {each.product for each in step.taken}
        assert [each.taken for each in step.candidates] == [True] * len(gone) + [False] * (len(losses) - len(gone))
        last = max(losses[token] for token in gone)
        assert all(each.tied == (each.loss == last) for each in step.candidates[len(gone) :])
        compared()


def loss_by_hand(words, scores, token):
    """Recount what is lost without a token: each word's best segmentation is looked for among all of them."""

    def ways(text, but):
        if not text:
            return [[]]
        fits = [text[:end] for end in range(1, len(text) + 1) if text[:end] in scores and text[:end] != but]
        return [[head, *tail] for head in fits for tail in ways(text[len(head) :], but)]

    def best(text, but=None):
        found = ways(text, but)
        return max(found, key=lambda way: sum(scores[each] for each in way)) if found else None

    frequencies = dict.fromkeys(scores, 0)
    for word, count in words.items():
        for each in best(word):
            frequencies[each] += count
    often, total = frequencies[token], sum(frequencies.values())
    if not often:
        return 0.0
    others = best(token, token)
    if others is None:
        return None
    more = total + often * (len(others) - 1)
    return often / total * (log(often / total) - sum(log((frequencies[each] + often) / more) for each in others))


@at_least(55)
@given(
    st.dictionaries(st.text("ab", min_size=1, max_size=5), st.integers(1, 5), min_size=1, max_size=5),
    st.lists(st.text("ab", min_size=2, max_size=3), max_size=5, unique=True),
    st.randoms(use_true_random=False),
)
def test_losses_of_likelihood(words, longer, chance):
    # Scores that no two segmentations share, so that rounding decides nothing.
    scores = {token: -chance.uniform(0.5, 6.0) for token in ("a", "b", *longer)}
    found = unigram.likelihood_losses(words, scores)
    by_hand = {token: loss_by_hand(words, scores, token) for token in scores}
    assert set(found) == {token for token, loss in by_hand.items() if loss is not None}
    for token, loss in found.items():
        assert isclose(loss, by_hand[token], rel_tol=1e-9, abs_tol=1e-12)
        compared()


SYLLABLES = ("ab", "cad", "be", "da", "c", "ead", "dec")


@at_least(18)
@given(st.randoms(use_true_random=False), st.integers(10, 24))
def test_the_core_prunes_by_these_losses(chance, size):
    stems = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(40)]
    words = {stem: chance.randint(1, 20) for stem in stems}
    counts = new_counts()
    options = UnigramOptions(vocab_size=size + 4)
    text = " ".join(word for word, count in words.items() for _ in range(count))
    TRAINERS["unigram"].count([Block.of([text.encode()])], options, counts)
    try:
        estimation = TRAINERS["unigram"].steps(counts, options)
    except TrainingError:  # too small a vocabulary, or nothing left
        assume(False)
    pruned = 0
    for step in record(estimation, None).steps:
        if step.kind != "pruning" or not step.taken:
            continue
        losses = {each.product: each.loss for each in step.candidates}
        gone = {each.product for each in step.taken}
        assert gone <= set(losses)
        kept = [loss for token, loss in losses.items() if token not in gone]
        # Those with the smallest loss go, and all without one.
        assert all(loss > 0 or isclose(loss, 0, abs_tol=1e-12) for loss in losses.values())
        if kept:
            assert max(losses[token] for token in gone) <= min(kept) + 1e-9
        pruned += 1
    compared(pruned)


def test_rounds_of_joining():
    joining = Joining([list("调度实时"), list("实时调度")], 1, Rules(lines_per_word=1), ["调度"])
    (step,) = record(joining).steps
    assert [(each.product, each.count, each.taken) for each in step.candidates] == [
        ("调度", 2, True), ("实时", 2, True), ("度实", 1, False), ("时调", 1, False),
    ]  # fmt: skip
    assert [(each.product, each.taken) for each in step.taken] == [("调度", True), ("实时", True)]
    assert [change.after for change in step.changes] == [("调度", "实", "时"), ("实时", "调", "度")]


@pytest.mark.parametrize(
    ("steps", "family", "vocabulary"),
    [
        (NumberedPieces({"h": 1, "i": 2}, ["i"], ["<unk>"]), "pieces", (Entry(0, "<unk>"), Entry(1, "i", 2))),
        (ScoredPieces([("a", -1.0)]), "scored-pieces", (Entry(0, "a", None, -1.0),)),
        (ThresholdSearch(iter([(2, ["a", "b"])]), 5), "thresholds", ()),
        (Estimation({}, [], ("<unk>",), {"a": -1.5}), "estimation", (Entry(0, "<unk>"), Entry(1, "a", None, -1.5))),
        (UseCounts({}, [], ("<s>",), {"a": 2}), "estimation", (Entry(0, "<s>"), Entry(1, "a", 2))),
    ],
)
def test_families(steps, family, vocabulary):
    recorded = record(steps)
    assert (recorded.family, recorded.vocabulary) == (family, vocabulary)


def test_use_counts():
    seen = {"a": 1, "b": 0, "ab": 3, "ba": 1, "aa": 1}
    pruned = {"a": 1, "b": 0, "ab": 3, "ba": 1}
    rounds = [("seeds", seen | {"bb": 2}), ("expectation", seen), ("pruning", pruned)]
    seeds, expectation, pruning = record(UseCounts({}, rounds, (), pruned)).steps
    assert [step.number for step in (seeds, expectation, pruning)] == [0, 1, 1]
    assert [(each.product, each.count) for each in expectation.taken] == [("bb", 0)]
    assert (expectation.candidates, expectation.size_change) == ((), -1)
    assert [(each.product, each.count, each.taken, each.tied) for each in pruning.candidates] == [
        ("aa", 1, True, False), ("ba", 1, False, True), ("ab", 3, False, False),
    ]  # fmt: skip
    assert pruning.tied_count == 1
    assert pruning.tokens[2] == Entry(2, "ab", 3)


def test_bytes_and_thresholds():
    entries = record(ByteIds(["<s>"], special_first=True)).vocabulary
    assert entries[:2] == (Entry(0, "<s>"), Entry(1, b"\0"))
    assert len(entries) == 257
    (step,) = record(ThresholdSearch(iter([(2, ["a", "b"])]), 5)).steps
    assert (step.kind, step.threshold, step.size) == ("threshold", 2, 2)


def test_a_training_of_nothing():
    recorded = record(bpe.train({("a",): 3}))
    assert (recorded.words, recorded.tokens) == ((Counted(("a",), 3),), (Counted(("a",), 3),))
    assert list(recorded.steps) == []
    assert Candidate(("a", "b"), "ab", 1).taken is False
