"""BoundlessBPE, on documents of a few pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching.frontier.boundless import Deletion, Encoder, Merge, Supermerge, Training, encode

PIECES = st.sampled_from([" of", " the", " ab", " abab", "ab", "a", "!", " 12", "\n"])
DOCUMENTS = st.lists(st.lists(PIECES, max_size=8), max_size=5)


@given(DOCUMENTS, st.integers(256, 290), st.sampled_from([0.4, 0.9, 1.1]), st.booleans())
def test_what_is_learnt_encodes_and_gives_the_text_back(documents, vocab_size, threshold, blow_up):
    training = Training(documents, vocab_size=vocab_size, threshold=threshold, blow_up=blow_up)
    events = list(training.events())
    assert len(training.vocabulary) <= vocab_size
    assert len(training.vocabulary) == 256 + sum(not isinstance(event, Deletion) for event in events)
    encoder = Encoder(events, blow_up=blow_up)
    for document in documents:
        tokens = encoder.encode(document)
        assert b"".join(tokens) == "".join(document).encode()
        assert training.vocabulary.keys() >= set(tokens)


@given(DOCUMENTS, st.integers(256, 290), st.sampled_from([0.4, 0.9, 1.1]), st.booleans())
def test_counts_are_those_of_counting_again(documents, vocab_size, threshold, blow_up):
    training = Training(documents, vocab_size=vocab_size, threshold=threshold, blow_up=blow_up)
    for _ in training.events():
        for words in (training.words, training.stretches):
            again: dict[tuple[bytes, bytes], int] = {}
            for word, frequency in zip(words.words, words.frequencies, strict=True):
                for pair in words.pairs_of(word):
                    again[pair] = again.get(pair, 0) + frequency
            assert words.counts == again
        for token in training.vocabulary:
            occurs = sum(
                word.count(token) * frequency
                for word, frequency in zip(training.words.words, training.words.frequencies, strict=True)
            )
            assert training.occurrences[token] == occurs


def test_a_tie_goes_to_the_pieces():
    events = list(Training([[" a", " b"]], vocab_size=300, threshold=1.1).events())
    assert [type(event) for event in events] == [Merge, Merge, Supermerge]
    assert events[-1].pair == (b" a", b" b")


def test_pieces_of_one_byte_and_of_digits_join_nothing():
    events = list(Training([["a", "a", "b", " 12", " 12"]] * 3, vocab_size=300, threshold=1.1).events())
    assert not [event for event in events if isinstance(event, Supermerge)]


def test_a_pair_of_equals_stays_locked_unless_it_is_a_document():
    alike = [" ab"] * 4
    locked = Training([[*alike, "!"]], vocab_size=300, threshold=1.1)
    assert [event.pair for event in locked.events() if isinstance(event, Supermerge)] == [(b" ab", b" ab")]
    document = Training([[*alike], [" ab", " ab"]], vocab_size=300, threshold=1.1)
    assert [event.pair for event in document.events() if isinstance(event, Supermerge)] == [
        (b" ab", b" ab"),
        (b" ab ab", b" ab ab"),
    ]


def test_a_deleted_token_becomes_bytes_or_its_first_parts():
    events = [Merge((b"a", b"b"), 9), Merge((b"ab", b"c"), 9), Deletion(b"abc", 9)]
    assert encode(["abc"], events) == [b"a", b"b", b"c"]
    assert encode(["abc"], events, blow_up=False) == [b"ab", b"c"]
