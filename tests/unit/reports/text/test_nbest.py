"""The best segmentations of a text, against all of them."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import InputError, UsageError
from bpe_cli.reports.text.scores import RankedToken, best_sums, rank
from bpe_cli.stages import SpecialToken
from bpe_cli.trainers import train, unigram
from bpe_cli.trainers.unmerged import WordOptions

CORPUS = ["low lower lowest newest widest hug hugs pug pun bun", "new newer wide low lows"] * 10

# Few different scores, so that sums are often equal; all of them exact, so that equal sums are equal floats.
scores = st.integers(-8, 0).map(lambda number: number / 4)


@st.composite
def parts(draw):
    found = []
    for place in range(draw(st.integers(0, 4))):
        ranked = sorted(draw(st.lists(scores, min_size=1, max_size=4)), reverse=True)
        found.append([((10 * place + number,), score) for number, score in enumerate(ranked)])
    return found


@given(parts=parts(), wanted=st.integers(1, 12))
def test_sums_are_those_of_brute_force(parts, wanted):
    every = [
        (tuple(token_id for ids, _ in way for token_id in ids), sum(score for _, score in way))
        for way in product(*parts)
    ]
    found = best_sums(parts, wanted)
    assert [score for _, score in found] == sorted((score for _, score in every), reverse=True)[:wanted]
    assert set(found) <= set(every)
    assert len({ids for ids, _ in found}) == len(found)


def test_an_earlier_part_decides_between_equal_sums():
    parts = [[((1,), 0.0), ((2,), -1.0)], [((3,), 0.0), ((4,), -1.0)]]
    assert [ids for ids, _ in best_sums(parts, 4)] == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_many_parts_stay_cheap():
    parts = [[((1,), -1.0), ((2,), -1.5)]] * 20_000
    found = best_sums(parts, 3)
    assert [(score, ids.count(2)) for ids, score in found] == [(-20_000.0, 0), (-20_000.5, 1), (-20_000.5, 1)]


@pytest.fixture(scope="module")
def model():
    return train(CORPUS, unigram.Options(vocab_size=45, seed_size=300, special_tokens=("<s>",)))


def cuts(text: str, known: dict[str, tuple[int, float]]):
    """Yield all segmentations of a piece into known tokens, with their scores."""
    if not text:
        yield (), 0.0
    for end in range(1, len(text) + 1):
        if text[:end] in known:
            token_id, score = known[text[:end]]
            for ids, rest in cuts(text[end:], known):
                yield (token_id, *ids), score + rest


@given(
    words=st.lists(st.sampled_from(["low", "new", "hugs", "we", "", "pun"]), min_size=1, max_size=3),
    wanted=st.sampled_from([1, 2, 5, 40, 1024]),
)
def test_rankings_are_those_of_brute_force(model, words, wanted):
    scores = model.model.scores
    known = {token.decode(): (token_id, scores[token_id]) for token_id, token in model.model.vocabulary.items()}
    text = " ".join(words)
    # A mark is put before what does not begin with one.
    pieces = ["▁" + piece for piece in text.removeprefix(" ").split(" ")] if text else []
    every = [
        (tuple(token_id for ids, _ in way for token_id in ids), math.fsum(score for _, score in way))
        for way in product(*(list(cuts(piece, known)) for piece in pieces))
    ]
    found = rank(model, text.encode(), wanted)
    best = sorted((score for _, score in every), reverse=True)[:wanted]
    assert [each.score for each in found.segmentations] == pytest.approx(best, rel=1e-12)
    possible = dict(every)
    for each in found.segmentations:
        ids = tuple(token.token_id for token in each.tokens)
        assert each.score == pytest.approx(possible[ids], rel=1e-12)
        assert b"".join(token.content for token in each.tokens).decode() == "".join(pieces)
    assert len({each.tokens for each in found.segmentations}) == len(found.segmentations)
    assert found.segmentations[0].tokens == tuple(
        RankedToken(token_id, model.token_bytes(token_id)) for token_id in model.encode(text)
    )


def test_special_tokens_stand_for_themselves(model):
    text = b"<s>low new<s>"
    found = rank(model, text, 3, "all")
    for each in found.segmentations:
        assert (each.tokens[0], each.tokens[-1]) == (RankedToken(1, b"<s>", special=True),) * 2
        assert b"<s>" not in [token.content for token in each.tokens[1:-1]]
    assert [token.token_id for token in found.segmentations[0].tokens] == model.encode(text, specials="all")
    plain = rank(model, text, 1)
    assert [token.token_id for token in plain.segmentations[0].tokens] == model.encode(text)


def test_unknown_characters_and_ill_formed_bytes(model):
    for text in ("low 日本 new".encode(), b"low\xff\xfe", b"\xe2\x96", b"\0"):
        found = rank(model, text, 4)
        assert [token.token_id for token in found.segmentations[0].tokens] == model.encode(text)


def test_what_cannot_be_ranked(model, monkeypatch):
    for wanted in (0, -1, 1025):
        with pytest.raises(UsageError, match="from 1 to 1,024 segmentations can be ranked"):
            rank(model, b"low", wanted)
    with pytest.raises(UsageError, match="only a unigram model ranks segmentations, and this is word-level"):
        rank(train(["low"], WordOptions()), b"low", 1)
    with pytest.raises(UsageError, match="'<nosuch>' is not a special token"):
        rank(model, b"low", 1, ["<nosuch>"])
    added = model.with_special_tokens([SpecialToken(b"<a>", 999, special=False, normalized=True)])
    with pytest.raises(UsageError, match="added tokens are looked for in normalized text"):
        rank(added, b"low", 1)
    monkeypatch.setattr("bpe_cli.reports.text.scores.LARGEST_TEXT", 3)
    assert rank(model, b"low", 1).byte_count == 3
    with pytest.raises(InputError, match="the text is longer than"):
        rank(model, b"lows", 1)
