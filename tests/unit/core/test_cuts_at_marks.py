"""Texts that no stage cuts into pieces: cut before a space where no token goes across a mark, to the same tokens."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli.stages import Prepend, Replace, ScoredBpe, SpaceMarks, Unigram
from bpe_cli.stages.spelling import BYTE_TEXTS
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer

PIECES = ["<unk>", "▁", "▁▁", "▁a", "▁ab", "a", "b", "ab", "ba", "中"]
ACROSS = [*PIECES, "a▁b"]
TEXTS = st.lists(st.sampled_from(["a b", "ab", " ", "  ", "▁", "中", "x", "\n", "é", "b a"]), max_size=30).map("".join)


def unigram(pieces, *normalizer, fixed_point=True):
    """Return a model whose sums are exact, unless it is asked for one whose sums round."""
    vocabulary = Vocabulary.from_tokens(piece.encode() for piece in pieces)
    scores = array("d", [-float(10 - len(piece)) for piece in pieces])
    return Tokenizer(Unigram(vocabulary, scores, unk_id=0, fixed_point=fixed_point), normalizer=normalizer)


CUTTABLE = {
    "SentencePiece": unigram(PIECES, SpaceMarks(remove_extra_whitespaces=False)),
    "extra blanks removed": unigram(PIECES, SpaceMarks()),
    "no dummy prefix": unigram(PIECES, SpaceMarks(add_dummy_prefix=False, remove_extra_whitespaces=False)),
    "Llama": unigram(PIECES, Prepend("▁"), Replace(" ", "▁", literal=True)),
}
UNCUTTABLE = {
    "a token across a mark": unigram(ACROSS, SpaceMarks(remove_extra_whitespaces=False)),
    "marks as suffixes": unigram(PIECES, SpaceMarks(treat_whitespace_as_suffix=True)),
    "blanks that stay": unigram(PIECES, SpaceMarks(escape_whitespaces=False)),
    "no marks": unigram(PIECES, Replace(" ", "_", literal=True)),
    "no normalizer": unigram(PIECES),
    "sums that round": unigram(PIECES, SpaceMarks(), fixed_point=False),
}


@pytest.mark.parametrize("name", CUTTABLE)
@given(text=TEXTS, size=st.integers(1, 12))
@example(text="a b  a b▁b a  ab ", size=3)
def test_parts_give_the_tokens_of_the_whole(name, text, size):
    tokenizer = CUTTABLE[name]
    data = text.encode()
    starts = range(0, len(data), size)
    blocks = [
        Block(part, array("Q", [len(part)]), start > 0, start + size < len(data))
        for start in starts
        if (part := data[start : start + size])
    ]
    found = [
        token_id
        for block in tokenizer.settle(blocks, None)
        for token_id in tokenizer.encode_block(block, None)[0].tolist()
    ]
    whole, _, _ = tokenizer.engine.spans(data, None)
    assert found == whole.tolist()


@pytest.mark.parametrize("name", CUTTABLE)
def test_where_cuts_are(name):
    assert CUTTABLE[name].engine.safe_cut(b"a b ab\xe4\xb8\xad  a") == 3


@pytest.mark.parametrize("name", UNCUTTABLE)
def test_no_cut_where_a_token_could_go_across(name):
    assert UNCUTTABLE[name].engine.safe_cut(b"a b ab a") == 0


@pytest.mark.parametrize("text", ["t▁▁é", "x▁x", "é▁▁t a", "a▁a", "▁▁", "x▁▁▁▁x ▁ x"])
@pytest.mark.parametrize("marks", [SpaceMarks(), SpaceMarks(add_dummy_prefix=False)])
def test_a_mark_in_the_text_stays_though_no_token_but_its_own_has_one(text, marks):
    pieces = [b"<unk>", "▁".encode(), b"a", "é".encode(), *BYTE_TEXTS]
    kinds = bytes([2, 1, 1, 1, *[6] * 256])
    scores = array("d", [-float(number) for number in range(len(pieces))])
    for fallback in (False, True):
        model = ScoredBpe(Vocabulary.from_tokens([b"", *pieces[1:]]), scores, 0, kinds, fallback)
        tokenizer = Tokenizer(model, normalizer=(marks,))
        whole = [
            token_id for token_id, _, _ in tokenizer.spans(text.encode(), None)
        ]  # through all stages, without words
        assert tokenizer.encode(text) == whole
