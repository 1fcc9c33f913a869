"""The scores of tokens, against the sums that the core finds."""

from array import array
from decimal import Decimal
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import UsageError
from bpe_cli.reports.text.scores import check_scores, rank, scores_of
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.reports.text.steps.lattice import as_read
from bpe_cli.stages import ScoredBpe, SpecialToken, Unigram
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import find
from tests.unit.reports.published import published

VOCABULARY = Vocabulary.from_tokens([b"<unk>", b"ab", b"a", b"b", b"<own>"])
SCORES = array("d", [0.0, -1.0, -2.0, -3.0, 0.0])


def test_unigram_by_hand():
    kinds = bytes([2, 1, 1, 1, 4])
    tokenizer = Tokenizer(Unigram(VOCABULARY, SCORES, 0, kinds=kinds))
    result = segment(tokenizer, "abacé<own>".encode())
    assert [(token.content, token.score) for token in result.tokens[:2]] == [(b"ab", -1.0), (b"a", -2.0)]
    # What is unknown lies 10 below the lowest score; what a user defined scores 0.1 for each character but the first.
    assert result.tokens[2].score == -13.0
    assert isclose(result.tokens[3].score, 0.4)
    assert isclose(rank(tokenizer, b"ab<own>a", 1).segmentations[0].score, -1.0 + 0.4 - 2.0)


def test_scores_that_order_merges():
    tokenizer = Tokenizer(ScoredBpe(VOCABULARY, SCORES, 0), special_tokens=(SpecialToken(b"<unk>", 0),))
    score = scores_of(tokenizer)
    assert [score(number) for number in range(4)] == [None, -1.0, -2.0, -3.0]


def test_models_without_scores():
    assert scores_of(find("gpt2")) is None
    with pytest.raises(UsageError, match="and this is bpe-ranks"):
        check_scores(find("gpt2"))


@pytest.mark.parametrize(
    "path", ["t5-small/tokenizer.json", "xlnet-base-cased/spiece.model", "spm-test_model/test_model.model"]
)
def test_scores_add_up_to_what_the_model_found(shared, path):
    tokenizer = published(shared / "vocabs" / path).tokenizer
    for text in (b"Hello there, general words", "the quick brown ö fox".encode(), b"tokenization of it"):
        tokens = segment(tokenizer, text).tokens
        best = rank(tokenizer, text, 1).segmentations[0]
        assert isclose(sum(token.score for token in tokens), best.score, rel_tol=1e-5)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_score_is_read_as_a_whole_number_and_a_power_of_ten(score):
    """The power is divided by in two steps where a double does not hold it."""
    sign, digits, exponent = Decimal(repr(score)).as_tuple()
    whole = float(Decimal((sign, digits, 0)))
    if exponent >= 0:
        assert as_read(score) == whole * float(f"1e{exponent}")
    else:
        assert as_read(score) == whole / float(f"1e{min(-exponent, 308)}") / float(f"1e{max(-exponent - 308, 0)}")
