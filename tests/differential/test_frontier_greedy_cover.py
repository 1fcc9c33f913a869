"""The textbook of GreedTok gives the scores that the package gave, and the textbook and the core encode as it does.

Which of several equal tokens was chosen is the hash table's: so the recorded order is placed, and each of its tokens
must be one of the best, by score and length, at its step.
"""

from __future__ import annotations

from collections import Counter

import pytest
import regex

from bpe_cli import _core
from bpe_cli.stages import ByteLevel, GreedyCover, Split
from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.core_arguments import options_json
from bpe_cli.teaching.frontier.greedy_cover import Cover, Encoder, learn
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers.byte_words import BYTES
from bpe_cli.trainers.counts import counts_of, cut_tokens
from tests.differential.frontier import case, texts, used
from tests.thorough import more

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
    placed = more(300, len(tokens))
    for token in tokens[:placed]:
        step = cover.best()
        best.append((step.score, len(step.token)))
        scores.append(cover.scores[token])
        cover.place(token)
    assert scores == recorded["scores"][:placed]
    assert best == [(score, len(token)) for score, token in zip(scores, tokens[:placed], strict=True)]
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


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings_by_the_core(shared, name):
    """Ids go from those of visible characters to the package's, where the chosen tokens come first."""
    recorded = case(shared, "greedtok", name)
    tokens = [from_visible(token) for token in recorded["tokens"]]
    vocabulary = Vocabulary.from_tokens([*(to_visible(each).encode() for each in (*BYTES, *tokens))])
    tokenizer = Tokenizer(GreedyCover(vocabulary), (Split(recorded["pretokenizer_regex"]), ByteLevel()))
    ranks = Encoder(tokens).ranks
    given = texts(shared)

    def rank(token_id):
        return ranks[from_visible(tokenizer.token_bytes(token_id).decode())]

    found = {each: [*map(rank, tokenizer.encode(given[each]))] for each in recorded["encodings"]}
    assert found == recorded["encodings"]


@pytest.mark.parametrize("name", CASES)
def test_the_core_chooses_as_the_textbook_does(shared, name):
    """The recorded order has other tokens where several are as good: so the core is held to the textbook's."""
    recorded = case(shared, "greedtok", name)
    text = [used(shared, source) for source in recorded["inputs"]]
    words = Counter(piece.encode() for part in text for piece in regex.findall(recorded["pretokenizer_regex"], part))
    given = recorded["params"]
    lengths = {"max_token_length": given["max_token_length"], "min_word_count": given["min_word_count"]}
    number = more(200, given["k"])
    steps = list(learn(words, number, **lengths))
    assert len(steps) == number
    lengths["max_token_length"] -= 1
    options = options_json(tokens=number, **lengths, reserved=[], max_memory=1 << 30, threads=2)
    trained = _core.train_greedtok(counts_of(words.items()), options)
    assert cut_tokens(*trained.tokens()) == [step.token for step in steps]
    assert list(memoryview(trained.scores)) == [step.score for step in steps]
