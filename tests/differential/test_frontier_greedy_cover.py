"""The textbook of GreedTok gives the scores that the package gave, and encodes as it does.

Which of several equal tokens was chosen is the hash table's: so the recorded order is placed, and each of its tokens
must be one of the best, by score and length, at its step.
"""

from __future__ import annotations

from collections import Counter

import pytest
import regex

from bpe_cli.stages.spelling import from_visible
from bpe_cli.teaching.frontier.greedy_cover import Cover, Encoder
from tests.differential.frontier import case, texts, used

CASES = ("botchan-1000", "ru-code-600-l9-min2")


@pytest.mark.parametrize("name", CASES)
def test_recorded_scores(shared, name):
    recorded = case(shared, "greedtok", name)
    text = [used(shared, source) for source in recorded["inputs"]]
    words = Counter(piece.encode() for part in text for piece in regex.findall(recorded["pretokenizer_regex"], part))
    assert (len(words), words.total()) == (recorded["word_counts_distinct"], recorded["word_counts_total"])
    options = recorded["params"]
    cover = Cover(words, max_token_length=options["max_token_length"], min_word_count=options["min_word_count"])
    tokens = [from_visible(token) for token in recorded["tokens"]]
    scores, best = [], []
    for token in tokens:
        step = cover.best()
        best.append((step.score, len(step.token)))
        scores.append(cover.scores[token])
        cover.place(token)
    assert scores == recorded["scores"]
    assert best == [(score, len(token)) for score, token in zip(scores, tokens, strict=True)]
    assert len(tokens) == options["k"]


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name):
    recorded = case(shared, "greedtok", name)
    encoder = Encoder([from_visible(token) for token in recorded["tokens"]])
    given = texts(shared)
    found = {
        each: [
            encoder.ranks[token]
            for piece in regex.findall(recorded["pretokenizer_regex"], given[each])
            for token in encoder.encode(piece.encode())
        ]
        for each in recorded["encodings"]
    }
    assert found == recorded["encodings"]
