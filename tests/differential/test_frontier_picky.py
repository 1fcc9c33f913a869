"""The textbook of PickyBPE makes the events that the paper's code made, and encodes as it does."""

from __future__ import annotations

from functools import cache

import pytest

from bpe_cli.teaching.frontier.picky import WORD_START, Encoder, Merge, Split, Training, words_of
from tests.differential.frontier import case, texts, used

CASES = ("botchan-600-t0.9-birth", "botchan-600-t0.9-ids", "botchan-4000-t0.9-birth", "ru-1500-t0.9999-c0.995-birth",
         "shakespeare-1500-t0.6-birth", "shakespeare-1500-t0.6-ids", "udhr-1500-t0.7-c1-ids")  # fmt: skip


def trained(shared, name: str):
    recorded = case(shared, "pickybpe", name)
    text = "".join(used(shared, source) for source in recorded["inputs"])
    options = {key: recorded["params"][key] for key in ("vocab_size", "threshold", "coverage")}
    training = Training(words_of(text), **options, tie=name.rpartition("-")[2])
    return training, list(training.events())


@pytest.mark.parametrize("name", CASES)
def test_recorded_events(shared, name):
    recorded = case(shared, "pickybpe", name)
    training, events = trained(shared, name)
    found = [["merge", *each.pair] if isinstance(each, Merge) else ["split", each.token, list(each.parts)]
             for each in events]  # fmt: skip
    assert found == recorded["events"]
    merges = [each for each in events if isinstance(each, Merge)]
    assert [[each.count, each.merged] for each in merges] == recorded["merge_counts"]
    tokens = [
        [each.token_id, token, each.frequency, each.present]
        + [training.tokens[parent].token_id for parent in each.parents or ()]
        for token, each in training.tokens.items()
    ]
    assert [token + [None] * (6 - len(token)) for token in tokens] == recorded["tokens"]
    assert training.size == recorded["summary"]["actual_vocab_size"]


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name):
    recorded = case(shared, "pickybpe", name)
    events = [Merge((event[1], event[2]), 0, 0) if event[0] == "merge" else Split(event[1], tuple(event[2]))
              for event in recorded["events"]]  # fmt: skip
    encoder = Encoder({token: present for _, token, _, present, _, _ in recorded["tokens"]}, events)
    ids = {token: token_id for token_id, token, *_ in recorded["tokens"]}
    given = texts(shared)

    @cache
    def encoded(word: str) -> list[int]:
        return [ids[token] for token in encoder.encode(word)]

    found = {
        each: [token_id for word in given[each].split() for token_id in encoded(WORD_START + word)]
        for each in recorded["encodings"]
    }
    assert found == recorded["encodings"]
