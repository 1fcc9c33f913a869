"""Two ways through the engine: whatever both can run, both run alike; and nobody needs a tokenizer to run one."""

from __future__ import annotations

from array import array
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.errors import FormatError, InputError
from bpe_cli.stages import (
    NFC,
    Digits,
    MergeBpe,
    PrefixSpace,
    RankBpe,
    Replace,
    SpecialToken,
    Split,
    WhitespaceSplit,
    WordLevel,
)
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.engine import EngineParts, Sampling, only_splits
from bpe_cli.tokenizer.engine.compiled import Engine

BYTES = [bytes([byte]) for byte in range(256)]
LOW = Vocabulary.from_tokens([*BYTES, b"lo", b"low", b" low", b"er"])
MERGES = Merges(array("I", [*b"lo", 256, 256, ord("w"), 257, ord(" "), 257, 258, *b"er", 259]))
SPECIAL = SpecialToken(b"<s>", 260), SpecialToken(b"<mask>", 261, lstrip=True)
GPT2 = Split(PATTERNS["gpt2"].regex)
SLOW = Split(r"(?=lo)|(?#slow)\s")
PLAIN = {
    "ranks": Tokenizer(RankBpe(LOW), (GPT2,), SPECIAL),
    "merges": Tokenizer(MergeBpe(LOW, MERGES), (GPT2,), SPECIAL[:1]),
    "prefix space": Tokenizer(RankBpe(LOW), (PrefixSpace(), GPT2), SPECIAL[:1]),
    "no split": Tokenizer(RankBpe(LOW), (), SPECIAL[:1]),
    "slow": Tokenizer(RankBpe(LOW), (SLOW,), SPECIAL[:1]),
}
COMPOSED = {
    "composed": Tokenizer(RankBpe(LOW), (GPT2,), SPECIAL[:1], normalizer=(NFC(),)),
    "composed, digits": Tokenizer(
        MergeBpe(LOW, MERGES), (PrefixSpace(), GPT2, Digits()), SPECIAL, normalizer=(NFC(), NFC())
    ),
}
"""Those whose way depends on the text."""

OTHERS = {
    "digits": Tokenizer(RankBpe(LOW), (Digits(individual_digits=True), GPT2), SPECIAL[:1]),
    "matches kept": Tokenizer(RankBpe(LOW), (Split(PATTERNS["llama3"].regex, "Removed", invert=True),)),
    "runs of digits": Tokenizer(MergeBpe(LOW, MERGES), (PrefixSpace(), GPT2, Digits()), SPECIAL[:1]),
}
SHORT = PLAIN | OTHERS
"""Those that have a short way."""

TEXTS = st.lists(st.text("lower <s>mak\u3000é12²½", max_size=30).map(str.encode), max_size=4)


def parts(tokenizer: Tokenizer) -> EngineParts:
    return EngineParts(
        tokenizer.live_model, tokenizer.model.vocabulary, tokenizer.normalizer, tokenizer.pre_tokenizer,
        tokenizer.decoder, tokenizer.special_tokens, tokenizer.special_table,
    )  # fmt: skip


@cache
def compiled(tokenizer: Tokenizer) -> tuple[Engine, Engine]:
    return Engine(parts(tokenizer)), Engine(parts(tokenizer), through_stages=True)


def both(tokenizer: Tokenizer) -> tuple[Engine, Engine]:
    """Return the engines of a tokenizer as if they were new: they know no piece."""
    for engine in compiled(tokenizer):
        engine.clear_cache()
    return compiled(tokenizer)


def lists(columns) -> list[list[int]]:
    return [memoryview(column).tolist() for column in columns]


def test_by_hand():
    engine = PLAIN["merges"].engine
    assert lists(engine.encode(Block.of([b"lower low", b"", b"low"]))) == [[257, 259, 258, 257], [3, 3, 4]]
    assert engine.count(Block.of([b"lower low", b"", b"low"])).tolist() == [3, 0, 1]
    assert engine.pieces(b"lower low").contents() == [b"lower", b" low"]
    assert lists(engine.bare.encode(Block.of([b"lower low"]))) == [[257, 259, 258], [3]]
    assert engine.decode(array("I", [257, 259, 260])) == b"lower<s>"
    assert (engine.normalize(b"low"), engine.piece_ends(b"lower low").tolist()) == (b"low", [5, 9])


def test_each_tokenizer_goes_the_way_that_it_needs():
    assert all(each.is_plain for each in PLAIN.values())
    staged = Tokenizer(RankBpe(LOW), (WhitespaceSplit(),))
    words = Tokenizer(WordLevel(LOW, 0))
    assert not any(each.is_plain for each in (staged, words))
    assert not only_splits(RankBpe(LOW), (), (PrefixSpace(), GPT2, PrefixSpace()), ())
    assert not only_splits(RankBpe(LOW), (), (GPT2, PrefixSpace()), ())
    assert all(each.engine.piece_ends(b"lo12") is not None and not each.is_plain for each in OTHERS.values())
    digits_and_slow = Tokenizer(RankBpe(LOW), (Digits(), SLOW))
    assert digits_and_slow.engine.piece_ends(b"lo12") is None
    assert (staged.engine.slow_patterns, PLAIN["slow"].engine.slow_patterns) == ((), (SLOW.pattern,))


@pytest.mark.parametrize("name", SHORT)
@given(texts=TEXTS, named=st.booleans())
def test_both_engines_say_the_same(name, texts, named):
    tokenizer = SHORT[name]
    plain, staged = both(tokenizer)
    block = Block.of(texts)
    contents = [token.content for token in tokenizer.special_tokens]
    ids_of_special = [token.token_id for token in tokenizer.special_tokens]
    flags = bytes(token.lstrip for token in tokenizer.special_tokens)
    matchers = [engine.matcher(contents, ids_of_special, flags) if named else None for engine in (plain, staged)]
    (ids, ends), (staged_ids, staged_ends) = (
        lists(engine.encode(block, matcher)) for engine, matcher in zip((plain, staged), matchers, strict=True)
    )
    assert (ids, ends) == (staged_ids, staged_ends)
    counted = [engine.count(block, matcher).tolist() for engine, matcher in zip((plain, staged), matchers, strict=True)]
    assert counted[0] == counted[1] == [stop - start for start, stop in pairwise([0, *ends])]
    assert plain.decode(array("I", ids)) == staged.decode(array("I", ids))
    dropout = Sampling("dropout", 0.5, seed=3)
    assert lists(plain.encode(block, matchers[0], sampling=dropout)) == lists(
        staged.encode(block, matchers[1], sampling=dropout)
    )
    for text in texts:
        # By itself, a space that was put before a text is nothing of it, and a byte is not its whole character.
        if plain.has_spans and text.isascii() and not tokenizer.prefix_space:
            assert_same_places(plain, staged, text, matchers)
        cut, staged_cut = plain.pieces(text), staged.pieces(text)
        assert cut.contents() == staged_cut.contents()
        if not tokenizer.prefix_space:
            assert [*cut.source_starts] == [*staged_cut.source_starts]
            assert [*cut.source_ends] == [*staged_cut.source_ends]
        pieces = Block.of(cut.contents())
        assert lists(plain.bare.encode(pieces)) == lists(staged.bare.encode(pieces))
        assert lists(plain.bare.encode(pieces))[0] == lists(plain.encode(Block.of([text])))[0]
    if not named:
        failures = [engine.failures(block, array("I", ids), array("Q", ends), 1).tolist() for engine in (plain, staged)]
        assert failures[0] == failures[1]


@pytest.mark.parametrize("name", COMPOSED)
@given(
    texts=st.lists(st.text("lower <s>mak\u3000é12²e\u0301\u0327가ᄀ\u1161Å\u212b", max_size=30), max_size=4),
    named=st.booleans(),
)
def test_text_that_its_normalizer_leaves_goes_the_short_way_to_the_same_ids(name, texts, named):
    tokenizer = COMPOSED[name]
    short, staged = both(tokenizer)
    assert short._behind_nfc is not None
    assert staged._behind_nfc is None
    contents = [token.content for token in tokenizer.special_tokens]
    ids_of_special = [token.token_id for token in tokenizer.special_tokens]
    flags = bytes(token.lstrip for token in tokenizer.special_tokens)
    one, other = (engine.matcher(contents, ids_of_special, flags) if named else None for engine in (short, staged))
    block = Block.of([text.encode() for text in texts])
    ids, ends = lists(staged.encode(block, other))
    assert lists(short.encode(block, one)) == lists(short.encode_texts(texts, one)) == [ids, ends]
    counts = [stop - start for start, stop in pairwise([0, *ends])]
    assert short.count(block, one).tolist() == short.count_texts(texts, one).tolist() == counts
    each = [short.encode_text(text, one) for text in texts]
    assert each == [ids[start:stop] for start, stop in pairwise([0, *ends])]
    short.clear_cache()
    assert lists(short.encode(block, one)) == [ids, ends]


@pytest.mark.parametrize("continued", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_long_text_goes_each_way_part_by_part(named, continued):
    """Stretches of 16 KB are asked about as a whole."""
    clean, other = "lower <s>low Å 中 lo1\n", "e\u0301 \u212b lo\u0301w "
    documents = [
        clean * 5000 + other * 3 + clean * 2250, "", clean * 2000, other, other * 5000, "", clean, other,
        "x" * 25_000, "",
    ]  # fmt: skip
    whole = Block.of([document.encode() for document in documents])
    block = Block(whole.data, whole.ends, continued)
    for tokenizer in COMPOSED.values():
        short, staged = both(tokenizer)
        special = tokenizer.special_tokens[0]
        one, other_one = (
            engine.matcher([special.content], [special.token_id], None) if named else None for engine in (short, staged)
        )
        assert short._behind_nfc is not None
        assert lists(short.encode(block, one, threads=2)) == lists(staged.encode(block, other_one))
        assert short.count(block, one).tolist() == staged.count(block, other_one).tolist()
        assert lists(short.encode_texts(documents, one)) == lists(staged.encode_texts(documents, other_one))


def test_what_stands_in_normalized_text_is_looked_for_there():
    token = SpecialToken("é".encode(), 260, normalized=True)
    tokenizer = Tokenizer(RankBpe(LOW), (GPT2,), (token,), normalizer=(NFC(),))
    for text in ("low é", "low e\u0301"):
        assert (
            tokenizer.encode(text, specials="all")[-1] == tokenizer.encode_batch([text], specials="all")[0][-1] == 260
        )
        assert tokenizer.count(text, specials="all") == len(tokenizer.encode(text, specials="all")) == 3
        assert tokenizer.encode(text)[-2:] == [*"é".encode()]


def test_an_error_in_a_part_names_its_place_in_the_whole():
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_tokens(BYTES[:128])), (GPT2,), normalizer=(NFC(),))
    text = "low e\u0301 ".encode() + b"low " * 50_000 + b"\xff"
    for engine in both(tokenizer):
        for work in (engine.encode, engine.count):
            with pytest.raises(InputError, match=r"byte 0xC3 at offset 200004 has no token"):
                work(Block.of([b"low " * 50_000, text]))


def assert_same_places(plain: Engine, staged: Engine, text: bytes, matchers) -> None:
    ours, theirs = plain.place(text, matchers[0]), staged.place(text, matchers[1])
    assert ours.ids.tolist() == theirs.ids.tolist()
    assert [*ours.starts] == [*theirs.starts]
    assert [*ours.ends] == [*theirs.ends]
    assert ours.special == theirs.special


@pytest.mark.parametrize("name", SHORT)
@given(texts=TEXTS)
def test_both_engines_count_the_same_pieces(name, texts):
    found = []
    for engine in both(SHORT[name]):
        counts = _core.Counts(1 << 20)
        engine.count_pieces(counts, Block.of(texts), None, 1)
        found.append(dict(counts.items(0, counts.unique)))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", SHORT)
@given(texts=TEXTS)
def test_both_engines_tally_the_same(name, texts):
    tokenizer = SHORT[name]
    vocabulary = tokenizer.model.vocabulary
    empty = _core.Tally((vocabulary.blob, vocabulary.ends), tokenizer.special_table, array("I"), array("I"))
    block, tallies = Block.of(texts), []
    plain, staged = both(tokenizer)
    for engine, tiled in ((plain, True), (staged, True), (plain, False)):
        tally = empty.fresh()
        encoded = engine.tally(tally, block, None, 1, tiled=tiled)
        assert (encoded is None) == (tiled and engine is plain)
        split = 0 if tokenizer.prefix_space else tally.split_words
        tallies.append((tally.tokens, tally.words, split, memoryview(tally.counts).tolist()))
    assert tallies[0] == tallies[1] == tallies[2]


@pytest.mark.parametrize("name", ["ranks", "slow"])
def test_a_byte_without_a_token_is_named_alike(name):
    model = RankBpe(Vocabulary.from_tokens(BYTES[:128]))
    tokenizer = Tokenizer(model, PLAIN[name].pre_tokenizer)
    for engine in both(tokenizer):
        with pytest.raises(InputError, match=r"byte 0xC3 at offset 3 has no token in this tokenizer: '.*é'") as caught:
            engine.encode(Block.of([b"low", "é".encode()]))
        assert "take it out of the text, with the character that it is a part of, or train with" in caught.value.hint
    without = Tokenizer(RankBpe(Vocabulary.from_tokens([*BYTES[:3], *BYTES[4:128]])), PLAIN[name].pre_tokenizer)
    for engine in both(without):
        with pytest.raises(InputError, match="byte 0x03 at offset 1") as caught:
            engine.encode(Block.of([b"a\3"]))
        assert r"as `tr -d '\003'` does" in caught.value.hint


def test_a_cache_that_is_cleared_changes_no_ids():
    for name in SHORT:
        for engine in both(SHORT[name]):
            engine.clear_cache()
            block = Block.of([b"lower low lower", b"", "low é".encode() * 50])
            engines = engine, engine.bare
            before = [(lists(each.encode(block)), lists(each.spans(block.data, None))) for each in engines]
            engine.clear_cache()
            assert before == [(lists(each.encode(block)), lists(each.spans(block.data, None))) for each in engines]
    Tokenizer(RankBpe(LOW)).clear_cache()


def test_a_token_that_the_normalizer_fails_on_is_the_fault_of_the_tokenizer():
    """It was an error of the core, which the command line takes for a bug."""
    takes_for_ever = Replace("(?:a(?!y)|a(?!z))*c", "x")
    token = SpecialToken(b"a" * 40, 1, special=False, normalized=True)
    tokenizer = Tokenizer(WordLevel(Vocabulary.from_tokens([b"b"])), (), (token,), normalizer=(takes_for_ever,))
    with pytest.raises(FormatError, match=r"^the tokenizer's special tokens cannot be looked for: "):
        tokenizer.encode("b")
