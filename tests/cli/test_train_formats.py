"""``bpe train --format``: what a format cannot hold is said before the corpus is read."""

from __future__ import annotations

import pytest

from tests.cli_runner import call, error

MARKS_BLANKS = (
    'SentencePiece marks where words of characters begin, by blanks alone, and this model writes "</w>" at symbols'
)
RARE_TEXTS = (
    "a SentencePiece model cannot hold what becomes of rare texts (its scores, which SentencePiece adds in single and "
    "this tokenizer in double precision; texts that begin with a blank, before which SentencePiece puts a mark all the "
    "same; unknown tokens, which SentencePiece reads as a sign of its own)"
)
AGREE = "write bpe.json, which holds everything (--format bpe.json), or agree to lose it: --allow-loss "


@pytest.mark.parametrize(
    ("algorithm", "message", "hint"),
    [
        ("bpe", MARKS_BLANKS, "bpe.json holds every tokenizer whole: --format bpe.json"),
        ("unigram", RARE_TEXTS, AGREE + "sentencepiece-edges"),
    ],
)
def test_what_sentencepiece_has_no_words_for(algorithm, message, hint, tmp_path):
    options = ("-a", algorithm, "-s", "90", "--format", "sentencepiece")
    assert call("train", "nosuch.txt", *options, cwd=tmp_path) == (2, b"", error(message, hint))
