"""A vocabulary: tokens by their ids, and back."""

from __future__ import annotations

import pytest

from bpe_cli.stages.vocabulary import Merges, Vocabulary


def test_a_token_by_its_id():
    vocabulary = Vocabulary.from_tokens([b"a", b"", b"bc"])
    assert [vocabulary.token(number) for number in range(3)] == [b"a", b"", b"bc"]
    assert (vocabulary.id_of(b"bc"), vocabulary.id_of(b"b")) == (2, None)
    assert vocabulary.among([0, 1, 2, 3, 9]) == {0, 2}
    for outside in (-1, 3):
        with pytest.raises(IndexError):
            vocabulary.token(outside)


def test_equal_merges_are_one_in_a_set():
    pairs = [(0, 1, 2), (2, 0, 3)]
    assert len({Merges.from_pairs(pairs), Merges.from_pairs(pairs), Merges.from_pairs(pairs[:1])}) == 2
