"""Hold the textbook trainer against the definition, and against whose rules it names."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.stages.spelling import ALPHABET_ORDER, to_visible
from bpe_cli.teaching.bpe import (
    Tie,
    byte_words,
    character_words,
    count_pairs,
    count_symbols,
    merge_word,
    train,
)
from tests.needs import needs
from tests.oracle.strategies import BYTE_PIECES, TEXT_WORDS

ALPHABET = tuple(bytes([byte]) for byte in ALPHABET_ORDER)

TIES: list[Tie] = ["lowest-ids", "first-seen", "largest-text"]


# -- worked examples -------------------------------------------------------------------------------


def test_spelling() -> None:
    assert byte_words({b"\xc3\xa9": 3, b"": 1}) == {(b"\xc3", b"\xa9"): 3, (): 1}
    assert character_words({"né": 1}, end="") == {("n", "é"): 1}
    assert character_words({"né": 1}, end="_", glued=True) == {("n", "é_"): 1}


def test_pairs_overlap_but_merges_do_not() -> None:
    assert count_pairs({("a",) * 5: 3}) == {("a", "a"): 12}
    assert merge_word(("a",) * 5, ("a", "a"), "aa") == ("aa", "aa", "a")
    assert merge_word(("aa", "aa", "a"), ("aa", "a"), "aaa") == ("aa", "aaa")


def test_ties() -> None:
    words = {("b", "c"): 1, ("c", "a"): 1, ("a", "b"): 1}
    first = {tie: next(iter(train(words, initial=["a", "b", "c"], tie=tie))).pair for tie in TIES}
    assert first == {"lowest-ids": ("a", "b"), "first-seen": ("b", "c"), "largest-text": ("c", "a")}


def test_ids_decide_not_text() -> None:
    words = {("a", "b"): 1, ("b", "a"): 1}
    assert next(iter(train(words, initial=["b", "a"]))).pair == ("b", "a")


def test_a_frequency_wins_over_any_tie_rule() -> None:
    for tie in TIES:
        assert next(iter(train({("c", "d"): 1, ("m", "n"): 2, ("y", "z"): 1}, tie=tie))).pair == ("m", "n")


def test_product_that_is_a_special_token_takes_its_id() -> None:
    training = train({("a", "b", "c"): 2}, initial=["ab", "a", "b", "c"], vocab_size=5)
    assert [(step.product, step.token_id) for step in training] == [("ab", 0), ("abc", 4)]
    assert training.tokens() == ["ab", "a", "b", "c", "abc"]


def test_empty_initial_token_takes_an_id_and_nothing_else() -> None:
    training = train({("a", "b"): 2}, initial=["", "a", "", "b"], vocab_size=5)
    assert [(step.product, step.token_id) for step in training] == [("ab", 4)]
    assert training.tokens() == ["", "a", "", "b", "ab"]
    assert train({("a", "b"): 2}, initial=["", "a", "", "b"], vocab_size=4).merges() == []


def test_symbols_outside_the_alphabet_are_left_out() -> None:
    training = train({("a", "x", "b"): 2, ("a", "b"): 1}, initial=["a", "b"])
    assert training.words == {("a", "b"): 3}


def test_stops() -> None:
    words = {("a", "b", "c", "d"): 2, ("a", "b"): 1}
    assert len(train(words).merges()) == 3
    assert len(train(words, vocab_size=6).merges()) == 2
    assert len(train(words, num_merges=1).merges()) == 1
    assert len(train(words, num_merges=0).merges()) == 0
    assert train(words, min_frequency=3).merges() == [("a", "b")]
    assert train(words, vocab_size=3).merges() == []
    assert train({("a",): 5}).merges() == []
    assert train({("a", "b"): 0}).merges() == []


def test_longest_token() -> None:
    words = {("a", "b", "c", "d"): 2}
    assert train(words, max_token_length=1).merges() == []
    assert train(words, max_token_length=2).merges() == [("a", "b"), ("c", "d")]
    assert train(words, max_token_length=3).merges() == [("a", "b"), ("c", "d")]
    assert train(words, max_token_length=4).merges() == [("a", "b"), ("c", "d"), ("ab", "cd")]
    # </w> is one symbol
    assert train(character_words({"ab": 1}), max_token_length=3).tokens()[-1] == "ab</w>"


def test_vocabulary_change() -> None:
    def change(*words: str) -> int:
        (step,) = train({tuple(word): 1 for word in words}, initial=list("abc"), num_merges=1)
        return step.vocabulary_change

    assert change("ab", "ca", "cb", "xab") == +1
    assert change("ab", "ca", "xab") == 0
    assert change("ab", "xab") == -1
    assert change("aa") == 0
    assert change("aaa") == +1


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="appears twice"):
        train({("a",): 1}, initial=["a", "a"])
    with pytest.raises(ValueError, match="lowest-ids, first-seen, largest-text"):
        train({("a",): 1}, tie="random")  # type: ignore[arg-type]


# -- properties ------------------------------------------------------------------------------------


@given(BYTE_PIECES, st.sampled_from(TIES), st.one_of(st.none(), st.integers(1, 5)))
def test_steps_tell_the_truth(pieces: dict[bytes, int], tie: Tie, longest: int | None) -> None:
    training = train(byte_words(pieces), tie=tie, max_token_length=longest)
    words, in_use = training.words, len(count_symbols(training.words))
    for number, step in enumerate(training, 1):
        assert step.number == number
        allowed = [n for (a, b), n in count_pairs(words).items() if longest is None or len(a + b) <= longest]
        assert step.count == count_pairs(words)[step.pair] == max(allowed)
        assert step.pair not in count_pairs(step.words)
        assert step.vocabulary_size == len(count_symbols(step.words)) == in_use + step.vocabulary_change
        assert step.vocabulary_change in (-1, 0, 1)
        assert [b"".join(word) for word in step.words] == list(pieces)
        assert list(step.words.values()) == list(pieces.values())
        assert longest is None or len(step.product) <= longest
        words, in_use = step.words, step.vocabulary_size
    assert training.tokens() == list(dict.fromkeys(training.tokens()))  # no token is made twice


# -- whose rules they are --------------------------------------------------------------------------


@given(
    pieces=BYTE_PIECES,
    extra=st.integers(0, 30),
    min_frequency=st.integers(0, 3),
    longest=st.one_of(st.none(), st.integers(2, 6)),
    specials=st.lists(st.sampled_from([b"ab", b"abc", b"aa", b" a", b"<s>"]), unique=True, max_size=3),
)
@settings(deadline=None)
def test_lowest_ids_is_hugging_face(
    pieces: dict[bytes, int], extra: int, min_frequency: int, longest: int | None, specials: list[bytes]
) -> None:
    tokenizers = needs("tokenizers")
    initial = [*specials, *ALPHABET]
    vocab_size = len(initial) + extra
    rival = tokenizers.Tokenizer(tokenizers.models.BPE())
    rival.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()  # no byte shows as whitespace
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=[to_visible(special) for special in specials],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=None if longest is None else longest + 1,  # theirs is exclusive
        show_progress=False,
    )
    rival.train_from_iterator([" ".join([to_visible(p)] * n) for p, n in pieces.items()], trainer)
    model = json.loads(rival.to_str())["model"]

    training = train(
        byte_words(pieces),
        initial=initial,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        tie="lowest-ids",
        max_token_length=longest,
    )
    assert [[to_visible(a), to_visible(b)] for a, b in training.merges()] == model["merges"]
    assert {to_visible(token): number for number, token in enumerate(training.tokens())} == model["vocab"]


@given(counts=TEXT_WORDS, merges=st.integers(1, 30), min_frequency=st.integers(1, 3))
@settings(deadline=None)
def test_largest_text_is_subword_nmt(counts: dict[str, int], merges: int, min_frequency: int) -> None:
    learn_bpe = needs("subword_nmt.learn_bpe")
    codes = io.StringIO()
    corpus = io.StringIO("".join(f"{word} {count}\n" for word, count in counts.items()))
    learn_bpe.learn_bpe(corpus, codes, merges, min_frequency=min_frequency, is_dict=True)
    version, *lines = codes.getvalue().splitlines()
    assert version == "#version: 0.2"

    training = train(
        character_words(counts, glued=True), num_merges=merges, min_frequency=min_frequency, tie="largest-text"
    )
    assert [f"{left} {right}" for left, right in training.merges()] == lines


def train_like_minbpe(chunks: Sequence[bytes], num_merges: int) -> list[tuple[int, int]]:
    """Follow minbpe's rule to the letter: integers, chunks in text order, the first of the maxima."""
    ids = [list(chunk) for chunk in chunks]
    merges: list[tuple[int, int]] = []
    for number in range(num_merges):
        stats: dict[tuple[int, int], int] = {}
        for chunk in ids:
            for pair in pairwise(chunk):
                stats[pair] = stats.get(pair, 0) + 1
        if not stats:
            break
        best = max(stats, key=lambda pair: stats[pair])
        for place, chunk in enumerate(ids):
            new: list[int] = []
            i = 0
            while i < len(chunk):
                if i < len(chunk) - 1 and (chunk[i], chunk[i + 1]) == best:
                    new.append(256 + number)
                    i += 2
                else:
                    new.append(chunk[i])
                    i += 1
            ids[place] = new
        merges.append(best)
    return merges


@given(
    st.lists(st.sampled_from([b"ab", b"ba", b"aab", b"abab", b"bca", b"caabcab", b"c"]), max_size=12),
    st.integers(0, 12),
)
def test_first_seen_is_minbpe(chunks: list[bytes], num_merges: int) -> None:
    counts: dict[bytes, int] = {}
    for chunk in chunks:
        counts[chunk] = counts.get(chunk, 0) + 1
    initial = [bytes([byte]) for byte in range(256)]
    training = train(byte_words(counts), initial=initial, num_merges=num_merges, tie="first-seen")
    ids: dict[bytes, Any] = {token: number for number, token in enumerate(training.tokens())}
    assert [(ids[a], ids[b]) for a, b in training.merges()] == train_like_minbpe(chunks, num_merges)
