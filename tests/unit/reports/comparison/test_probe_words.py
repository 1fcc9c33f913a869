"""Given words: all numbers recounted place by place, and laws that hold for any text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.corpus.given_words import parse_words
from bpe_cli.errors import InputError
from bpe_cli.reports.comparison.probe_words import laid_out, probe_words
from bpe_cli.stages import ByteLevel, CharacterBpe, LongestMatch
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer, named_encodings
from bpe_cli.trainers import TRAINERS, train
from tests.counted import at_least, compared

TEXT = ["ab abc cab bca a b c New York 你是谁 你是我"] * 3
MODELS = {
    "gpt2": named_encodings.find("gpt2"),
    "bbpe": train(TEXT, TRAINERS["bbpe"].Options(vocab_size=290)),
    "unigram": train(TEXT, TRAINERS["unigram"].Options(vocab_size=40)),
    "bpe": train(TEXT, TRAINERS["bpe"].Options(vocab_size=60)),
}
PARTS = st.lists(st.sampled_from(["ab", "c", "abc", "你", "是谁", " ", "  ", "New York"]), max_size=8)


def words_of(parts):
    return tuple((part, not part.isspace()) for part in parts)


def by_hand(tokenizer, parts):
    """Look at each place between two bytes by itself."""
    text, words = laid_out(words_of(parts))
    tokens = tokenizer.tokens(text)
    ends = {token.end for token in tokens}
    places = [place for place in range(1, len(text)) if place in ends]
    borders = []
    for (_, end), (start, _) in pairwise(words):
        borders.append(set(range(end, start + 1)))
    uncut = [
        (start, end)
        for start, end in words
        if not any(start < place < end for place in places)
        and not any(sum(token.end == place for token in tokens) > 1 for place in range(start + 1, end + 1))
    ]
    alone = 0
    for start, end in uncut:
        # Walk from the word to both sides, until a token's end: on the way there is no part of a word.
        low, high = start, end
        while low and low not in ends:
            low -= 1
        while high < len(text) and high not in ends:
            high += 1
        others = [span for span in words if span != (start, end)]
        here = [token for token in tokens if low < token.end <= high]
        known = len(here) == 1 and here[0].token_id != tokenizer.model.unk_id
        alone += known and not any(other[0] < high and low < other[1] for other in others)
    return {
        "word_count": len(words),
        "token_count": len(tokens),
        "uncut": len(uncut),
        "one_token": alone,
        "border_count": len(borders),
        "hit_borders": sum(1 for border in borders if border & set(places)),
        "boundary_count": len(places),
        "hit_boundaries": sum(1 for place in places if any(place in border for border in borders)),
    }


@pytest.mark.parametrize("name", MODELS)
@at_least(30)
@given(PARTS)
def test_recounted(name, parts):
    tokenizer = MODELS[name]
    ((cost,),) = probe_words([tokenizer], {"x": [words_of(parts)]}).results
    expected = by_hand(tokenizer, parts)
    assert {key: getattr(cost, key) for key in expected} == expected
    compared()


@at_least(30)
@given(st.lists(PARTS, max_size=4))
def test_laws(texts):
    files = {"x": [words_of(parts) for parts in texts]}
    probe = probe_words(list(MODELS.values()), files)
    alone = [probe_words(list(MODELS.values()), {"x": [each]}) for each in files["x"]]
    for number, (cost,) in enumerate(probe.results):
        assert 0 <= cost.one_token <= cost.uncut <= cost.word_count
        assert cost.hit_borders <= cost.border_count <= cost.word_count
        assert cost.hit_borders <= cost.hit_boundaries <= cost.boundary_count
        for key in ("word_count", "token_count", "one_token", "hit_borders", "boundary_count"):
            assert getattr(cost, key) == sum(getattr(each.results[number][0], key) for each in alone)
        if cost.f1:
            assert min(cost.precision, cost.recall) <= cost.f1 <= max(cost.precision, cost.recall)
        compared()
    assert probe_words(list(MODELS.values()), files, threads=3) == probe


def test_a_tokenizer_of_the_words_themselves():
    tokenizer = named_encodings.find("o200k_base")
    ((cost,),) = probe_words([tokenizer], {"zh": [words_of(["我", "喜欢", "北京", "大学"])]}).results
    assert (cost.fertility, cost.one_token_share, cost.precision, cost.recall, cost.f1) == (1, 1, 1, 1, 1)
    ((cost,),) = probe_words([tokenizer], {"x": [words_of(["New", " ", "York"])]}).results
    assert (cost.token_count, cost.one_token, cost.hit_borders, cost.precision) == (2, 2, 1, 1)


def test_a_word_in_byte_tokens_is_not_one_token():
    """Each byte of 世 is a token, as by SentencePiece's byte fallback; all of them end where the character does."""
    tokens = [b"<0x%02X>" % byte for byte in range(256)] + [b"a"]
    tokenizer = Tokenizer(CharacterBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs([]), byte_fallback=True))
    ((cost,),) = probe_words([tokenizer], {"x": [words_of(["世", "a", "世"])]}).results
    assert (cost.token_count, cost.uncut, cost.one_token, cost.unknown_count) == (7, 1, 1, 0)


@pytest.mark.parametrize(("unk_id", "one_token"), [(0, 2), (None, 1)])
def test_a_word_that_is_unknown_or_left_out_is_not_one_token(unk_id, one_token):
    """No token has a z. Where it is left out, it counts with the b that follows."""
    tokenizer = Tokenizer(LongestMatch(Vocabulary.from_tokens([b"?", b"a", b"b"]), unk_id=unk_id))
    ((cost,),) = probe_words([tokenizer], {"x": [words_of(["z"]), words_of(["a", "z", "b"])]}).results
    assert (cost.word_count, cost.one_token, cost.unknown_count) == (4, one_token, 2)


@pytest.mark.parametrize("unk_id", [3, None])
def test_a_word_of_which_a_part_is_unknown_or_left_out_is_not_one_token(unk_id):
    model = CharacterBpe(Vocabulary.from_tokens([b"q", b"a", b" ", b"?"]), Merges.from_pairs([]), unk_id=unk_id)
    texts = [words_of(["xq", " ", "zzza"]), words_of(["q", " ", "a"])]
    ((cost,),) = probe_words([Tokenizer(model)], {"x": texts}).results
    assert (cost.word_count, cost.one_token, cost.unknown_count) == (4, 2, 4)


def test_a_word_whose_last_byte_is_left_out_is_not_one_token():
    """The token of the first byte of é ends where é does."""
    model = CharacterBpe(Vocabulary.from_tokens([to_visible(b"\xc3").encode()]), Merges.from_pairs([]))
    ((cost,),) = probe_words([Tokenizer(model, (ByteLevel(),))], {"x": [words_of(["é"])]}).results
    assert (cost.token_count, cost.uncut, cost.one_token, cost.unknown_count) == (1, 1, 0, 1)


def test_nothing_to_divide_by():
    ((cost,),) = probe_words([MODELS["gpt2"]], {"x": [words_of(["a"])]}).results
    assert (cost.precision, cost.recall, cost.f1, cost.fertility) == (None, None, None, 1)
    ((cost,),) = probe_words([MODELS["gpt2"]], {"x": [words_of(["q", "z"])]}).results
    assert cost.recall == 1


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        ("你 是谁\n我\n", [["你", "是谁"], ["我"]]),
        ("ฉัน\u200bรัก  ไทย\r\n\n", [["ฉัน", "รัก", "ไทย"]]),
        ("\ufeffa\u3000b", [["a", "b"]]),
        ("New York\tis\n", [["New York", "is"]]),
    ],
)
def test_what_is_read(data, texts):
    assert [[part for part, is_word in each if is_word] for each in parse_words(data.encode(), "x")] == texts


def test_blanks_between_tabs_are_text():
    assert parse_words(b"a\t \tb\t\t c\n", "x") == [(("a", True), (" ", False), ("b", True), (" c", True))]


@pytest.mark.parametrize(
    ("data", "told"), [(b"", "has no words"), (b" \n\t\n", "has no words"), (b"\xff", "not UTF-8")]
)
def test_what_is_refused(data, told):
    with pytest.raises(InputError, match=told) as refused:
        parse_words(data, "x")
    assert "each line is a text" in str(refused.value.hint)


@given(st.lists(st.lists(st.text("ab你ก", min_size=1, max_size=4), min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_separator_gives_the_same_words(texts):
    for between in (" ", "\t", "  ", "\u200b") if any(len(each) > 1 for each in texts) else (" ",):
        data = "\n".join(between.join(words) for words in texts).encode()
        assert [[part for part, _ in each] for each in parse_words(data, "x")] == texts
