"""The textbook of PickyBPE, and the core, make the events that the paper's code made; it encodes as that does."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Any

import pytest

from bpe_cli import _core
from bpe_cli.support.core_arguments import options_json
from bpe_cli.teaching.frontier.picky import (
    SPECIAL,
    WORD_START,
    Encoder,
    Merge,
    Split,
    Training,
    covered_characters,
    words_of,
)
from bpe_cli.trainers.counts import counts_of, cut_tokens
from tests.differential.frontier import case, texts, used
from tests.thorough import more

CASES = ("botchan-600-t0.9-birth", "botchan-600-t0.9-ids", "botchan-4000-t0.9-birth", "ru-1500-t0.9999-c0.995-birth",
         "shakespeare-1500-t0.6-birth", "shakespeare-1500-t0.6-ids", "udhr-1500-t0.7-c1-ids")  # fmt: skip

SPLIT = 0xFFFF_FFFF

MOST_EVENTS = more({"botchan-4000-t0.9-birth": 1500}, {})
"""How many events of a long case are made again; of the others all."""


def trained(shared, name: str):
    recorded = case(shared, "pickybpe", name)
    text = "".join(used(shared, source) for source in recorded["inputs"])
    options = {key: recorded["params"][key] for key in ("vocab_size", "threshold", "coverage")}
    training = Training(words_of(text), **options, tie=name.rpartition("-")[2])
    return training, list(islice(training.events(), MOST_EVENTS.get(name)))


def recorded_ids(recorded: dict[str, Any]) -> dict[str, int]:
    """Return the ids of a case's tokens, of which the first are the textbook's special ones."""
    names = [token for _, token, *_ in recorded["tokens"]]
    assert names[: len(SPECIAL)] == list(map(str, SPECIAL))
    return {token: token_id for token_id, token in enumerate([*SPECIAL, *names[len(SPECIAL) :]])}


@pytest.mark.parametrize("name", CASES)
def test_recorded_events(shared, name):
    recorded = case(shared, "pickybpe", name)
    training, events = trained(shared, name)
    found = [["merge", *each.pair] if isinstance(each, Merge) else ["split", each.token, list(each.parts)]
             for each in events]  # fmt: skip
    assert found == recorded["events"][: MOST_EVENTS.get(name)]
    merges = [each for each in events if isinstance(each, Merge)]
    assert [[each.count, each.merged] for each in merges] == recorded["merge_counts"][: len(merges)]
    if name not in MOST_EVENTS:
        assert_all_is_recorded(training, recorded)


def assert_all_is_recorded(training: Training, recorded: dict[str, Any]) -> None:
    """Compare what a whole training has made."""
    assert len(recorded["merge_counts"]) == sum(event[0] == "merge" for event in recorded["events"])
    tokens = [
        [each.token_id, str(token), each.frequency, each.present]
        + [training.tokens[parent].token_id for parent in each.parents or ()]
        for token, each in training.tokens.items()
    ]
    assert [token + [None] * (6 - len(token)) for token in tokens] == recorded["tokens"]
    assert training.size == recorded["summary"]["actual_vocab_size"]


@pytest.mark.parametrize(
    ("name", "further"), [("botchan-600-t0.9-ids", 0), ("shakespeare-1500-t0.6-ids", 3), ("udhr-1500-t0.7-c1-ids", 0)]
)
def test_the_core_learns_the_recorded_events(shared, name, further):
    """All of them; where the code has counted a token twice, there are further events for the one that it lacks."""
    recorded = case(shared, "pickybpe", name)
    text = "".join(used(shared, source) for source in recorded["inputs"])
    words = words_of(text)
    alphabet = covered_characters(words, recorded["params"]["coverage"])
    trained = _core.train_picky(
        counts_of((word.encode(), count) for word, count in words.items()),
        options_json(
            initial=[b""] * len(SPECIAL) + [character.encode() for character in alphabet],
            symbols=list(range(len(SPECIAL), len(SPECIAL) + len(alphabet))),
            vocab_size=recorded["params"]["vocab_size"],
            min_frequency=1,
            rule={"share": recorded["params"]["threshold"]},
            reserved=[],
        ),
    )
    tokens = [token.decode() for token in cut_tokens(*trained.tokens())]
    numbers = iter(memoryview(trained.events))
    found = [["split", tokens[left]] if right == SPLIT else ["merge", tokens[left], tokens[right]]
             for left, right, _ in zip(numbers, numbers, numbers, strict=True)]  # fmt: skip
    expected = [event[:2] if event[0] == "split" else event for event in recorded["events"]]
    assert found[: len(expected)] == expected
    assert len(found) == len(expected) + further
    assert trained.present == recorded["params"]["vocab_size"]


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name):
    recorded = case(shared, "pickybpe", name)
    events = [Merge((event[1], event[2]), 0, 0) if event[0] == "merge" else Split(event[1], tuple(event[2]))
              for event in recorded["events"]]  # fmt: skip
    encoder = Encoder({token: present for _, token, _, present, _, _ in recorded["tokens"]}, events)
    ids = recorded_ids(recorded)
    given = texts(shared)

    @cache
    def encoded(word: str) -> list[int]:
        return [ids[token] for token in encoder.encode(word)]

    found = {
        each: [token_id for word in given[each].split() for token_id in encoded(WORD_START + word)]
        for each in recorded["encodings"]
    }
    assert found == recorded["encodings"]
