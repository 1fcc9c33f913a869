"""The steps of a text: worked examples, and that they end where the tokenizer does, whatever it is."""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.errors import BpeError, InputError, UsageError
from bpe_cli.formats import subword_nmt
from bpe_cli.reports.text.steps import lattice, pieces, record
from bpe_cli.reports.text.steps.pieces import Limits, Names
from bpe_cli.reports.text.steps.record import teller_of
from bpe_cli.stages import (
    ALGORITHMS,
    BertPreTokenizer,
    CharacterBpe,
    GreedyCover,
    Lowercase,
    MaxMatch,
    MergeBpe,
    Metaspace,
    NGram,
    ScoredBpe,
    SpecialToken,
    Unigram,
    WhitespaceSplit,
    WordLevel,
    WordPiece,
)
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import named
from tests.counted import at_least, compared
from tests.differential.published import loaded
from tests.every_format import FORMATS, KINDS, sample, trained
from tests.thorough import more
from tests.unit.reports.text.telling import tell

ALL = Limits(rows=None, steps=6, nbest=3)
teller_of_kind = cache(lambda kind: teller_of(trained(kind), (), ALL))  # its tables are laid out once for all texts

TRICKY = [
    "", " ", "  low  lower\n\n", "low lower lowest", "naïve 你好 谁 12345 !?", "\t\r\n", "▁low ▁▁ lo▁w",
    "</w> ## <unk>", "é e\u0301 ﬁ Ⅻ", "👩\u200d👩\u200d👧 🇩🇪", "\u202e\0\x1b[31m", "a" * 28, "<0x41> Ġlow",
]  # fmt: skip
STRAY = [b"\xff\xfe low", b"\xe4\xbd", b"lo\x80wer \xf0\x9f\x91", bytes(range(256))]


def vocabulary(*tokens: str) -> Vocabulary:
    return Vocabulary.from_tokens([token.encode() for token in tokens])


def arrives(tokenizer, text, told=None, specials=()):
    """Check that the steps of a text end at its tokens, or that it has none."""
    text = text.encode() if isinstance(text, str) else text
    try:
        ids = tokenizer.encode(text, specials=specials)
    except InputError:
        return
    steps = (told or teller_of(tokenizer, specials, ALL))(text)
    assert steps.differs_at is None, (tokenizer.name, text, steps.rows[steps.differs_at])
    assert [token.token_id for row in steps.rows for token in row.tokens] == ids
    assert (steps.token_count, steps.row_count, steps.more) == (len(ids), len(steps.rows), 0)
    compared()


# -- worked examples ---------------------------------------------------------------------------------


def test_gpt2_hello_world():
    gpt2 = named("gpt2")
    steps = tell(gpt2, b"hello world hello hello")
    hello, world, again, same = steps.rows
    assert (hello.text, hello.walk.whole.token_id) == (b"hello", 31373)
    # What merging does of its own: ranks are ids, 256 bytes and then the merges in the order learnt.
    assert [(step.left, step.right, step.rank) for step in hello.walk.steps] == [
        (b"h", b"e", 258), (b"l", b"l", 297), (b"he", b"ll", 12758), (b"hell", b"o", 31373),
    ]  # fmt: skip
    assert [step.symbols.contents for step in hello.walk.steps] == [
        (b"he", b"l", b"l", b"o"), (b"he", b"ll", b"o"), (b"hell", b"o"), (b"hello",),
    ]  # fmt: skip
    assert [step.symbols.at for step in hello.walk.steps] == [0, 1, 0, 0]
    assert (world.text, world.tokens[0].token_id) == (b" world", 995)
    assert (again.same_as, again.walk is None) == (None, False)
    assert (same.same_as, same.walk, same.tokens) == (2, None, again.tokens)


def test_word_piece_unaffable():
    model = WordPiece(vocabulary("[UNK]", "un", "u", "##aff", "##able", "##a"), 0, max_input_chars_per_word=12)
    tokenizer = Tokenizer(model, pre_tokenizer=(BertPreTokenizer(),))
    walk = tell(tokenizer, b"unaffable").rows[0].walk
    assert [(step.rest, step.taken.content, step.tried, len(step.fits)) for step in walk.steps] == [
        (b"unaffable", b"un", 8, 2), (b"##affable", b"##aff", 5, 2), (b"##able", b"##able", 1, 2),
    ]  # fmt: skip
    assert [token.token_id for token in walk.tokens] == [1, 3, 4]
    walk = tell(tokenizer, b"unaffe").rows[0].walk
    assert (walk.dead_end, walk.steps[-1].rest, walk.steps[-1].fits, walk.steps[-1].tried) == (True, b"##e", (), 1)
    assert [token.token_id for token in walk.tokens] == [0]
    walk = tell(tokenizer, b"unaffableable").rows[0].walk
    assert (walk.too_long, walk.limit, walk.steps, walk.tokens[0].content) == (13, 12, (), b"[UNK]")


def test_unigram_hug_and_pug():
    counts = {"h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16, "hug": 15}
    scores = [0.0, *(math.log(count / 210) for count in counts.values())]
    tokenizer = Tokenizer(
        Unigram(vocabulary("", *counts), array("d", scores), unk_id=0), pre_tokenizer=(WhitespaceSplit(),)
    )
    hug, pug, strange = (row.walk for row in tell(tokenizer, "hug pug hüg".encode()).rows)
    assert [[way.text.decode() for way in place.ways] for place in hug.places] == [
        ["h"], ["hu", "u"], ["hug", "ug", "g"],
    ]  # fmt: skip
    assert [place.ways[place.best].text for place in hug.places] == [b"h", b"hu", b"hug"]
    assert hug.score == math.log(15 / 210)
    ways = {b"hug": 15 / 210, b"h ug": 15 * 20 / 210**2, b"hu g": 15 * 20 / 210**2, b"h u g": 15 * 36 * 20 / 210**3}
    assert [token.content for token in hug.ranked[0].tokens] == [b"hug"]
    for path in hug.ranked:
        share = ways[b" ".join(token.content for token in path.tokens)] / sum(ways.values())
        assert path.probability == pytest.approx(share)
    assert (len(hug.ranked), sum(path.probability for path in hug.ranked)) == (4, pytest.approx(1))
    # Two ways score the same; the one whose last token begins first is taken.
    assert [way.text for way in pug.path] == [b"p", b"ug"]
    assert pug.places[-1].ways[0].total == pytest.approx(pug.places[-1].ways[1].total)
    (unknown,) = strange.ends
    assert (unknown.text.decode(), unknown.way, unknown.tokens[0].token_id) == ("ü", "unknown", 0)
    lowest = min(scores)
    assert strange.places[1].ways[0].score == strange.unknown_score == lowest - strange.penalty == lowest - 10


@pytest.mark.parametrize("single", [False, True])
def test_a_piece_of_a_users_own_scores_by_its_length(single):
    """Whatever the highest score is: two good tokens are better than it."""
    scores = array("d", [0.0, 2.0, 0.5, 0.0])
    model = Unigram(vocabulary("", "a", "b", "ab"), scores, 0, single_precision=single, kinds=bytes([2, 1, 1, 4]))
    tokenizer = Tokenizer(model)
    (row,) = tell(tokenizer, b"ab").rows
    assert {way.text: way.score for way in row.walk.places[-1].ways} == {b"ab": pytest.approx(0.1), b"b": 0.5}
    assert [token.token_id for token in row.tokens] == tokenizer.encode("ab") == [1, 2]
    assert row.walk.ranked[1].probability == pytest.approx(math.exp(0.1) / (math.exp(0.1) + math.exp(2.5)))


@at_least(600)
def test_scores_are_those_that_the_search_takes():
    """Of equal sums, rounding decides, and Hugging Face's library reads long scores a little wrong."""
    chance = Random(3)
    for _ in range(300):
        # Digits for the token of hyphens as T5's file has them: there the written scores would decide otherwise.
        drawn = [-chance.uniform(3, 7), -chance.uniform(3, 7)]
        for scores in ([0.0, *drawn, -chance.uniform(8, 12)], [0.0, -5.129043102264404, -12.130167007446289, -20.5]):
            model = Unigram(vocabulary("", "-", "---", "rare"), array("d", scores), unk_id=0)
            arrives(Tokenizer(model), "".join(chance.choices("----z", k=12)))


def test_subword_nmt_lowest_and_newest():
    tokenizer = subword_nmt.tokenizer_of(
        subword_nmt.load_codes(b"#version: 0.2\ne s\nes t</w>\nl o\nlo w\nn e\nne w\n")
    )
    lower, newest = tell(tokenizer, b"lower newest").rows
    assert [(step.rank, step.left, step.right) for step in lower.walk.steps] == [(2, b"l", b"o"), (3, b"lo", b"w")]
    assert [each.text for each in lower.walk.spelt] == [b"r</w>"]
    assert [step.symbols.contents for step in newest.walk.steps] == [
        (b"n", b"e", b"w", b"es", b"t</w>"),
        (b"n", b"e", b"w", b"est</w>"),
        (b"ne", b"w", b"est</w>"),
        (b"new", b"est</w>"),
    ]


def test_scores_bytes_and_unused_pieces():
    texts = ["", "a", "b", "c", "ab", "bc", "abc", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = bytes([2, 1, 1, 1, 5, 1, 5, *[6] * 256])
    scores = array("d", [0, -9, -9, -9, -2, -1, -3, *[0] * 256])
    model = ScoredBpe(vocabulary(*texts), scores, unk_id=0, kinds=kinds, byte_fallback=True)
    (row,) = tell(Tokenizer(model), "abcé".encode()).rows
    assert [(step.score, step.product) for step in row.walk.steps] == [(-1, b"bc"), (-3, b"abc")]
    assert [(each.text.decode(), each.way) for each in row.walk.ends] == [("abc", "taken back"), ("é", "bytes")]
    assert [token.content for token in row.tokens] == [b"a", b"bc", b"<0xC3>", b"<0xA9>"]
    unknown = replace(model, byte_fallback=False)
    (row,) = tell(Tokenizer(unknown), "ééé".encode()).rows
    assert [(each.way, each.times) for each in row.walk.ends] == [("unknown", 1), ("fused", 2)]


def test_what_a_token_itself_would_merge_to():
    model = MergeBpe(vocabulary("a", "b", "c", "ab", "bc", "abc"), Merges.from_pairs([(1, 2, 4)]), ignore_merges=True)
    (row,) = tell(Tokenizer(model), b"abc").rows
    assert (row.walk.whole.token_id, [token.token_id for token in row.walk.merged]) == (5, [0, 4])
    assert [token.token_id for token in row.tokens] == [5]


def test_look_ups():
    words = Tokenizer(WordLevel(vocabulary("<unk>", "a"), 0, fuse_unk=True), pre_tokenizer=(WhitespaceSplit(),))
    steps = tell(words, b"x y a z")
    assert [(row.fused, len(row.tokens)) for row in steps.rows] == [(False, 1), (True, 0), (False, 1), (False, 1)]
    assert (steps.differs_at, steps.token_count) == (None, 3)
    (row,) = tell(Tokenizer(NGram(vocabulary("<unk>", "ab", "c"), 2, 0)), b"abc").rows
    assert [(step.text, step.known) for step in row.walk.steps] == [(b"ab", True), (b"bc", False), (b"c", True)]
    (row,) = tell(Tokenizer(MaxMatch(vocabulary("ab", "abc", "c"), 9)), b"abcxc").rows
    assert [(step.text, step.way, step.tried) for step in row.walk.steps] == [
        (b"abc", "token", 1), (b"x", "unknown", 2), (b"c", "token", 1),
    ]  # fmt: skip


def test_longest_tokens_anywhere():
    model = CharacterBpe(
        vocabulary("<unk>", "est</w>", "ne", "we", "n", "w"), Merges.from_pairs([]), 0, end_of_word_suffix="</w>"
    )
    tokenizer = Tokenizer(model).with_longest_match(left_to_right=False)
    (row,) = tell(tokenizer, b"newest").rows
    assert [(step.token.content, step.parts.contents) for step in row.walk.steps] == [
        (b"est</w>", (b"new", b"est</w>")), (b"ne", (b"ne", b"w", b"est</w>")), (b"w", (b"ne", b"w", b"est</w>")),
    ]  # fmt: skip
    (row,) = tell(Tokenizer(model).with_longest_match(left_to_right=True), b"newxx").rows
    assert [(step.text, step.way) for step in row.walk.steps][:4] == [
        (b"ne", "token"), (b"w", "token"), (b"x", "unknown"), (b"x</w>", "fused"),
    ]  # fmt: skip


def test_tokens_laid_in_their_order():
    tokens = vocabulary("e", "r", "s", "w", "low", "er", "lower", "re")
    (row,) = tell(Tokenizer(GreedyCover(tokens, 9)), b"slowerlxre").rows
    assert row.walk.family == "cover"
    assert [(step.number, step.token.content, step.parts.contents) for step in row.walk.steps] == [
        (0, b"low", (b"s", b"low", b"erlxre")), (1, b"er", (b"s", b"low", b"er", b"lxre")),
        (2, b"lower", (b"s", b"lower", b"lxre")), (3, b"re", (b"s", b"lower", b"lx", b"re")),
    ]  # fmt: skip
    assert [token.token_id for token in row.tokens] == [2, 6, 9, 9, 7]
    assert [(each.text, each.way) for each in row.walk.ends] == [(b"l", "unknown"), (b"x", "unknown")]


# -- every tokenizer ---------------------------------------------------------------------------------


@at_least(14)
@pytest.mark.parametrize("kind", KINDS)
@given(text=st.one_of(st.text("lowernst 12▁é你", max_size=30), st.text(max_size=20)))
def test_random_texts_of_every_algorithm(kind, text):
    arrives(trained(kind), text, teller_of_kind(kind))


@at_least(14)
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.binary(max_size=20))
def test_random_bytes_of_every_algorithm(kind, data):
    arrives(trained(kind), data, teller_of_kind(kind))


def test_every_model_has_its_steps():
    assert record.WALKERS.keys() == ALGORITHMS.keys()


@at_least(13)
@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name):
    told = teller_of(sample(name), (), ALL)
    for text in [*map(str.encode, TRICKY), *STRAY]:
        arrives(sample(name), text, told)


@at_least(14)
@pytest.mark.parametrize("left_to_right", [False, True])
@pytest.mark.parametrize("kind", ["bpe", "bpe 0.1", "bpe hf"])
@given(text=st.text("lowernst x", max_size=30))
def test_longest_match(kind, left_to_right, text):
    arrives(trained(kind).with_longest_match(left_to_right=left_to_right), text)


@at_least(29)
@given(
    text=st.text("aAb<x> ", max_size=16),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    special=st.booleans(),
)
def test_tokens_that_are_looked_for_in_normalized_text(text, flags, special):
    names = ("single_word", "lstrip", "rstrip", "normalized")
    added = SpecialToken(b"<X>", 7, special=special, **dict(zip(names, flags, strict=True)))
    model = CharacterBpe(vocabulary("?", "a", "b", "ab", "▁", "▁a"), Merges.from_pairs([(1, 2, 3), (4, 1, 5)]), 0)
    tokenizer = Tokenizer(
        model, normalizer=(Lowercase(),), pre_tokenizer=(Metaspace(prepend_scheme="first"),), special_tokens=(added,)
    )
    for specials in ((), "all"):
        arrives(tokenizer, text, specials=specials)


REAL = [
    "bert-base-chinese/vocab.txt", "bert-base-uncased/vocab.txt", "chatglm-6b/ice_text.model", "clip/tokenizer.json",
    "falcon/tokenizer.json", "gguf-bert-bge/ggml-vocab-bert-bge.gguf", "gguf-gpt-2/ggml-vocab-gpt-2.gguf",
    "gguf-llama-spm/ggml-vocab-llama-spm.gguf", "gguf-phi-3/ggml-vocab-phi-3.gguf", "gguf-qwen2/ggml-vocab-qwen2.gguf",
    "gpt2-original/encoder.json", "hf-llama3/tokenizer.json", "hf-qwen2_5/tokenizer.json", "llama2/tokenizer.model",
    "llama2-repaired/tokenizer.json", "llama3-tiktoken/tokenizer.model", "mistral-spm-v3", "phi-3-mini/tokenizer.json",
    "qwen-tiktoken/qwen.tiktoken", "roberta-base/tokenizer.json", "rwkv-world/rwkv_vocab_v20230424.txt",
    "spm-bpe_example/m.model", "spm-test_ja_model/test_ja_model.model", "spm-test_model/test_model.model",
    "t5-small/tokenizer.json", "tekken-240718/tekken_240718.json", "tiktoken-o200k_base/o200k_base.tiktoken",
    "whisper-tiny/tokenizer.json", "xlnet-base-cased/spiece.model",
]  # fmt: skip
EVERY = more(8, 1)
"""One text in so many is told by a tokenizer: other ones by each, and with special tokens."""

WITH_SPECIALS = [
    b"a<|endoftext|>b</s> <s>c <unk>[MASK] <|STARTOFTEXT|> x<pad>",
    "\u2581a \u2581\u2581 b\u2581c".encode(),
    *STRAY,
]


@at_least(75)
@pytest.mark.slow
@pytest.mark.parametrize("path", REAL)
def test_real_tokenizers_and_tricky_texts(path, shared, monkeypatch):
    tokenizer = loaded(shared / "vocabs" / path)
    walker = record.WALKERS[tokenizer.model.kind](tokenizer.live_model, Names(tokenizer), ALL)
    monkeypatch.setitem(record.WALKERS, tokenizer.model.kind, lambda *_: walker)  # its tables are laid out once
    cases = json.loads((shared / "expected" / "suite.json").read_text())["cases"]
    texts = [case["text"].encode() for case in cases if len(case["text"]) < 2000]
    for number, specials in enumerate(((), "all")):
        told = teller_of(tokenizer, specials, ALL)
        for text in [*texts[(REAL.index(path) + number) % EVERY :: EVERY], *WITH_SPECIALS]:
            arrives(tokenizer, text, told, specials)


# -- the n best --------------------------------------------------------------------------------------


@at_least(12)
@given(text=st.text("lowernst é", min_size=1, max_size=12), wanted=st.integers(1, 9))
@pytest.mark.parametrize("kind", ["unigram", "unigram textbook", "unigram sentencepiece", "char sentencepiece"])
def test_the_best_are_those_that_the_core_ranks(kind, text, wanted):
    tokenizer = trained(kind)
    for row in tell(tokenizer, text.encode(), (), Limits(None, None, wanted)).rows:
        if row.walk is None:
            continue
        found = tokenizer.engine.nbest(row.text, wanted)
        assert [each.score for each in row.walk.ranked] == pytest.approx([score for _, score in found], rel=1e-5)
        assert row.walk.ranked[0].score == pytest.approx(row.walk.score, rel=1e-5)
        shares = [each.probability for each in row.walk.ranked]
        assert shares == sorted(shares, reverse=True)
        assert math.fsum(shares) <= 1 + 1e-9
        if len(shares) < wanted:
            assert math.fsum(shares) == pytest.approx(1)
        compared()


# -- limits ------------------------------------------------------------------------------------------


def test_what_is_left_out_is_counted():
    gpt2 = named("gpt2")
    steps = tell(gpt2, b"one two three four five", (), Limits(rows=2, steps=1))
    assert ([row.text for row in steps.rows], steps.more, steps.token_count) == ([b"one", b" two"], 3, 5)
    assert (steps.differs_at, len(steps.rows[1].walk.steps), steps.rows[1].walk.more) == (None, 1, 2)


@at_least(1)
@pytest.mark.parametrize("kind", ["bbpe", "bpe", "bpe sentencepiece", "unigram sentencepiece", "maxmatch", "ngram"])
def test_a_piece_that_is_too_long(kind, monkeypatch):
    monkeypatch.setattr(pieces, "LONGEST_PIECE", 8)
    arrives(trained(kind), "lowlowlowlow low")
    walks = [row.walk for row in tell(trained(kind), b"lowlowlowlow low").rows if row.walk]
    assert walks[0].family == "left-out"
    assert walks[0].reason.endswith("and those of up to 8 are shown")


@at_least(3)
def test_too_many_look_ups(monkeypatch):
    monkeypatch.setattr(pieces, "MOST_LOOKED_UP", 10)
    monkeypatch.setattr(lattice, "MOST_WAYS", 4)
    for kind in ("wordpiece", "unigram", "maxmatch", "ngram"):
        arrives(trained(kind), "lowest lowest newest")
    assert tell(trained("wordpiece"), b"lowest").rows[0].walk.family == "left-out"


def test_a_million_letters():
    for name in ("gpt2", "o200k_base"):
        (row,) = tell(named(name), b"a" * 1_000_000).rows
        assert row.walk.family == "left-out"
    walk = tell(named("gpt2"), b"a" * 16_000).rows[0].walk
    assert (len(walk.steps), walk.more) == (40, 11_960)
    assert all(len(step.symbols.contents) <= pieces.SHOWN for step in walk.steps)
    last = walk.steps[-1].symbols
    assert last.before + len(last.contents) + last.after == 16_000 - 40
    assert last.contents[last.at] == b"aa"


def test_refusals(monkeypatch):
    gpt2 = named("gpt2")
    monkeypatch.setattr(record, "LARGEST_TEXT", 4)
    assert tell(gpt2, b"hello").row_count == 1
    with pytest.raises(InputError, match="of which all steps can be shown"):
        tell(gpt2, b"hello", (), Limits(rows=None))
    with pytest.raises(UsageError, match="is not a special token"):
        tell(gpt2, b"a", ["<nosuch>"])
    with pytest.raises(BpeError, match="no token"):
        tell(Tokenizer(MaxMatch(vocabulary("a"))), b"b")
