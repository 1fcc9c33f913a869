from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.text.offsets import CharacterOffsets, first_difference

texts = st.binary(max_size=12) | st.text(alphabet="aé谁🙂", max_size=6).map(str.encode)


@given(texts, texts)
def test_the_first_difference_is_that_of_a_walk(one, other):
    shorter = min(len(one), len(other))
    walked = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    assert first_difference(one, other) == (None if one == other else walked)


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
