"""BPE by merges and splits: the core does what the textbook of PickyBPE does, by recorded lists and by random ones."""

from __future__ import annotations

from array import array
from random import Random
from typing import NamedTuple

import pytest

from bpe_cli.stages import EventBpe
from bpe_cli.stages.events import SPLIT, replayed
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.teaching.frontier.picky import UNKNOWN, WORD_START, Encoder, Event, Merge, Split
from tests.core_model import CoreModel
from tests.differential.frontier import case, texts
from tests.differential.test_frontier_picky import CASES, recorded_ids

LONGEST = 8


def model_of(ids: dict[str, int], events: list[Event], **settings) -> EventBpe:
    numbers = array("I")
    for event in events:
        if isinstance(event, Merge):
            numbers.extend(ids[each] for each in (*event.pair, "".join(event.pair)))
        else:
            numbers.extend((ids[event.token], SPLIT, SPLIT))
    vocabulary = Vocabulary.from_ids({token.encode(): number for token, number in ids.items()})
    return EventBpe(vocabulary, numbers, ids[UNKNOWN], **settings)


# -- the lists that the paper's code made ----------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_recorded_encodings(shared, name):
    recorded = case(shared, "pickybpe", name)
    ids = recorded_ids(recorded)
    events = [Merge((event[1], event[2]), 0, 0) if event[0] == "merge" else Split(event[1], tuple(event[2]))
              for event in recorded["events"]]  # fmt: skip
    model = model_of(ids, events)
    replay = replayed(model)
    names = {token_id: token for token, token_id in ids.items()}
    splits = [event for event in events if isinstance(event, Split)]
    found = [tuple(names[each] for each in replay.parts_of(number)) for number in range(len(replay.ends))]
    assert found == [event.parts for event in splits]
    absent = {token_id for token_id, _, _, present, *_ in recorded["tokens"] if not present}
    assert replay.removed == absent
    core = CoreModel(model)
    given = texts(shared)
    for text_name, expected in recorded["encodings"].items():
        words = [(WORD_START + word).encode() for word in given[text_name].split()]
        assert [token_id for encoded in core.encode(words) for token_id in encoded] == expected, text_name
    assert len(recorded["encodings"]) > 10


# -- random lists ----------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """A list of events that can be, with the tokens that are there in the end."""

    ids: dict[str, int]
    events: list[Event]
    present: dict[str, bool]


def drawn(random: Random, letters: str) -> Drawn:
    """Draw merges of what is there, and splits of what merges made."""
    present = dict.fromkeys(letters, True)
    parents: dict[str, tuple[str, str]] = {}
    events: list[Event] = []

    def parts_of(token: str) -> tuple[str, ...]:
        return (token,) if present[token] else tuple(part for each in parents[token] for part in parts_of(each))

    for _ in range(random.randrange(50)):
        there = [token for token, here in present.items() if here]
        left, right = random.choice(there), random.choice(there)
        if len(left) > 1 and random.random() < 0.35:
            present[left] = False
            events.append(Split(left, parts_of(left)))
        elif len(left + right) <= LONGEST:
            present[left + right] = True
            parents.setdefault(left + right, (left, right))
            events.append(Merge((left, right), 0, 0))
    numbered = [UNKNOWN, *present]
    random.shuffle(numbered)
    return Drawn({token: number for number, token in enumerate(numbered)}, events, present)


@pytest.mark.parametrize("letters", ["ab", "aé好", "abcd"])
def test_random_lists(letters):
    random = Random(letters)
    splits = unlike_merges = 0
    for _ in range(300):
        ids, events, present = drawn(random, letters)
        core, encoder = CoreModel(model_of(ids, events)), Encoder(present, events)
        merging = Encoder(present, [event for event in events if isinstance(event, Merge)])
        pieces = ["".join(random.choices(letters + "x", k=random.choice((1, 3, 9, 40)))) for _ in range(10)]
        expected = [encoder.encode(piece) for piece in pieces]
        assert core.encode([piece.encode() for piece in pieces]) == [
            [ids[token] for token in tokens] for tokens in expected
        ], (pieces, events)
        splits += sum(isinstance(event, Split) for event in events)
        unlike_merges += sum(merging.encode(piece) != tokens for piece, tokens in zip(pieces, expected, strict=True))
    assert splits > 500
    assert unlike_merges > 300


def test_bytes_are_symbols_where_tokens_are_bytes():
    tokens = ["é".encode()[:1], "é".encode()[1:], "é".encode(), b"a", "éa".encode()]
    events = array("I", [0, 1, 2, 2, 3, 4, 2, SPLIT, SPLIT])
    model = EventBpe(Vocabulary.from_tokens(tokens), events, byte_level=True)
    core = CoreModel(model)
    assert core.ids("éaé".encode()) == [4, 0, 1]
    assert core.spans("aé".encode()) == [(3, 0, 1), (0, 1, 3), (1, 1, 3)], "a byte stands for its character"
    assert replayed(model).removed == {2}


def test_a_whole_piece_is_its_token_if_that_is_there():
    ids = {"a": 0, "b": 1, "ab": 2, "ba": 3, "aba": 4, UNKNOWN: 5}
    events = [Merge(("a", "b"), 0, 0), Merge(("b", "a"), 0, 0), Merge(("a", "ba"), 0, 0), Split("ba", ("b", "a"))]
    assert CoreModel(model_of(ids, events)).encode([b"aba", b"ba", b"abab"]) == [[4], [1, 0], [2, 2]]
    assert CoreModel(model_of(ids, events, ignore_merges=False)).ids(b"aba") == [2, 0]


def test_merges_are_not_dropped():
    core = CoreModel(model_of({"a": 0, UNKNOWN: 1}, []))
    with pytest.raises(ValueError, match="no merge can be dropped here, as later events count on it"):
        core.sample(b"a", "dropout", 0.5, 1)
    with pytest.raises(ValueError, match="this model gives no probabilities to draw by"):
        core.sample(b"a", "segmentation", 0.5, 1)
