"""No vocabulary stops the health report: random tokens, merges that contradict each other, scores that are none."""

from __future__ import annotations

import json
import re
from array import array

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group

from bpe_cli.reports.tokenizer.corpus_report import Frequencies, examine_corpus
from bpe_cli.reports.tokenizer.lookup import look_up
from bpe_cli.reports.tokenizer.structure import Anatomy, examine_structure
from bpe_cli.stages import (
    ByteLevel,
    CharacterBpe,
    FewestTokens,
    GreedyCover,
    LongestMatch,
    MaxMatch,
    MergeBpe,
    NGram,
    RankBpe,
    ScoredBpe,
    SpaceMarks,
    SpecialToken,
    Unigram,
    WordLevel,
    WordPiece,
)
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.views.as_json import cards_json, json_value
from bpe_cli.views.vocabulary import card_view, corpus_view
from tests.unit.views.golden import render, structure_view

TEXTS = st.text(alphabet="ab▁ #<0x4>\x00\x1b\u202eé谁\ud7ff1\n", max_size=6).map(str.encode)
NUMBERS = st.floats()


@st.composite
def tokenizers(draw):
    tokens = draw(st.lists(st.binary(max_size=4) | TEXTS, min_size=1, max_size=25))
    size = len(tokens)
    ids = st.integers(0, size - 1)
    vocabulary = Vocabulary.from_tokens(tokens)
    merges = Merges.from_pairs(draw(st.lists(st.tuples(ids, ids, ids), max_size=30)))
    scores = array("d", draw(st.lists(NUMBERS, min_size=size, max_size=size)))
    kinds = bytes(draw(st.lists(st.integers(0, 7), min_size=size, max_size=size)))
    affix = draw(st.sampled_from(["", "##", "a", "▁"]))
    model = draw(
        st.sampled_from([
            RankBpe(vocabulary), MergeBpe(vocabulary, merges), ScoredBpe(vocabulary, scores, 0, kinds, True),
            CharacterBpe(vocabulary, merges, continuing_subword_prefix=affix, byte_fallback=True),
            CharacterBpe(vocabulary, merges, end_of_word_suffix=affix, separate_suffix=True), WordPiece(vocabulary, 0),
            WordLevel(vocabulary), Unigram(vocabulary, scores, 0, kinds=kinds), LongestMatch(vocabulary),
            FewestTokens(vocabulary, end_of_word_suffix=affix),
            MaxMatch(vocabulary), GreedyCover(vocabulary), NGram(vocabulary),
        ])
    )  # fmt: skip
    special = (SpecialToken(b"<s>\x1b", draw(ids | st.just(2**32 - 1))),)
    stages = draw(st.sampled_from([(), (ByteLevel(),)]))
    return Tokenizer(model, stages, special, normalizer=draw(st.sampled_from([(), (SpaceMarks(),)])))


@given(tokenizers(), st.data())
def test_any_vocabulary(tokenizer, data):
    anatomy = Anatomy(tokenizer)
    structure = examine_structure(anatomy)
    size = tokenizer.model.vocabulary.size
    known = {*anatomy.contents.meanings, *tokenizer.special_ids}
    drawn = data.draw(st.lists(st.integers(0, 200), min_size=size, max_size=size))
    counts = array("Q", [count if token_id in known else 0 for token_id, count in enumerate(drawn)])
    frequencies = Frequencies(counts, {}, 1, 1, sum(counts))
    corpus = examine_corpus(anatomy, frequencies)
    cards = [look_up(anatomy, token_id, frequencies=frequencies) for token_id in sorted(known)]
    json.dumps([json_value(structure), json_value(corpus), cards_json(None, cards)], allow_nan=False)
    views = [structure_view(structure), corpus_view(corpus), *(card_view(card, full=True) for card in cards)]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", render(Group(*views), width=60))
    scripts = structure.scripts
    every = [*scripts.counts, scripts.several, scripts.without, scripts.not_utf8]
    assert sum(each.tokens for each in every) == structure.token_count
    assert corpus.used + corpus.unused == structure.token_count
    if structure.merges:
        assert sum(tokens for _, tokens in structure.merges.depths) == structure.token_count


def test_a_merge_of_an_id_without_a_token_is_not_told_as_dead():
    vocabulary = Vocabulary.from_tokens([b"", b"a", b"aa"])
    tokenizer = Tokenizer(
        MergeBpe(vocabulary, Merges.from_pairs([(0, 1, 2), (1, 1, 2)])), (), (SpecialToken(b"aa", 2),)
    )
    anatomy = Anatomy(tokenizer)
    assert anatomy.dead_merges == [(1, (1, 1, 2))]
    assert look_up(anatomy, 2).dead_merge_count == 1
