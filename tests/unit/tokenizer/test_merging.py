"""The one loop that merges in Python, and what is told of it, against the textbooks' way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.reports.text.steps.merging import order_of_scores, spell, states, take_back
from bpe_cli.tokenizer.merging import merged, merges
from tests.oracle import character_bpe, encode
from tests.oracle import merging as oracle

letters = st.text("abc", max_size=24)
pairs = st.lists(st.tuples(st.text("abc", min_size=1, max_size=3), st.text("abc", min_size=1, max_size=3)), max_size=12)
scored = st.dictionaries(st.text("abc", min_size=1, max_size=4), st.integers(-4, 0), max_size=12)


def test_the_paper_s_word():
    order = character_bpe.order_of_merges([("e", "s"), ("es", "t</w>"), ("l", "o"), ("lo", "w")])
    told = list(merges(["l", "o", "w", "e", "s", "t</w>"], order))
    assert [(step.number, step.left, step.right) for step in told] == [
        (0, "e", "s"), (1, "es", "t</w>"), (2, "l", "o"), (3, "lo", "w"),
    ]  # fmt: skip
    after = [list(parts) for _, parts in states(["l", "o", "w", "e", "s", "t</w>"], told)]
    assert after[1:] == [["l", "o", "w", "est</w>"], ["lo", "w", "est</w>"], ["low", "est</w>"]]


@given(word=letters, learnt=pairs)
def test_both_tell_what_merging_by_a_list_does(word, learnt):
    order = character_bpe.order_of_merges(learnt)
    told = list(merges(word, order))
    assert list(oracle.merges(word, order)) == told
    left = list(word)
    for (at, left), step in zip(states(word, told), told, strict=True):
        assert left[at] == step.product == step.left + step.right
    assert left == merged(word, order) == oracle.merge(word, order) == encode.encode_by_merges(word, learnt)


@given(
    word=letters,
    scores=scored,
    own=st.sets(st.text("abc", min_size=1, max_size=2), max_size=2),
    unused=st.sets(st.text("abc", min_size=1, max_size=4), max_size=3),
)
def test_scores_pieces_of_one_s_own_and_unused_ones(word, scores, own, unused):
    scores = {text: score for text, score in scores.items() if text not in own}
    unused &= scores.keys()
    symbols = spell(word, own)
    order = order_of_scores(scores)
    told = list(merges(symbols, order))
    assert list(oracle.merges(symbols, order)) == told
    known = (scores.keys() - unused) | own
    found = []
    for _, parts in take_back(symbols, told, unused):
        for part in parts:
            if part in known:
                found.append(part)
            elif found[-1:] != ["<unk>"]:
                found.append("<unk>")
    assert found == character_bpe.encode_by_scores(word, scores, user_defined=own, unused=unused)


def test_a_long_piece_and_a_deep_one():
    order = {("a", "a"): (0, "aa"), ("aa", "aa"): (1, "aaaa")}
    told = list(merges("a" * 20_000, lambda *pair: order.get(pair)))
    assert len(told) == 15_000
    # Each merge takes one more: without recursion it is taken back.
    scores = {"a" * length: float(length) for length in range(2, 3000)}
    done = list(merges("a" * 2999, order_of_scores(scores)))
    assert list(take_back("a" * 2999, done, scores.keys())) == [("a" * 2999, ("a",) * 2999)]
