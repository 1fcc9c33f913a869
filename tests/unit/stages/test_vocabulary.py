"""A vocabulary: tokens by their ids, and back."""

from __future__ import annotations

import pickle
from array import array
from random import Random

import pytest

from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer.named_encodings import named
from tests.work import cost


def test_a_token_by_its_id():
    vocabulary = Vocabulary.from_tokens([b"a", b"", b"bc"])
    assert [vocabulary.token(number) for number in range(3)] == [b"a", b"", b"bc"]
    assert (vocabulary.id_of(b"bc"), vocabulary.id_of(b"b")) == (2, None)
    assert vocabulary.among([0, 1, 2, 3, 9]) == {0, 2}
    assert list(vocabulary.tokens()) == [b"a", b"", b"bc"]
    assert repr(vocabulary) == "Vocabulary(2 tokens)"
    for outside in (-1, 3):
        with pytest.raises(IndexError):
            vocabulary.token(outside)


def test_an_embedded_table_is_not_read_to_say_which_ids_it_has():
    vocabulary = Vocabulary.from_embedded(named("gpt2").model.vocabulary.embedded)
    asked = [0, 5, 50_255, 50_256, 1 << 20]
    assert vocabulary.among(asked) == {0, 5, 50_255}
    assert "_table" not in vars(vocabulary)
    assert Vocabulary(vocabulary.blob, vocabulary.ends).among(asked) == {0, 5, 50_255}


def test_it_goes_to_another_process_as_it_is():
    for vocabulary in (Vocabulary.from_tokens([b"a", b"", b"bc"]), named("gpt2").model.vocabulary):
        again = pickle.loads(pickle.dumps(vocabulary))
        assert (again, again.embedded) == (vocabulary, vocabulary.embedded)
    assert vocabulary.__eq__(b"a") is NotImplemented
    merges = Merges(array("I", [0, 2, 3]))
    assert pickle.loads(pickle.dumps(merges)).triples == merges.triples


def test_ids_without_their_tokens_stay_unused():
    chance = Random(5)
    for _ in range(300):
        tokens = [b"" if chance.random() < 0.4 else chance.randbytes(chance.randint(1, 3)) for _ in range(12)]
        gone = {number for number in range(14) if chance.random() < chance.choice((0.0, 0.3, 0.9))}
        left = Vocabulary.from_tokens(tokens).without(gone)
        assert left == Vocabulary.from_tokens([b"" if number in gone else token for number, token in enumerate(tokens)])
        assert left.size == len(tokens)


def test_a_few_tokens_with_ids_of_millions_cost_little():
    vocabulary = Vocabulary.from_ids({b"a": 0, b"b": 7, b"c": 2_097_151})
    cost(lambda: vocabulary.without({7, 9}), vocabulary.size, 20)


def test_equal_merges_are_one_in_a_set():
    pairs = [(0, 1, 2), (2, 0, 3)]
    with pytest.raises(ValueError, match="shorter"):
        list(Merges(array("I", [0, 1, 2, 3])))
    assert repr(Merges.from_pairs(pairs)) == "Merges(2)"
    assert len({Merges.from_pairs(pairs), Merges.from_pairs(pairs), Merges.from_pairs(pairs[:1])}) == 2


@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_short_tokens_are_found_among_unused_ids_too(most):
    vocabulary = Vocabulary.from_ids({b"low": 4, b"\xe4": 0, b"lo": 2, b"lowest": 9, b"er": 3})
    assert list(vocabulary.short(most)) == [each for each in vocabulary.items() if len(each[1]) <= most]
