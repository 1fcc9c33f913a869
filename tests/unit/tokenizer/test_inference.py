"""The fewest tokens of any vocabulary: as many as the textbook finds, the same ones, and decoded alike."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import load, train
from bpe_cli.errors import InputError, UsageError
from bpe_cli.stages import (
    CharacterBpe,
    EventBpe,
    FewestTokens,
    GreedyCover,
    MaxMatch,
    MergeBpe,
    RankBpe,
    ScoredBpe,
    SpecialToken,
    Split,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.events import SPLIT
from bpe_cli.stages.spelling import BYTE, NORMAL, UNKNOWN, USER_DEFINED
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.teaching.frontier.path_piece import fewest
from bpe_cli.tokenizer import Tokenizer

BYTES = [bytes([byte]) for byte in range(256)]
PARTS = st.sampled_from([b"a", b"b", b"c", b"\xc3", b"\xa9", "é".encode(), b" "])
TOKENS = st.sets(st.lists(PARTS, min_size=2, max_size=5).map(b"".join), max_size=12).map(sorted)
TEXTS = st.lists(st.sampled_from([*BYTES[97:101], "é".encode(), b"\xc3", b" ", b"\xff"]), max_size=14).map(b"".join)


def by_bytes(tokens: list[bytes], **stages) -> Tokenizer:
    return Tokenizer(RankBpe(Vocabulary.from_tokens([*BYTES, *tokens])), **stages)


@given(TOKENS, TEXTS)
def test_bytes_become_the_tokens_of_the_textbook(tokens, text):
    vocabulary = {token: token_id for token_id, token in enumerate([*BYTES, *tokens])}
    tokenizer = by_bytes(tokens).with_fewest_tokens()
    ids = tokenizer.encode(text)
    assert ids == [vocabulary[token] for token in fewest(text, vocabulary)]
    assert tokenizer.decode_bytes(ids) == text
    assert tokenizer.count(text) == len(ids)


def test_tokens_in_a_character_have_its_span():
    tokens = by_bytes([b"ab"]).with_fewest_tokens().tokens("abé")
    assert [(token.start, token.end) for token in tokens] == [(0, 2), (2, 4), (2, 4)]


@given(TOKENS, TEXTS)
def test_pieces_are_cut_before(tokens, text):
    cut = by_bytes(tokens, pre_tokenizer=(Split(" "),))
    pieces = [part for each in text.split(b" ") for part in (b" ", each)][1:]
    expected = [len(fewest(piece, {*BYTES, *tokens})) for piece in pieces if piece]
    assert cut.with_fewest_tokens().count(text) == sum(expected) <= cut.count(text)


def test_tokens_that_merges_never_make_are_used():
    merges = MergeBpe(Vocabulary.from_tokens([b"a", b"b", b"c", b"ab", b"bc", b"abc"]), Merges(array("I", [0, 1, 3])))
    tokenizer = Tokenizer(merges)
    assert tokenizer.encode("abc") == [3, 2]
    assert tokenizer.with_fewest_tokens().encode("abc") == [5]


def test_special_tokens_are_no_text():
    special = SpecialToken(b"<|end|>", 256)
    tokenizer = by_bytes([b"<|end|>", b"<|en"], special_tokens=(special,))
    ids = tokenizer.with_fewest_tokens().encode("a<|end|>")
    assert ids == [97, 257, *b"d|>"]
    assert tokenizer.with_fewest_tokens().encode("a<|end|>", specials="all") == [97, 256]
    assert tokenizer.with_fewest_tokens().decode([97, 256]) == "a<|end|>"


def test_a_byte_without_a_token_is_refused_as_before():
    with pytest.raises(InputError, match="no token"):
        Tokenizer(RankBpe(Vocabulary.from_tokens([b"a"]))).with_fewest_tokens().encode("ab")


CHARACTERS = [b"<unk>", b"a", b"b", b"ab", b"ba", b"abb"]


@pytest.mark.parametrize(
    "model",
    [
        CharacterBpe(Vocabulary.from_tokens(CHARACTERS), Merges(array("I", [1, 2, 3])), unk_id=0),
        ScoredBpe(Vocabulary.from_tokens(CHARACTERS), array("d", [0, 0, 0, -1, -2, -3]), 0),
        Unigram(Vocabulary.from_tokens(CHARACTERS), array("d", [0, -1, -1, -1, -9, -9]), 0),
        ScoredBpe(
            Vocabulary.from_tokens(CHARACTERS),
            array("d", [0, 0, 0, -1, -2, -3]),
            0,
            bytes([UNKNOWN, NORMAL, NORMAL, USER_DEFINED, NORMAL, NORMAL]),
        ),
    ],
)
def test_models_over_characters(model):
    tokenizer = Tokenizer(model).with_fewest_tokens()
    assert tokenizer.encode("ababb") == [3, 5]
    assert tokenizer.encode("abba") == [3, 4]
    assert tokenizer.encode("axb") == [1, 0, 2]


LETTERS = [b"<unk>", "é".encode(), b"a", b"b", b"c"]
LONGER = st.sets(st.text("éabc", min_size=2, max_size=5), max_size=12).map(sorted)


@pytest.mark.parametrize("model", [GreedyCover, MaxMatch])
@given(LONGER, st.text("éabc", max_size=14))
def test_vocabularies_of_characters_are_cut_as_in_the_textbook(model, longer, text):
    tokens = [*LETTERS, *(token.encode() for token in longer)]
    tokenizer = Tokenizer(model(Vocabulary.from_tokens(tokens), 0))
    ids = tokenizer.with_fewest_tokens().encode(text)
    assert ids == [tokens.index(token) for token in fewest(text.encode(), tokens)]
    assert tokenizer.with_fewest_tokens().encode("xx") == tokenizer.encode("xx")


EVENTS = array("I", [0, 1, 3, 3, 2, 4, 3, SPLIT, SPLIT, 1, 2, 5])
"""``ab`` is made, then ``abc``, then ``ab`` is split for good, and ``bc`` is made."""


@pytest.mark.parametrize("byte_level", [False, True])
def test_what_is_split_for_good_is_left_out(byte_level):
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"c", b"ab", b"abc", b"bc"])
    tokenizer = Tokenizer(EventBpe(vocabulary, EVENTS, byte_level=byte_level)).with_fewest_tokens()
    assert tokenizer.encode("ab") == [0, 1]
    assert tokenizer.encode("ababc") == [0, 1, 4]
    assert tokenizer.encode("abcbc") == [4, 5]
    assert tokenizer.decode([0, 1, 4]) == "ababc"


@pytest.mark.parametrize("algorithm", ["picky", "greedtok"])
def test_trained_vocabularies_need_no_more(algorithm, corpora):
    text = (corpora / "languages" / "en.txt").read_text(encoding="utf-8")
    tokenizer = train([text], algorithm, vocab_size=700)
    least = tokenizer.with_fewest_tokens()
    ids, usual = least.encode(text), tokenizer.encode(text)
    assert len(ids) < len(usual)
    assert least.decode(ids) == tokenizer.decode(usual)


def test_characters_are_not_spelt_in_bytes_if_tokens_hold_them():
    content = [b"<unk>", "é".encode(), b"a", "aé".encode(), *(f"<0x{byte:02X}>".encode() for byte in range(256))]
    kinds = bytes([UNKNOWN, NORMAL, NORMAL, NORMAL, *([BYTE] * 256)])
    vocabulary = Vocabulary.from_tokens(content)
    scored = ScoredBpe(vocabulary, array("d", [0.0] * len(content)), 0, kinds, byte_fallback=True)
    merged = CharacterBpe(vocabulary, Merges(array("I")), unk_id=0, byte_fallback=True)
    for model in (scored, merged):
        tokenizer = Tokenizer(model).with_fewest_tokens()
        assert tokenizer.encode("aéé") == [3, 1]
        assert tokenizer.encode("ö") == [4 + 0xC3, 4 + 0xB6]
        assert len(tokenizer.encode("<0x0A>")) == 6


@pytest.mark.parametrize("kind", ["characters", "bytes", "events"])
def test_an_unknown_token_without_a_text_may_have_the_last_id(kind):
    """As where a file has it among the special tokens only."""
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"ab"])
    model = {
        "characters": CharacterBpe(vocabulary, Merges(array("I", [0, 1, 2])), unk_id=3, fuse_unk=True),
        "bytes": CharacterBpe(vocabulary, Merges(array("I", [0, 1, 2])), unk_id=3, byte_fallback=True),
        "events": EventBpe(vocabulary, array("I", [0, 1, 2]), 3),
    }[kind]
    merged = Tokenizer(model, special_tokens=(SpecialToken(b"<unk>", 3),))
    least = merged.with_fewest_tokens()
    assert least.encode("abxab") == merged.encode("abxab") == [2, 3, 2]
    assert least.encode("a<unk>", specials="all") == [0, 3]
    assert (least.vocab_size, least.token_bytes(3)) == (4, b"<unk>")


@pytest.mark.parametrize("algorithm", ["wordpiece", "bpe"])
def test_trained_vocabularies_with_marks(algorithm, corpora):
    text = (corpora / "languages" / "en.txt").read_text(encoding="utf-8")
    tokenizer = train([text], algorithm, vocab_size=700)
    least = tokenizer.with_fewest_tokens()
    ids, usual = least.encode(text), tokenizer.encode(text)
    assert isinstance(least.model, FewestTokens)
    assert len(ids) < len(usual)
    assert least.decode(ids) == tokenizer.decode(usual)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (WordLevel(Vocabulary.from_tokens([b"a"])), "cannot be found for a model of the kind word-level"),
        (
            CharacterBpe(
                Vocabulary.from_tokens([b"a"]), Merges(array("I")), byte_fallback=True, end_of_word_suffix="$"
            ),
            "have marks and unknown characters become bytes",
        ),
        (MergeBpe(Vocabulary.from_tokens([b"a"]), Merges(array("I")), texts=((1, b"x"),)), "not spelt in bytes"),
    ],
)
def test_what_has_no_fewest_tokens(model, message):
    with pytest.raises(UsageError, match=message):
        Tokenizer(model).with_fewest_tokens()


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_named_encodings(name, corpora):
    text = (corpora / "languages" / "en.txt").read_text(encoding="utf-8") + "naïve 漢字 🙂\n\n  x"
    merged = load(name)
    tokenizer = merged.with_fewest_tokens()
    ids = tokenizer.encode(text)
    assert len(ids) < len(merged.encode(text))
    assert tokenizer.decode(ids) == text == merged.decode(ids)
