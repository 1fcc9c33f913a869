"""Hold the formulations of encoding against each other, and against Hugging Face's."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.stages.spelling import ALPHABET_ORDER, to_visible
from bpe_cli.teaching.bpe import byte_words, train
from tests.needs import needs
from tests.oracle.encode import encode_by_merges, encode_by_ranks, recover_merges, replay_merges
from tests.oracle.strategies import BYTE_PIECES

ALPHABET = tuple(bytes([byte]) for byte in ALPHABET_ORDER)


def spell(piece: bytes) -> list[bytes]:
    return [piece[i : i + 1] for i in range(len(piece))]


# -- worked examples -------------------------------------------------------------------------------


def test_leftmost_of_equals() -> None:
    assert encode_by_ranks(b"aaaaa", {b"a": 0, b"aa": 1}) == [b"aa", b"aa", b"a"]
    assert encode_by_merges(list("aaaaa"), [("a", "a")]) == ["aa", "aa", "a"]


def test_lowest_rank_before_leftmost() -> None:
    assert encode_by_ranks(b"abc", {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4}) == [b"a", b"bc"]


def test_whole_piece_first() -> None:
    ranks = {b"a": 0, b"b": 1, b"aba": 2}  # no merge reaches aba
    assert encode_by_ranks(b"aba", ranks) == [b"aba"]
    assert encode_by_ranks(b"abaa", ranks) == [b"a", b"b", b"a", b"a"]
    assert encode_by_merges(["a", "b", "a"], []) == ["a", "b", "a"]
    assert encode_by_merges(["a", "b", "a"], [], whole=["aba"]) == ["aba"]


def test_nothing() -> None:
    assert encode_by_ranks(b"", {b"a": 0}) == []
    assert encode_by_merges([""][:0], [("a", "b")]) == []


def test_first_of_two_equal_merges_counts() -> None:
    merges = [("b", "c"), ("a", "b"), ("b", "c")]
    assert encode_by_merges(list("abc"), merges) == ["a", "bc"]


def test_formulations_part_when_merges_are_not_well_founded() -> None:
    # ab c stands before a b, so after abc appears there is no second chance in a replay
    merges = [("ab", "c"), ("a", "b")]
    assert encode_by_merges(list("abc"), merges) == ["abc"]
    assert replay_merges(list("abc"), merges) == ["ab", "c"]


def test_ranks_and_merges_part_when_a_token_has_two_splits() -> None:
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"bc": 4, b"abc": 5}
    merges, unreachable = recover_merges(ranks)
    assert merges == [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c")]
    assert unreachable == []
    assert recover_merges({b"a": 0, b"aaa": 1}) == ([], [b"aaa"])


# -- properties ------------------------------------------------------------------------------------

PIECE = st.one_of(
    st.text("abc", max_size=20).map(str.encode),
    st.lists(st.sampled_from([0x61, 0x20, 0xC3, 0xA9, 0xFF, 0x00]), max_size=20).map(bytes),
)


@given(BYTE_PIECES, st.integers(0, 30), PIECE, st.sampled_from(["lowest-ids", "first-seen", "largest-text"]))
@settings(deadline=None)
def test_formulations_agree_on_what_training_gives(pieces: dict[bytes, int], size: int, piece: bytes, tie: str) -> None:
    training = train(byte_words(pieces), initial=ALPHABET, num_merges=size, tie=tie)  # type: ignore[arg-type]
    merges = training.merges()
    ranks = {token: number for number, token in enumerate(training.tokens())}
    expected = encode_by_merges(spell(piece), merges)
    assert replay_merges(spell(piece), merges) == expected
    assert encode_by_ranks(piece, ranks) == expected
    assert b"".join(expected) == piece
    assert recover_merges(ranks) == (merges, [])


@given(BYTE_PIECES, st.integers(0, 30))
def test_the_corpus_is_encoded_as_it_was_left(pieces: dict[bytes, int], size: int) -> None:
    training = train(byte_words(pieces), num_merges=size)
    words = training.words
    for step in training:
        words = step.words
    merges = training.merges()
    assert [tuple(encode_by_merges(spell(piece), merges)) for piece in pieces] == list(words)


@given(BYTE_PIECES, st.integers(0, 30), PIECE, st.booleans())
@settings(deadline=None)
def test_merges_are_hugging_face(pieces: dict[bytes, int], size: int, piece: bytes, whole: bool) -> None:
    tokenizers = needs("tokenizers")
    training = train(byte_words(pieces), initial=ALPHABET, num_merges=size)
    tokens = training.tokens()
    if whole and piece and piece not in tokens:
        tokens.append(piece)  # no merge makes it
    show = to_visible
    model = tokenizers.models.BPE(
        {show(token): number for number, token in enumerate(tokens)},
        [(show(left), show(right)) for left, right in training.merges()],
        ignore_merges=whole,
    )
    expected = [token.value for token in model.tokenize(show(piece))]
    found = encode_by_merges(spell(piece), training.merges(), whole=set(tokens) if whole else ())
    assert [show(token) for token in found] == expected


@given(st.sets(st.text("abc", min_size=2, max_size=5).map(str.encode), max_size=12), PIECE)
def test_any_ranks_cover_the_piece(tokens: set[bytes], piece: bytes) -> None:
    ranks = {token: number for number, token in enumerate([*ALPHABET, *sorted(tokens)])}
    parts = encode_by_ranks(piece, ranks)
    assert b"".join(parts) == piece
    assert all(part in ranks for part in parts)
    assert len(parts) == 1 or all(left + right not in ranks for left, right in pairwise(parts))
    merges, unreachable = recover_merges(ranks)
    assert sorted([a + b for a, b in merges] + unreachable) == sorted(tokens)
