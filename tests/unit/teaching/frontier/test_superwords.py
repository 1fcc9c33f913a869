"""The textbook of superwords: worked examples, and what the authors' trainer learnt."""

from __future__ import annotations

import pytest

from bpe_cli.teaching.frontier import superwords
from bpe_cli.teaching.frontier.superwords import inherit, lines_of, train
from tests.oracle.superbpe_cases import counted_lines, read_case
from tests.thorough import more


def test_the_second_stage_crosses_spaces():
    words = {b"of": 3, b" of": 2, b" the": 5}
    runs = {b"of the": 3, b" of the": 2}
    initial = [bytes([letter]) for letter in b" efhot"]
    training = train(words, runs, initial=initial, vocab_size=14, switch=5)
    assert training.merges() == [
        (b" ", b"t"), (b"h", b"e"), (b"o", b"f"), (b" t", b"he"), (b" ", b"of"),
        (b"of", b" the"), (b" of", b" the"),
    ]  # fmt: skip
    assert [step.product for step in training][-2:] == [b"of the", b" of the"]


def test_a_product_may_not_have_too_many_words_or_a_forbidden_text():
    words = {b"a": 9, b" a": 9, b":": 9}
    runs = {b"a a a a": 9, b": a": 8}
    initial = [b" ", b":", b"a"]

    def made(**options):
        training = train(words, runs, initial=initial, vocab_size=20, switch=0, **options)
        return [step.product for step in training]

    assert made(max_words=2) == [b" a", b" a a"]
    assert b"a a a a" in made(max_words=None)
    assert b": a" in made(never_within=())
    assert b": a" not in made()


def test_what_is_taken_over_depends_on_what_has_stood_side_by_side():
    runs = {(b"a", b"b", b"c"): 1, (b"d",): 1}
    merged, kept = inherit(runs, [(b"a", b"b"), (b"b", b"c"), (b"c", b"d")])
    assert merged == {(b"ab", b"c"): 1, (b"d",): 1}
    assert kept == [(b"a", b"b"), (b"b", b"c")], "b c stood there before a b took the b; c d never did"


def test_special_tokens_without_text_keep_a_place_each():
    initial = [b"", b"", b" ", b"a", b"b"]
    training = train({b"ab": 9, b" ab": 9}, {b"ab ab": 9}, initial=initial, vocab_size=7, switch=1)
    assert training.second([(b"a", b"b")])[1].initial == (*initial, b"ab")
    assert training.merges() == [(b"a", b"b"), (b" ", b"ab")]


def test_no_piece_crosses_a_line_end():
    text = b"a\r\n\nb\rc\x0bd"
    assert b"".join(lines_of(text)) == text
    assert all(line.endswith(b"\n") for line in lines_of(text)[:-1])


@pytest.mark.slow
def test_it_learns_what_the_authors_learnt(shared):
    case = read_case(shared, "udhr3-600-300-1200")
    words, runs = (counted_lines(case.texts, pattern) for pattern in (case.words, case.runs))
    for stage in (words, runs):
        assert sum(len(piece) * count for piece, count in stage.items()) == sum(map(len, case.texts))
    alphabet = [token for token in case.tokens if len(token) == 1]
    # The core learns all of them.
    of_first, learnt = more((100, case.switch + 60), (case.switch, len(case.merges)))
    training = superwords.train(words, runs, initial=alphabet, vocab_size=len(alphabet) + learnt, switch=of_first)
    assert training.words.merges() == case.first_merges[:of_first]
    # As ``training.merges`` does, which would train the first stage again.
    kept, second = training.second(case.first_merges[: case.switch])
    assert kept + second.merges() == case.merges[:learnt]
