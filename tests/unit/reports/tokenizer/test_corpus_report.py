"""What a corpus uses of a vocabulary: by hand, and residues against counting every tree by itself."""

from __future__ import annotations

from array import array

import pytest

from bpe_cli.reports.tokenizer.corpus_report import (
    Frequencies,
    count_frequencies,
    examine_corpus,
)
from bpe_cli.reports.tokenizer.residues import LEAST_MADE, SHARE
from bpe_cli.reports.tokenizer.structure import Anatomy
from bpe_cli.stages import RankBpe, SpecialToken, WordLevel
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from tests.unit.reports.published import published

TOKENS = [b"a", b"b", b"c", b"\xff", b"ab", b"abc", b"bc", b"abcab"]
TINY = Tokenizer(RankBpe(Vocabulary.from_tokens(TOKENS)), special_tokens=(SpecialToken(b"<s>", 8),))


def test_by_hand():
    found = count_frequencies(TINY, [Block.of([b"abcab", b"abc", b"c", b"a<s>"] * 50)], specials="all")
    report = examine_corpus(Anatomy(TINY), found)
    assert (report.document_count, report.byte_count, report.token_count) == (200, 650, 250)
    assert (report.used, report.unused, report.unused_ids) == (4, 4, (1, 3, 4, 6))
    assert (report.unused_share, report.special_used) == (0.5, 1)
    assert report.at_most == ((0, 4), (1, 4), (2, 4), (5, 4), (10, 4), (100, 8))
    assert report.mean_count == 250 / 8
    assert report.bound == pytest.approx(3 / 250, rel=0.01)
    assert [(each.token.content, each.count, each.frequency) for each in report.head] == [
        (content, 50, 0.2) for content in (b"a", b"c", b"abc", b"abcab", b"<s>")
    ]
    assert report.coverage == ((0.5, 3), (0.8, 4), (0.9, 5), (0.95, 5), (0.99, 5), (1.0, 5))
    assert (report.unused_by_kind, report.unused_parts) == ((1, 1, 2), 2)
    assert [token.token_id for token in report.unused_examples] == [4, 6]
    # "ab" is made for every "abc" and twice for every "abcab", and never stays.
    assert [(each.token.token_id, each.made) for each in report.residues.tokens] == [(4, 150)]


def test_how_large_a_corpus_must_be():
    counts = array("Q", [0] * 8)
    counts[0] = 40_000_000
    report = examine_corpus(Anatomy(TINY), Frequencies(counts, {}, 1, 1, 40_000_000))
    assert [(each.frequency, each.tokens, each.known) for each in report.rare] == [
        (1e-6, 7, True), (1e-7, 7, True), (1e-8, 7, False),
    ]  # fmt: skip
    assert [each.needed for each in report.rare] == [2_995_733, 29_957_323, 299_573_228]
    counts[1] = 1
    report = examine_corpus(Anatomy(TINY), Frequencies(counts, {}, 1, 1, 40_000_001))
    assert [each.tokens for each in report.rare] == [7, 7, 6]


def test_no_text_at_all():
    report = examine_corpus(Anatomy(TINY), count_frequencies(TINY, []))
    assert (report.unused, report.bound, report.head) == (8, None, ())
    assert {rank for _, rank in report.coverage} == {0}
    assert (report.residues.count, report.unused_parts) == (0, 0)


def test_models_that_do_not_merge_have_no_residues():
    tokenizer = Tokenizer(WordLevel(Vocabulary.from_tokens([b"a", b"b"]), unk_id=0))
    report = examine_corpus(Anatomy(tokenizer), count_frequencies(tokenizer, [Block.of([b"b"])]))
    assert (report.unused_parts, report.residues) == (None, None)


def test_residues_by_counting_every_tree(corpora):
    anatomy = published("gpt2").anatomy
    texts = [path.read_bytes() for path in sorted(corpora.rglob("*.txt"))]
    found = count_frequencies(anatomy.tokenizer, [Block.of(texts)])
    made = dict.fromkeys(range(50_257), 0)
    for token_id, count in found.items():
        for node in anatomy.tree_of(token_id, None):
            made[node.token.token_id] += count
    report = examine_corpus(anatomy, found)
    residues = {
        (token_id, times) for token_id, times in made.items()
        if times >= LEAST_MADE and found.of(token_id) <= SHARE * times and anatomy.tree.parts(token_id)
    }  # fmt: skip
    assert {(each.token.token_id, each.made) for each in report.residues.tokens} == residues
    assert len(residues) > 0
    assert report.unused_parts == sum(made[token_id] > 0 for token_id in report.unused_ids)
    assert report.used + report.unused == 50_256
