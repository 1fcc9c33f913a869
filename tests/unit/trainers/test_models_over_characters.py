"""Maximum matching and n-grams as models of the core: hostile tables, hostile texts."""

from __future__ import annotations

from array import array

import pytest

from bpe_cli import _core
from bpe_cli.stages import MaxMatch, NGram
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.unit.trainers.staged_runs import decode, encode, pipeline_of, spans


def test_a_word_of_half_the_text_takes_no_quadratic_time() -> None:
    """Trying all lengths at all places would take ten thousand million steps."""
    words = [b"a", b"a" * 100_000 + b"b", b"a" * 50_000 + b"b"]
    pipeline = pipeline_of(Tokenizer(MaxMatch(Vocabulary.from_tokens(words))))
    ids = encode(pipeline, b"a" * 200_000 + b"b" + b"a" * 200_000)
    assert ids == [0] * 100_000 + [1] + [0] * 200_000


def test_ngrams_of_any_length_take_linear_time() -> None:
    pipeline = pipeline_of(Tokenizer(NGram(Vocabulary.from_tokens([b"a" * 100_000, b"a"]), n=100_000, unk_id=2)))
    assert encode(pipeline, b"a" * 150_000) == [0] * 50_001 + [2] * 99_998 + [1]
    huge = pipeline_of(Tokenizer(NGram(Vocabulary.from_tokens([b"ab", b"b"]), n=1 << 62)))
    assert encode(huge, b"ab") == [0, 1]


def test_lowest_of_equal_words_wins_and_ids_may_have_gaps() -> None:
    pipeline = pipeline_of(Tokenizer(MaxMatch(Vocabulary.from_tokens([b"", b"ab", b"ab", b"a"]), unk_id=0)))
    assert spans(pipeline, b"aabb") == [(3, b"a"), (1, b"ab"), (0, b"b")]


def test_empty_dictionary_knows_nothing() -> None:
    tokenizer = Tokenizer(MaxMatch(Vocabulary.from_tokens([]), unk_id=0))
    assert spans(pipeline_of(tokenizer), "é\udcff".encode("utf-8", "surrogateescape")) == [
        (0, "é".encode()),
        (0, b"\xff"),
    ]


def test_missing_character_is_named_with_its_place() -> None:
    pipeline = pipeline_of(Tokenizer(MaxMatch(Vocabulary.from_tokens([b"ab"]))))
    with pytest.raises(ValueError, match="byte 0xC3 has no token") as caught:
        encode(pipeline, "abé")
    assert caught.value.args[1] == 2


def test_overlapping_tokens_decode_to_their_first_characters() -> None:
    tokenizer = Tokenizer(NGram(Vocabulary.from_tokens(["éa".encode(), b"a\xff", b"\xff"])))
    pipeline = pipeline_of(tokenizer)
    assert decode(pipeline, tokenizer, encode(pipeline, b"\xc3\xa9a\xff")) == b"\xc3\xa9a\xff"


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (NGram(Vocabulary.from_tokens([b"a"]), n=0), "at least one character"),
        (NGram(Vocabulary.from_tokens([b"a"]), unk_id=1 << 21), "unknown token's id 2097152 is not below 2097152"),
        (
            MaxMatch(Vocabulary.from_tokens([b"a"]), unk_id=1 << 21),
            "unknown token's id 2097152 is not below 2097152",
        ),
    ],
)
def test_what_cannot_be(model, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        pipeline_of(Tokenizer(model))


def test_counting_ngrams_of_nothing() -> None:
    with pytest.raises(ValueError, match="at least one character"):
        _core.count_ngrams(_core.Counts(1000), 0, 1000)
    counts = _core.Counts(1000)
    counts.add_pieces(b"ab", array("Q", [2]), array("Q", [1 << 40]))
    assert _core.count_ngrams(counts, 2, 1000).items(0, 9) == [(b"ab", 1 << 40), (b"b", 1 << 40)]
