"""Lists of merges and splits: what is left of one without some tokens, and how much a list may say."""

from __future__ import annotations

from array import array
from random import Random

import pytest

from bpe_cli.errors import FormatError
from bpe_cli.stages import EventBpe
from bpe_cli.stages.events import SPLIT, first_merges, replayed, triples, without
from bpe_cli.stages.vocabulary import Vocabulary

LETTERS = Vocabulary.from_tokens([b"a", b"b", b"ab", b"ba", b"aba"])


def test_the_first_merge_of_each_token():
    events = array("I", [0, 1, 2, 1, 0, 3, 2, 0, 4, 2, SPLIT, SPLIT, 0, 3, 4])
    assert first_merges(EventBpe(LETTERS, events)) == {2: (0, 1), 3: (1, 0), 4: (2, 0)}


def test_a_token_that_is_made_in_another_way_stays():
    merges = {"ab": (0, 1, 2), "ba": (1, 0, 3), "ab+a": (2, 0, 4), "a+ba": (0, 3, 4)}
    splits = {"-ab": (2, SPLIT, SPLIT), "-aba": (4, SPLIT, SPLIT)}

    def events(*names: str) -> array[int]:
        return array("I", (number for name in names for number in (merges | splits)[name]))

    assert without(events("ab", "ab+a", "-ab", "ba", "a+ba", "-aba"), {2}) == events("ba", "a+ba", "-aba")
    assert without(events("ab", "ab+a", "-aba", "-ab", "ba", "a+ba"), {2}) == events("ba", "a+ba")
    assert without(events("ab", "ba", "ab+a", "a+ba", "-aba"), {3}) == events("ab", "ab+a", "-aba")
    assert without(events("ab", "ba"), {0}) == events()


def test_what_is_left_without_some_tokens_can_be():
    random = Random(5)
    fewer = 0
    for _ in range(300):
        texts = ["a", "b"]
        there = [0, 1]
        events = array("I")
        for _ in range(random.randrange(40)):
            left, right = random.choice(there), random.choice(there)
            if left > 1 and random.random() < 0.3:
                events.extend((left, SPLIT, SPLIT))
                there.remove(left)
            elif len(whole := texts[left] + texts[right]) < 7:
                texts += [] if whole in texts else [whole]
                product = texts.index(whole)
                events.extend((left, right, product))
                there += [] if product in there else [product]
        model = EventBpe(Vocabulary.from_tokens(map(str.encode, texts)), events)
        assert replayed(model).removed == set(range(len(texts))) - set(there)
        gone = set(random.sample(range(len(texts)), min(len(texts), 2)))
        left_over = without(events, gone)
        assert not gone.intersection(left_over)
        replayed(EventBpe(model.vocabulary.without(gone), left_over))
        named = [event for event in triples(events) if not gone.intersection(event)]
        fewer += len(left_over) // 3 < len(named)
        remaining = iter(named)
        assert all(event in remaining for event in triples(left_over)), "a part of them, in the same order"
    assert fewer > 50


def test_splits_have_so_many_parts_together():
    """A long token is made and split again and again, each time into all of its characters."""
    lengths = [1 << power for power in range(22)]
    vocabulary = Vocabulary.from_tokens(b"a" * length for length in lengths)
    numbers = range(len(lengths) - 1)
    made = [(number, number, number + 1) for number in numbers]
    split = [(number + 1, SPLIT, SPLIT) for number in numbers]  # the longest when all that it was made of are gone
    rounds = array("I", (each for event in made + split for each in event)) * 17
    replay = replayed(EventBpe(vocabulary, rounds[: 16 * 42 * 3]))
    assert len(replay.parts) == 16 * ((1 << 22) - 2)
    with pytest.raises(FormatError, match="events 1 to 698 take tokens apart into more than 67108864 parts"):
        replayed(EventBpe(vocabulary, rounds))
