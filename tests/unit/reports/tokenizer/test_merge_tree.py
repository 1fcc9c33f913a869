"""Merge trees: by hand, against merging that is written down, and hostile ones."""

from __future__ import annotations

from array import array
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.tokenizer import merge_tree as module
from bpe_cli.reports.tokenizer.lookup import look_up
from bpe_cli.reports.tokenizer.merge_tree import MergeTree, Node, merge_tree, shape_of
from bpe_cli.reports.tokenizer.structure import Anatomy
from bpe_cli.stages import CharacterBpe, MergeBpe, RankBpe, ScoredBpe, Unigram
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.tokenizer.merging import of_ranks
from tests.counted import at_least, compared
from tests.thorough import more
from tests.unit.reports.published import published

ALPHABET = [b"a", b"b", b"c"]


def parts_of(tree):
    return {token_id: tree.parts(token_id) for token_id in range(len(tree.left)) if tree.parts(token_id)}


def test_by_hand():
    vocabulary = Vocabulary.from_tokens([*ALPHABET, b"ab", b"abc", b"", b"abcab", b"zz"])
    tree = merge_tree(MergeBpe(vocabulary, Merges.from_pairs([(0, 1, 3), (3, 2, 4), (4, 3, 6)])))
    assert parts_of(tree) == {3: (0, 1), 4: (3, 2), 6: (4, 3)}
    assert [*tree.depth] == [0, 0, 0, 1, 2, 0, 3, 0]
    assert tree.children == {0: [3], 1: [3], 2: [4], 3: [4, 6], 4: [6]}
    assert tree.descendants(1) == {3, 4, 6}
    assert tree.descendants(6) == set()
    assert [(node.level, node.token_id) for node in tree.nodes(6)] == [
        (0, 6), (1, 4), (2, 3), (3, 0), (3, 1), (2, 2), (1, 3), (2, 0), (2, 1),
    ]  # fmt: skip
    assert [*tree.nodes(6, 2)] == [Node(0, 6, True), Node(1, 4, True)]
    assert [*tree.nodes(7)] == [Node(0, 7, False)]
    # "abcab" three times and "ab" once: "ab" is made 2 * 3 + 1 times.
    assert tree.times_made({6: 3, 3: 1, 99: 5}) == [7, 7, 3, 7, 3, 0, 3, 0]
    shape = shape_of(tree, [0, 1, 2, 3, 4, 6, 7])
    assert (shape.made, shape.mean_depth, shape.depths) == (3, 2.0, ((0, 4), (1, 1), (2, 1), (3, 1)))
    assert (shape.leaves, shape.leaf_share) == (2, 2 / 7)
    assert shape.deepest == ((6, 3), (4, 2), (3, 1))
    assert [(each.lowest, each.tokens) for each in shape.depth_bins] == [(1, 1), (2, 1), (3, 1)]


def test_of_several_merges_the_one_that_its_own_text_comes_to():
    vocabulary = Vocabulary.from_tokens([*ALPHABET, b"ab", b"bc", b"abc"])
    merges = [(3, 2, 5), (1, 2, 4), (0, 1, 3), (0, 4, 5)]
    assert merge_tree(MergeBpe(vocabulary, Merges.from_pairs(merges))).parts(5) == (0, 4)
    merges = [(0, 4, 5), (0, 1, 3), (1, 2, 4), (3, 2, 5)]
    assert merge_tree(MergeBpe(vocabulary, Merges.from_pairs(merges))).parts(5) == (3, 2)


@pytest.mark.parametrize("kind", [MergeBpe, CharacterBpe])
def test_of_a_pair_that_appears_twice_the_first_counts(kind):
    """As the model merges; files in which the last one counts are read so that each stands once."""
    vocabulary = Vocabulary.from_tokens([*ALPHABET, b"ab", b"bc", b"abc"])
    twice = [(0, 1, 3), (1, 2, 4), (0, 1, 3)]
    assert Tokenizer(kind(vocabulary, Merges.from_pairs(twice))).encode("abc") == [3, 2]
    whole = Tokenizer(kind(vocabulary, Merges.from_pairs([*twice, (0, 4, 5), (3, 2, 5)])))
    assert whole.encode("abc") == [5]
    assert merge_tree(whole.model).parts(5) == (3, 2)
    assert [look_up(Anatomy(whole), token_id).rank for token_id in (3, 4, 5)] == [0, 1, 4]


def test_ends_of_words_and_prefixes():
    texts = ["a", "b", "b</w>", "ab</w>", "##b", "##a", "ab", "##ab"]
    ends = CharacterBpe(
        Vocabulary.from_tokens(text.encode() for text in texts),
        Merges.from_pairs([(0, 2, 3), (0, 4, 6), (5, 4, 7)]),
        end_of_word_suffix="</w>",
    )
    assert parts_of(merge_tree(ends)) == {3: (0, 2), 6: (0, 4), 7: (5, 4)}


def test_scores():
    texts = ["<unk>", "▁", "a", "b", "▁a", "ab", "▁ab"]
    vocabulary = Vocabulary.from_tokens([b"", *(text.encode() for text in texts[1:])])
    early, late = ([0, -9, -9, -9, *scores] for scores in ([-1, -2, -3], [-2, -1, -3]))
    kinds = bytes([2, *[1] * 6])
    assert merge_tree(ScoredBpe(vocabulary, array("d", early), 0, kinds)).parts(6) == (4, 3)
    assert merge_tree(ScoredBpe(vocabulary, array("d", late), 0, kinds)).parts(6) == (1, 5)


def test_models_without_merges():
    vocabulary = Vocabulary.from_tokens(ALPHABET)
    assert merge_tree(Unigram(vocabulary, array("d", [0, 0, 0]))) is None


def test_ranks_that_no_merges_can_replace():
    """A byte is missing, a token appears twice: the trees of the others are given all the same."""
    vocabulary = Vocabulary.from_tokens([*ALPHABET, b"ab", b"xa", b"abc", b"ab", b"bc"])
    assert parts_of(merge_tree(RankBpe(vocabulary))) == {5: (3, 2), 7: (1, 2), 3: (0, 1), 6: (0, 1)}


def last_merge(symbols, rules):
    """Merge as the definition says, the lowest priority first and the leftmost of equals; what is the last pair?"""
    last = None
    while True:
        places = [(rules[pair][0], at) for at, pair in enumerate(pairwise(symbols)) if pair in rules]
        if not places:
            return symbols, last
        _, at = min(places)
        last = symbols[at], symbols[at + 1]
        symbols = [*symbols[:at], rules[last][1], *symbols[at + 2 :]]


@st.composite
def merges(draw):
    """Merges of random pairs, in an order that need not be one that training gives."""
    tokens = [*ALPHABET]
    triples = []
    for _ in range(draw(st.integers(1, 14))):
        left, right = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        text = tokens[left] + tokens[right]
        if len(text) > 12 or any(triple[:2] == (left, right) for triple in triples):
            continue
        if text not in tokens:
            tokens.append(text)
        triples.append((left, right, tokens.index(text)))
    return tokens, draw(st.permutations(triples))


@given(merges())
def test_as_merging_does(drawn):
    tokens, triples = drawn
    tree = merge_tree(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(triples)))
    rules = {(left, right): (priority, product) for priority, (left, right, product) in enumerate(triples)}
    for token_id, text in enumerate(tokens):
        symbols, last = last_merge([tokens.index(text[at : at + 1]) for at in range(len(text))], rules)
        makers = [pair for pair, (_, product) in rules.items() if product == token_id]
        if symbols == [token_id] and last:
            assert tree.parts(token_id) == last
        elif makers:
            assert tree.parts(token_id) in makers
        else:
            assert tree.parts(token_id) is None


def tree_by_merging(model):
    """Return the tree without what ranks say."""
    with mock.patch.object(module, "_settled", return_value={}):
        return parts_of(merge_tree(model))


@at_least(7)
@given(merges())
@pytest.mark.parametrize("ignore_merges", [False, True])
def test_ranks_say_what_merging_does(ignore_merges, drawn):
    """Every pair that makes a token is listed, in the order of what they make: so it is in files made of ranks."""
    ranks = {token: rank for rank, token in enumerate(sorted(drawn[0], key=len))}
    pairs = [
        (ranks[token[:at]], ranks[token[at:]], rank)
        for token, rank in ranks.items()
        for at in range(1, len(token))
        if token[:at] in ranks and token[at:] in ranks
    ]
    model = MergeBpe(Vocabulary.from_tokens([*ranks]), Merges.from_pairs(pairs), ignore_merges)
    assert parts_of(merge_tree(model)) == tree_by_merging(model)
    if module._settled(model) and len({product for _, _, product in pairs}) < len(pairs):
        compared()


@pytest.mark.slow
def test_ranks_say_what_merging_does_in_llama_3(shared):
    model = published(shared / "vocabs" / "hf-llama3").tokenizer.model
    settled = module._settled(model)
    assert len(settled) > 100_000
    every = more(8, 1)  # one token in so many is merged
    others = {token_id: pair for token_id, pair in settled.items() if token_id % every}
    with mock.patch.object(module, "_settled", side_effect=[settled, others]):
        tree, merged = merge_tree(model), merge_tree(model)
    assert (tree.left, tree.right) == (merged.left, merged.right)


@at_least(74)
@given(merges(), st.data())
def test_as_merging_by_scores_does(drawn, data):
    tokens = [text.decode() for text in drawn[0]]
    scores = data.draw(st.lists(st.integers(-5, 0), min_size=len(tokens), max_size=len(tokens)))
    model = ScoredBpe(Vocabulary.from_tokens([b"", *drawn[0]]), array("d", [0, *scores]), 0)
    tree = merge_tree(model)
    ids = {text: number for number, text in enumerate(tokens)}
    rules = {
        (left, right): (-scores[ids[one + other]], ids[one + other])
        for left, one in enumerate(tokens) for right, other in enumerate(tokens) if one + other in ids
    }  # fmt: skip
    for token_id, text in enumerate(tokens):
        symbols, last = last_merge([ids[character] for character in text], rules)
        if symbols == [token_id] and last:
            assert tree.parts(token_id + 1) == (last[0] + 1, last[1] + 1)
            compared()


@given(merges(), st.lists(st.integers(0, 9), max_size=20))
def test_shape_and_counts_as_written_down(drawn, uses):
    tokens, triples = drawn
    tree = merge_tree(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(triples)))

    def leaves_and_depth(token_id):
        pair = tree.parts(token_id)
        if pair is None:
            return [], 0
        (left, left_depth), (right, right_depth) = map(leaves_and_depth, pair)
        return [*pair, *left, *right], 1 + max(left_depth, right_depth)

    held = {token_id: leaves_and_depth(token_id) for token_id in range(len(tokens))}
    for token_id, (parts, depth) in held.items():
        assert tree.depth[token_id] == depth
        assert tree.descendants(token_id) == {other for other, (inside, _) in held.items() if token_id in inside}
        assert sorted(node.token_id for node in tree.nodes(token_id)) == sorted([token_id, *parts])
    used = dict(zip(range(len(tokens)), uses, strict=False))
    made = [used.get(token_id, 0) for token_id in held]
    for token_id, times in used.items():
        for part in held[token_id][0]:
            made[part] += times
    assert tree.times_made(used) == made
    parts = {part for inside, _ in held.values() for part in inside}
    assert shape_of(tree, held).leaves == sum(token_id not in parts for token_id in held)


def test_known_trees():
    """gpt2's merges are all there; a rank's parts are those of recovered merges."""
    model = named_encodings.named("gpt2").model
    tree = merge_tree(model)
    assert len(tree.order) == 50_000
    merges = of_ranks(model.vocabulary).merges
    assert parts_of(tree) == {product: (left, right) for left, right, product in merges}
    parts = {part for left, right, _ in merges for part in (left, right)}
    shape = shape_of(tree, (token_id for token_id, _ in model.vocabulary.items()))
    assert shape.leaves == sum(token_id not in parts for token_id, _ in model.vocabulary.items())
    assert dict(shape.depths)[0] == 256


def test_a_tree_as_deep_as_its_vocabulary():
    size = 20_000
    tree = MergeTree(size, {number: (number - 1, 0) for number in range(1, size)})
    assert tree.depth[size - 1] == size - 1
    assert len(tree.descendants(0)) == size - 1
    assert sum(1 for _ in tree.nodes(size - 1)) == 2 * size - 1
    assert [node.level for node in tree.nodes(size - 1, 3)] == [0, 1, 2]
    assert tree.times_made({size - 1: 1})[:2] == [size, 1]
    assert shape_of(tree, range(size)).deepest[0] == (size - 1, size - 1)


def test_what_would_be_part_of_itself_is_left_out():
    tree = MergeTree(5, {1: (1, 0), 2: (3, 0), 3: (2, 0), 4: (0, 0)})
    assert parts_of(tree) == {4: (0, 0)}
    assert tree.descendants(0) == {4}
    texts = ["a", "##", "##a"]  # "a" and "##" are "a"
    model = CharacterBpe(
        Vocabulary.from_tokens(text.encode() for text in texts),
        Merges.from_pairs([(0, 1, 0), (1, 2, 2), (1, 1, 1)]),
        continuing_subword_prefix="##",
    )
    assert parts_of(merge_tree(model)) == {}


def test_a_long_token_of_several_merges():
    tokens = [b"a" * length for length in range(1, 2001)]
    triples = [(length - 2, 0, length - 1) for length in range(2, 2001)]
    triples += [(0, length - 2, length - 1) for length in range(3, 2001)]
    tree = merge_tree(MergeBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(triples)))
    assert tree.depth[1999] > 1000
