"""Residues of merging: by hand, and against the textbook's replay of a corpus, merge by merge."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.tokenizer.corpus_report import count_frequencies, examine_corpus
from bpe_cli.reports.tokenizer.merge_tree import merge_tree
from bpe_cli.reports.tokenizer.residues import Residues, scaffold_limit, shares_taken
from bpe_cli.reports.tokenizer.structure import Anatomy
from bpe_cli.stages import MergeBpe, RankBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.teaching.bpe import byte_words, merge_word
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bbpe, train
from tests.counted import at_least, compared

WORDS = st.lists(st.text("abcd", min_size=1, max_size=9), min_size=1, max_size=14)


def residues_of(tokenizer: Tokenizer, texts: list[bytes], share: float = 0.05) -> Residues:
    anatomy = Anatomy(tokenizer)
    found = examine_corpus(anatomy, count_frequencies(tokenizer, [Block.of(texts)]), share).residues
    assert found is not None
    return found


def test_by_hand():
    """``ab`` is made for every "abc", and left twice; the merge to ``abc`` takes 150 of 152, nothing takes ``abc``."""
    tokens = [b"a", b"b", b"c", b"d", b"ab", b"abc", b"cd"]
    model = MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([(0, 1, 4), (4, 2, 5), (2, 3, 6)]))
    found = residues_of(Tokenizer(model), [b"abc"] * 150 + [b"ab"] * 2 + [b"cd"] * 99)
    (only,) = found.tokens
    assert (only.token.content, only.final, only.made, only.ratio) == (b"ab", 2, 152, 2 / 152)
    assert (only.taken, only.mainly.content, only.child_count, only.scaffold) == (150 / 152, b"abc", 1, True)
    assert (found.count, found.measured, found.vocabulary_share, found.never_final) == (1, 2, 1 / 7, 0)
    assert (found.final_count, found.final_share) == (2, 2 / 251)
    assert found.staying == ((0.0, 0), (0.01, 0), (0.02, 1), (0.05, 1), (0.1, 1), (0.2, 1))
    assert found.taken == ((0.6, 1), (0.7, 1), (0.8, 1), (0.9, 1))
    assert (found.scaffold_limit, found.scaffolds) == (99, 1)


def test_the_worst_come_first():
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abc", b"bca"]
    merges = [(0, 1, 3), (1, 2, 4), (3, 2, 5), (4, 0, 6)]
    tokenizer = Tokenizer(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(merges)))
    texts = [b"abc"] * 300 + [b"ab"] * 3 + [b"bca"] * 200
    assert [(each.token.content, each.final) for each in residues_of(tokenizer, texts).tokens] == [
        (b"bc", 0),
        (b"ab", 3),
    ]
    assert [each.token.content for each in residues_of(tokenizer, texts, 0.0).tokens] == [b"bc"]
    assert residues_of(tokenizer, texts, 1.0).count == 2  # of abc and bca nothing is taken


def test_what_a_token_mainly_becomes():
    """``ab`` becomes ``abc`` 300 times; of the 20 that are left then, all become ``abd``, which is the larger part."""
    tokens = [b"a", b"b", b"c", b"d", b"ab", b"abc", b"abd"]
    model = MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([(0, 1, 4), (4, 2, 5), (4, 3, 6)]))
    (only,) = residues_of(Tokenizer(model), [b"abc"] * 300 + [b"abd"] * 20).tokens
    assert (only.token.content, only.taken, only.mainly.content, only.child_count) == (b"ab", 1.0, b"abc", 2)


def test_a_merge_of_a_token_with_itself_counts_each_place_once():
    """As in PickyBPE's code: three merges, and one ``a`` that is left of seven."""
    tokens = [b"a", b"aa"]
    tree = merge_tree(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([(0, 0, 1)])))
    taken, mainly = shares_taken(tree, tree.times_made({0: 1, 1: 3}))
    assert ([*taken], [*mainly]) == ([3 / (1 + 3), 0.0], [1, 0])


def test_no_merges_no_residues():
    tree = merge_tree(RankBpe(Vocabulary.from_tokens([b"a", b"b"])))
    assert scaffold_limit(tree, [3, 4]) == 0
    found = residues_of(Tokenizer(RankBpe(Vocabulary.from_tokens([b"a", b"b"]))), [b"ab"])
    assert (found.count, found.measured, found.scaffolds, found.final_share) == (0, 0, 0, 0.0)


ALPHABET = [b"a", b"b", b"c"]


@st.composite
def merges_in_any_order(draw):
    tokens, triples = [*ALPHABET], {}
    for _ in range(draw(st.integers(1, 14))):
        left, right = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        text = tokens[left] + tokens[right]
        if len(text) <= 12:
            tokens += [] if text in tokens else [text]
            triples[left, right] = tokens.index(text)
    return tokens, draw(st.permutations([(*pair, product) for pair, product in triples.items()]))


def passed_through(symbols, rules, made):
    """Merge the pair that comes first, the leftmost of equals, one step after the other; count all that is made."""
    made.update(symbols)
    while True:
        places = [(rules[pair][0], at) for at, pair in enumerate(pairwise(symbols)) if pair in rules]
        if not places:
            return symbols
        _, at = min(places)
        product = rules[symbols[at], symbols[at + 1]][1]
        made[product] += 1
        symbols = [*symbols[:at], product, *symbols[at + 2 :]]


@given(merges_in_any_order(), st.lists(st.text("abc", min_size=1, max_size=14), min_size=1, max_size=8))
def test_made_as_merging_passes_through_a_corpus(drawn, words):
    """However the merges are ordered: from what is left of each piece follows all that was made of it."""
    tokens, triples = drawn
    rules = {(left, right): (priority, product) for priority, (left, right, product) in enumerate(triples)}
    made, left = Counter(), Counter()
    for word in words:
        left.update(passed_through([ALPHABET.index(letter.encode()) for letter in word], rules, made))
    tree = merge_tree(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(triples)))
    assert tree.times_made(left) == [made[token_id] for token_id in range(len(tokens))]


def replayed(words, merges):
    """Do each merge everywhere, as in training, and note the largest part it takes of its parts, as PickyBPE counts."""
    there = Counter()
    for word, count in words.items():
        for symbol in word:
            there[symbol] += count
    largest, times = {}, 0
    for left, right in merges:
        after, times = {}, 0
        for word, count in words.items():
            new = merge_word(word, (left, right), left + right)
            after[new] = after.get(new, 0) + count
            times += (len(word) - len(new)) * count
        words = after
        there[left + right] += times
        there[left] -= times
        there[right] -= times
        for part in (left, right):
            if times:
                largest[part] = max(largest.get(part, 0.0), times / (there[part] + times))
    return there, largest, times


@at_least(12)
@pytest.mark.parametrize("other", [False, True], ids=["on its own text", "on another"])
@given(st.data())
def test_as_the_textbook_replays_a_corpus(other, data):
    words = data.draw(WORDS)
    tokenizer = byte_level(words, data.draw(st.integers(1, 30)))
    if not isinstance(tokenizer.model, MergeBpe) or not len(tokenizer.model.merges):
        return
    texts = data.draw(WORDS) if other else words
    vocabulary = tokenizer.model.vocabulary
    merges = [(vocabulary.token(left), vocabulary.token(right)) for left, right, _ in tokenizer.model.merges]
    pieces = Counter(word.encode() for word in texts)
    there, largest, last = replayed(byte_words(pieces), merges)
    anatomy = Anatomy(tokenizer)
    found = count_frequencies(tokenizer, [Block.of([word.encode() for word in texts])])
    made = anatomy.tree.times_made(dict(found.items()))
    taken, _ = shares_taken(anatomy.tree, made)
    for token_id, content in vocabulary.items():
        assert found.of(token_id) == there[content], content
        assert taken[token_id] == largest.get(content, 0.0), content
    assert scaffold_limit(anatomy.tree, made) == last  # of fewer than 200 merges the last one alone
    compared()


def byte_level(words: list[str], merges: int) -> Tokenizer:
    return train([" ".join(words)], bbpe.Options(vocab_size=256 + merges, pattern="[a-z]+| +"))
