"""Hugging Face's library reads scores of many digits a little wrong, which decides between equal sums."""

from __future__ import annotations

import json
from fractions import Fraction

from bpe_cli import load
from tests.needs import needs

TEXT = "\u2581-------"
LONG = {"-": -5.129043102264404, "---": -12.130167007446289, "\u2581": -2.0122928619384766}  # as T5's file has them
FIRST = ["\u2581", "-", "---", "---"]


def tokenizer_json(scores):
    model = {
        "type": "Unigram",
        "unk_id": 0,
        "byte_fallback": False,
        "vocab": [["<unk>", 0.0], *map(list, scores.items())],
    }
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model})


def ours(scores, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(tokenizer_json(scores), encoding="utf-8")
    names = ["<unk>", *scores]
    return [names[token_id] for token_id in load(path).encode(TEXT)]


def test_sums_are_equal_whatever_the_order():
    one = sum((Fraction(LONG[token]) for token in FIRST), Fraction(0))
    other = sum((Fraction(LONG[token]) for token in ("\u2581", "---", "---", "-")), Fraction(0))
    assert one == other
    first = second = 0.0
    for token in FIRST:
        first += LONG[token]
    for token in ("\u2581", "---", "---", "-"):
        second += LONG[token]
    assert first == second  # in double precision, too


def test_of_equals_the_one_wins_whose_last_token_begins_first(tmp_path):
    assert ours(LONG, tmp_path) == FIRST


def test_the_library_agrees_where_it_reads_scores_exactly(tmp_path):
    library = needs("tokenizers")
    short = {token: round(score, 3) for token, score in LONG.items()}
    theirs = library.Tokenizer.from_str(tokenizer_json(short)).encode(TEXT).tokens
    assert theirs == ours(short, tmp_path) == FIRST
    # With all digits it sees another winner, though the sums are equal.
    assert library.Tokenizer.from_str(tokenizer_json(LONG)).encode(TEXT).tokens == ["\u2581", "---", "---", "-"]
