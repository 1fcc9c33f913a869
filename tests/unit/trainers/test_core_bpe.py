"""The core's trainer gives what the textbook gives: every rule for ties, form of symbols and veto, together."""

from __future__ import annotations

import random
from array import array
from collections.abc import Collection, Mapping
from itertools import accumulate, pairwise
from typing import Any

import pytest

from bpe_cli import _core
from bpe_cli.teaching.bpe import Tie, byte_words, character_words, count_digits, count_symbols, keeps_characters, train
from tests.core_options import bpe_options
from tests.counted import at_least, compared
from tests.test_worked_examples import ALPHABET, HOLY, MERGES, PRODUCTS, WALK, WALK_STEPS, sentence_counts
from tests.thorough import more

TIES: list[Tie] = ["lowest-ids", "first-seen", "largest-text"]


def counts_of(pieces: Mapping[bytes, int]) -> _core.Counts:
    counts = _core.Counts(1 << 30)
    counts.add_pieces(b"".join(pieces), array("Q", accumulate(map(len, pieces))), array("Q", pieces.values()))
    return counts


def learn(pieces: Mapping[bytes, int], initial: list[bytes], **options: Any) -> tuple[list[Any], list[bytes]]:
    """Train in the core; give (left, right, count) and all tokens."""
    training = _core.train_bpe(counts_of(pieces), bpe_options(initial, **{"by_character": True, **options}))
    blob, ends = training.tokens()
    tokens = [blob[start:end] for start, end in pairwise([0, *memoryview(ends)])]
    numbers = iter(memoryview(training.merges).tolist())
    merges = [
        (tokens[left], tokens[right], count)
        for (left, right, _), count in zip(
            zip(numbers, numbers, numbers, strict=True), memoryview(training.counts), strict=True
        )
    ]
    return merges, tokens


def text(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")


def book(
    words: Mapping[tuple[str, ...], int], initial: list[str], outside: Collection[str] = (), **options: Any
) -> tuple[list[tuple[str, str, int]], list[str]]:
    """Train by the book; decorated symbols that are not among the initial tokens stand behind them, sorted."""
    added = sorted(
        set(count_symbols(words)) - {*initial, *outside}, key=lambda symbol: symbol.encode("utf-8", "replace")
    )
    training = train(words, initial=[*initial, *added], **options)
    return [(*step.pair, step.count) for step in training], training.tokens()


# -- worked examples -------------------------------------------------------------------------------


def test_symbols_get_a_prefix_and_a_suffix():
    pieces = {b"low": 5, b"lower": 2, b"o": 1}
    merges, tokens = learn(
        pieces,
        [b"e", b"l", b"o", b"r", b"w"],
        continuing_subword_prefix="##",
        end_of_word_suffix="</w>",
        min_frequency=2,
    )
    assert tokens[5:11] == [b"##e", b"##o", b"##r</w>", b"##w", b"##w</w>", b"o</w>"], "sorted, behind the initial ones"
    assert merges == [
        (b"l", b"##o", 7),
        (b"lo", b"##w</w>", 5),
        (b"##e", b"##r</w>", 2),
        (b"##w", b"##er</w>", 2),
        (b"lo", b"##wer</w>", 2),
    ]
    assert tokens[11:] == [b"lo", b"low</w>", b"##er</w>", b"##wer</w>", b"lower</w>"]


def test_the_suffix_can_be_a_symbol_of_its_own():
    merges, tokens = learn({b"ab": 2, b"b": 1}, [b"a", b"b"], end_of_word_suffix="</w>", separate_suffix=True)
    assert tokens == [b"a", b"b", b"</w>", b"b</w>", b"ab</w>"]
    assert merges == [(b"b", b"</w>", 3), (b"a", b"b</w>", 2)]


def test_forms_that_are_given_keep_their_ids():
    merges, tokens = learn({b"ab": 2}, [b"##b", b"b", b"a"], continuing_subword_prefix="##")
    assert tokens == [b"##b", b"b", b"a", b"ab"]
    assert merges == [(b"a", b"##b", 2)]


def test_one_text_is_one_token_however_it_was_made():
    # "##b" is a b that goes on, and the beginning of the word "##b" as well
    merges, tokens = learn({b"##bb": 3, b"xb": 1}, [b"#", b"b", b"x"], continuing_subword_prefix="##")
    assert tokens == [b"#", b"b", b"x", b"###", b"##b", b"##", b"##bb", b"xb"]
    assert merges == [(b"#", b"###", 3), (b"##b", b"##b", 3), (b"##", b"##bb", 3), (b"x", b"##b", 1)]


def test_a_mark_is_left_out_and_never_crossed():
    merges, tokens = learn({b"un|do|": 3, b"undo": 1}, [b"d", b"n", b"o", b"u"], boundary_mark=b"|", max_merges=2)
    assert merges == [(b"d", b"o", 4), (b"u", b"n", 4)]
    merges, tokens = learn({b"|a|b|": 3}, [b"a", b"b"], boundary_mark=b"|", end_of_word_suffix="_")
    assert (merges, tokens) == ([], [b"a", b"b", b"b_"]), "the end of the piece stays its end"


def test_whole_characters():
    pieces = {"你你".encode() + b"\xff": 3}
    merges, _ = learn(pieces, [bytes([n]) for n in range(256)], by_character=False, character_boundaries=True)
    assert merges == [(b"\xe4", b"\xbd", 6), (b"\xe4\xbd", b"\xa0", 6), ("你".encode(), "你".encode(), 3)]


def test_what_is_outside_the_alphabet_is_left_out_with_what_is_written_around_it():
    merges, tokens = learn({b"abx": 2, b"xab": 1}, [b"a", b"b"], continuing_subword_prefix="#", end_of_word_suffix="_")
    assert (merges, tokens) == (
        [(b"a", b"#b", 2), (b"#a", b"#b_", 1)],
        [b"a", b"b", b"#a", b"#b", b"#b_", b"ab", b"#ab_"],
    )


def test_digits():
    initial = [bytes([n]) for n in range(256)]
    for most, longest in ((0, b"x"), (1, b"x1"), (2, b"x12"), (3, b"x123")):
        _, tokens = learn({b"x123": 3}, initial, by_character=False, max_digits=most)
        assert tokens[-1 if most else 120] == longest or tokens[-1].endswith(b"3")
        assert max(count_digits(token) for token in tokens[256:] or [b""]) <= most
    _, tokens = learn({"٣٣".encode(): 3}, initial, by_character=False, max_digits=1)
    assert tokens[256:] == ["٣".encode()]


def test_stops_after_so_many_merges():
    merges, tokens = learn({b"abcd": 3}, [b"ab", b"a", b"b", b"c", b"d"], symbols=[1, 2, 3, 4], max_merges=1)
    assert merges == [(b"a", b"b", 3)]
    assert len(tokens) == 5, "a merge that makes no new token counts"


def test_contradictions_are_named():
    with pytest.raises(ValueError, match="needs a text"):
        learn({b"a": 1}, [b"a"], separate_suffix=True)
    with pytest.raises(ValueError, match="does not go together"):
        learn({b"a": 1}, [b"a"], continuing_subword_prefix="#", end_of_word_suffix="_", separate_suffix=True)
    with pytest.raises(ValueError, match="the initial token 1 is no symbol"):
        learn({b"a": 1}, [b"a", b""])


# -- the worked examples of the documents that the project was created from ----------------------------


def learn_with_ends(words: Mapping[str, int], **options: Any) -> list[tuple[str, str, int]]:
    pieces = {word.encode(): count for word, count in words.items()}
    initial = [letter.encode() for letter in dict.fromkeys("".join(words))]
    merges, _ = learn(pieces, initial, tie="first-seen", end_of_word_suffix="</w>", separate_suffix=True, **options)
    return [(text(left), text(right), count) for left, right, count in merges]


def test_the_walk_through_with_its_own_end_of_word():
    assert learn_with_ends(WALK, min_frequency=2) == [step[:3] for step in WALK_STEPS]


def test_the_notebook():
    assert learn_with_ends(HOLY, max_merges=10) == [
        ("s", "t", 9), ("st", "</w>", 9), ("h", "o", 7), ("ho", "l", 7), ("n", "e", 6),
        ("ne", "w", 6), ("new", "st</w>", 6), ("hol", "y", 5), ("holy", "</w>", 5), ("w", "i", 3),
    ]  # fmt: skip


def test_the_four_sentences_as_characters():
    pieces = {piece.encode(): count for piece, count in sentence_counts().items()}
    initial = [letter.encode() for letter in ALPHABET]
    merges, tokens = learn(pieces, initial, tie="first-seen", vocab_size=50)
    assert [(text(left), text(right)) for left, right, _ in merges] == MERGES
    assert [text(token) for token in tokens] == ALPHABET + PRODUCTS


# -- against the textbook --------------------------------------------------------------------------


def small_corpus(draw: random.Random, letters: str) -> dict[bytes, int]:
    words = {
        "".join(draw.choices(letters, k=draw.randint(1, 8))): draw.randint(1, 4) << draw.choice([0, 0, 0, 6, 12])
        for _ in range(draw.randint(1, 7))
    }
    return {word.encode(): count for word, count in words.items()}


@at_least(30)
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize(
    ("prefix", "suffix", "separate"),
    [("", "", False), ("##", "", False), ("", "</w>", False), ("#", "_", False), ("", "_", True),
     ("a", "b", False), ("b", "", False), ("", "ab", False), ("", "a", True)],
)  # fmt: skip
def test_characters_are_merged_by_the_book(tie, prefix, suffix, separate):
    """Letters that are part of prefix and suffix make one text in several ways."""
    draw = random.Random(f"{tie}{prefix}{suffix}{separate}")
    for _ in range(more(40, 120)):
        pieces = small_corpus(draw, draw.choice(["ab", "abc", "a#_", "ab#1", "é1你"]))
        mark = draw.choice(["", "", "c", "#"])
        letters = {text(piece): count for piece, count in pieces.items()}
        known = sorted({*"".join(letters)} - {mark})
        initial = [*draw.choice([[], [], ["aa", "ab" + suffix, ""]]), *known]
        if len({*initial}) < len(initial):
            continue
        words = character_words(letters, end=suffix, glued=not separate, prefix=prefix, mark=mark)
        digits = draw.choice([None, None, 1])

        def allow(product: str, digits: int | None = digits) -> bool:
            return digits is None or count_digits(product) <= digits

        options: dict[str, Any] = {
            "tie": tie, "vocab_size": 40, "min_frequency": draw.randint(1, 2),
            "max_token_length": draw.choice([None, None, 2, 3]),
        }  # fmt: skip
        merges, tokens = learn(
            pieces, [token.encode() for token in initial], continuing_subword_prefix=prefix,
            end_of_word_suffix=suffix, separate_suffix=separate, boundary_mark=mark.encode(), max_digits=digits,
            symbols=range(len(initial) - len(known), len(initial)), **options,
        )  # fmt: skip
        expected = book(words, initial, prefix=prefix, allow=allow, **options)
        assert [(text(left), text(right), count) for left, right, count in merges] == expected[0], pieces
        assert [text(token) for token in tokens] == expected[1], pieces
        compared()


@at_least(20)
@pytest.mark.parametrize("separates", [False, True])
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize(
    ("prefix", "suffix", "separate", "by_character"),
    [("", "", False, True), ("", "", False, False), ("#", "_", False, True), ("", "_", True, True)],
)
def test_what_is_outside_the_alphabet_separates_or_is_left_out_by_the_book(
    prefix, suffix, separate, by_character, tie, separates
):
    draw = random.Random(f"{tie}{prefix}{suffix}{separate}")
    letters = "abcd你" if by_character else "abcde"
    for _ in range(more(25, 80)):
        pieces = small_corpus(draw, letters)
        known = sorted(draw.sample(letters, 3))
        forms = (before + letter + after for letter in letters for before in ("", prefix) for after in ("", suffix))
        outside = {form for form in forms if not any(letter in form for letter in known)}
        words = character_words(
            {text(piece): count for piece, count in pieces.items()}, end=suffix, glued=not separate, prefix=prefix
        )
        options: dict[str, Any] = {"tie": tie, "vocab_size": 30, "unknown_separates": separates}
        merges, tokens = learn(
            pieces, [letter.encode() for letter in known], continuing_subword_prefix=prefix,
            end_of_word_suffix=suffix, separate_suffix=separate, by_character=by_character, **options,
        )  # fmt: skip
        expected = book(words, known, outside, prefix=prefix, **options)
        assert [(text(left), text(right), count) for left, right, count in merges] == expected[0], pieces
        assert [text(token) for token in tokens] == expected[1], pieces
        compared()


@pytest.mark.parametrize("tie", TIES)
def test_bytes_are_merged_by_the_book(tie):
    draw = random.Random(tie)
    parts = ["你", "é", "1", "٣", "a", "½"]
    initial = [bytes([byte]) for byte in range(256)]
    for _ in range(more(60, 150)):
        pieces = {}
        for _ in range(draw.randint(1, 6)):
            piece = "".join(draw.choices(parts, k=draw.randint(1, 4))).encode()
            cut = draw.randint(0, 1)
            pieces[piece[cut : len(piece) - draw.randint(0, 1)] or b"a"] = draw.randint(1, 4)
        whole, most, longest = draw.choice([False, True]), draw.choice([None, 1, 2]), draw.choice([None, None, 3, 4])

        def allow(product: bytes, whole: bool = whole, most: int | None = most) -> bool:
            return (not whole or keeps_characters(product)) and (most is None or count_digits(product) <= most)

        training = train(
            byte_words(pieces), initial=initial, vocab_size=280, tie=tie, max_token_length=longest, allow=allow
        )
        merges, tokens = learn(
            pieces, initial, vocab_size=280, tie=tie, by_character=False, max_token_length=longest,
            character_boundaries=whole, max_digits=most,
        )  # fmt: skip
        assert merges == [(*step.pair, step.count) for step in training]
        assert tokens == training.tokens()
