"""Vocabularies that are made to be slow or to contradict themselves."""

from __future__ import annotations

import sys
from array import array

import pytest

from bpe_cli.reports.tokenizer import reachability
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.stages import MergeBpe, RankBpe, Split, Unigram, WordLevel
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer

BYTES = [bytes([byte]) for byte in range(256)]


def test_a_vocabulary_without_its_alphabet(monkeypatch):
    monkeypatch.setattr(reachability, "_MOST_FAILURES", 1 << 12)
    words = [b"a", *(b"w%d" % number for number in range(300))]
    found = examine(Tokenizer(MergeBpe(Vocabulary.from_tokens(words), Merges.from_pairs([]))))
    assert (found.examined, found.reachable_count) == (301, 1)


def test_a_token_of_a_megabyte():
    long = b"a" * 1_000_000
    model = WordLevel(Vocabulary.from_tokens([b"a", long]))
    assert dict(examine(Tokenizer(model)).counts) == {"plain": 2}
    found = examine(Tokenizer(model, (Split("a"),)))
    assert found.verdicts[1].layer == "undecided"
    assert found.verdicts[1].reason == "its text is longer than the 1,024 bytes up to which texts are tried"


def test_very_many_in_doubt(monkeypatch):
    monkeypatch.setattr(sys.modules[examine.__module__], "_MOST_IN_DOUBT", 10)
    words = [*BYTES, *(b"w %d" % number for number in range(30))]
    made = Tokenizer(RankBpe(Vocabulary.from_tokens(words)), (Split(r"\S+|\s+"),))
    counts = dict(examine(made).counts)
    assert (counts["pieces"], counts["undecided"]) == (10, 20)


@pytest.mark.parametrize("scores", [[0.0, -1.0, -1.0, -2.0], [0.0, -1e300, 1e300, 0.0]])
def test_scores_that_are_equal_or_enormous(scores):
    made = Tokenizer(Unigram(Vocabulary.from_tokens([b"", b"a", b"b", b"ab"]), array("d", scores), 0))
    for token_id, verdict in examine(made, [1, 2, 3]).verdicts.items():
        assert verdict.reachable is None or (token_id in made.encode(verdict.witness or b"ab")) == verdict.reachable


@pytest.mark.parametrize("pattern", [r"(a|b)*(?<x>c)|\w{0,60}(?:\w{0,60}(?:\w{1,60})?)?", r"(?:a*)*", r"\p{L}{2,}?"])
def test_patterns_of_any_kind(pattern):
    words = [*BYTES, b"ab", b"a b", b"abc"]
    found = examine(Tokenizer(RankBpe(Vocabulary.from_tokens(words)), (Split(pattern),)))
    assert found.examined == 259
