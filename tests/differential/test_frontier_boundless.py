"""The textbook of BoundlessBPE makes the events that the paper's code made, and encodes as it does."""

from __future__ import annotations

from itertools import islice

import pytest
import regex

from bpe_cli.stages.spelling import from_visible, to_visible
from bpe_cli.teaching.frontier.boundless import MAY_JOIN, Deletion, Encoder, Merge, Supermerge, Training
from tests.differential.frontier import case, digest, in_documents, texts, used
from tests.thorough import more

CASES = ("botchan-600-gpt4o", "botchan-4000-gpt4o", "code-1200-ultimate-pairs", "hi-ar-900-gpt2", "mixed-1500-gpt4o",
         "shakespeare-1500-ultimate-nodel")  # fmt: skip

MOST_EVENTS = more({"mixed-1500-gpt4o": 760}, {})
FEW = more(500, None)
"""How many events of a case are made again: all of the shortest one, and of each some of every kind that it has."""


def trained(shared, name: str):
    recorded = case(shared, "boundlessbpe", name)
    options = recorded["params"]
    parts = [used(shared, source) for source in recorded["inputs"]]
    documents = [document for part in parts for document in in_documents(part, options["doc_lines"])]
    assert digest(documents) == recorded["documents"]["sha256_of_json_list"]
    assert recorded["supermerge_pattern"].replace("\\u2019", "’") == MAY_JOIN.pattern
    training = Training(
        [regex.findall(recorded["pattern_text"], document) for document in documents],
        vocab_size=options["vocab_size"],
        threshold=options["tau"],
        blow_up=options["blowup"],
    )
    return training, list(islice(training.events(), MOST_EVENTS.get(name, FEW)))


def as_recorded(event) -> list[str]:
    if isinstance(event, Deletion):
        return ["delete", to_visible(event.token)]
    return ["merge" if isinstance(event, Merge) else "supermerge", *map(to_visible, event.pair)]


def as_event(kind: str, *tokens: str):
    named = [from_visible(token) for token in tokens]
    return Deletion(named[0], 0) if kind == "delete" else KINDS[kind]((named[0], named[1]), 0)


KINDS = {"merge": Merge, "supermerge": Supermerge}


@pytest.mark.parametrize("name", CASES)
def test_recorded_events(shared, name):
    recorded = case(shared, "boundlessbpe", name)
    training, events = trained(shared, name)
    assert {*map(type, events)} >= {Merge, Supermerge}
    assert len(events) == min(len(recorded["events"]), MOST_EVENTS.get(name, FEW) or len(recorded["events"]))
    assert [as_recorded(event) for event in events] == recorded["events"][: len(events)]
    assert [event.count for event in events] == recorded["event_counts"][: len(events)]
    vocabulary = [to_visible(token) for token in training.vocabulary]
    all_of_them = len(recorded["events"]) == len(events)
    assert vocabulary == (recorded["vocab"] if all_of_them else recorded["vocab"][: len(vocabulary)])


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name):
    recorded = case(shared, "boundlessbpe", name)
    encoder = Encoder([as_event(*event) for event in recorded["events"]], blow_up=recorded["params"]["blowup"])
    ids = {from_visible(token): number for number, token in enumerate(recorded["vocab"])}
    given = texts(shared)
    found = {
        each: [ids[token] for token in encoder.encode(regex.findall(recorded["pattern_text"], given[each]))]
        for each in recorded["encodings"]
    }
    assert found == recorded["encodings"]
