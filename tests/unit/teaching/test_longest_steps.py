"""The longest tokens, told, against the encoders that tell nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.teaching import wordpiece
from bpe_cli.teaching.longest_match import anywhere, from_left, lengths_of, stretches
from tests.oracle import longest_match

words = st.text("abc", min_size=1, max_size=10)
vocabularies = st.sets(st.text("abc", min_size=1, max_size=4), max_size=8)


def test_bert_s_word():
    tokens = {"un", "u", "##aff", "##a", "##able", "##ab"}
    told = list(from_left("unaffable", tokens, lengths_of(tokens, "##"), prefix="##"))
    assert [(match.fits, match.tried) for match in told] == [
        (("un", "u"), 8), (("##aff", "##a"), 5), (("##able", "##ab", "##a"), 1),
    ]  # fmt: skip


@given(word=words, bare=vocabularies, inside=vocabularies, prefix=st.sampled_from(["##", "", "a"]))
def test_word_piece(word, bare, inside, prefix):
    tokens = bare | {prefix + text for text in inside}
    found = []
    for match in from_left(word, tokens, lengths_of(tokens, prefix), prefix=prefix):
        mark = prefix if match.start else ""
        beginnings = [mark + word[match.start : end] for end in range(len(word), match.start, -1)]
        assert match.fits == tuple(text for text in beginnings if text in tokens)
        assert match.tried == (beginnings.index(match.fits[0]) + 1 if match.fits else len(beginnings))
        if not match.fits:
            found = ["[UNK]"]
            break
        found.append(match.fits[0])
    assert found == wordpiece.encode_word(word, tokens, prefix=prefix)


@given(word=words, tokens=vocabularies)
def test_a_dictionary_and_a_tutorial(word, tokens):
    told = list(from_left(word, tokens, lengths_of(tokens)))
    assert [word[match.start : match.end] for match in told] == longest_match.segment(word, tokens)
    found = []
    for match in told:
        if match.fits or found[-1:] != ["<unk>"]:
            found.append(match.fits[0] if match.fits else "<unk>")
    assert found == longest_match.encode_from_left(word, tokens)


@given(word=words, tokens=vocabularies)
def test_anywhere(word, tokens):
    ordered = sorted(tokens, key=lambda token: (-len(token), token))
    cuts = list(anywhere(word, {token: number for number, token in enumerate(ordered)}))
    assert [(cut.number, cut.start) for cut in cuts] == sorted((cut.number, cut.start) for cut in cuts)
    parts = list(stretches(len(word), {cut.start: cut.end for cut in cuts}))
    assert "".join(word[start:end] for start, end, _ in parts) == word
    found = [word[start:end] if known else "<unk>" for start, end, known in parts]
    assert found == longest_match.encode(word, ordered)
