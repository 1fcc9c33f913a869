"""Characters are those that decoding gives, and an empty span is between two of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.tokenizer.encoded import CharacterOffsets

texts = st.binary(max_size=12) | st.text(alphabet="aé谁🙂", max_size=6).map(str.encode)


@given(texts)
def test_spans_of_characters_are_those_of_decoding(text):
    offsets = CharacterOffsets(text)
    string = text.decode("utf-8", "surrogateescape")
    position = 0
    for number, character in enumerate(string):
        end = position + len(character.encode("utf-8", "surrogateescape"))
        assert offsets.span(position, end) == (number, number + 1)
        position = end
    assert offsets.total() == len(string)


def test_parts_of_a_character_are_of_it_and_nothing_is_of_none():
    offsets = CharacterOffsets("a你b".encode())
    spans = [(0, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 5), (1, 5)]
    assert [offsets.span(*span) for span in spans] == [(0, 1), (1, 2), (2, 2), (1, 2), (2, 2), (2, 3), (1, 3)]
