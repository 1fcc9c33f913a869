"""Which tokens text never becomes: the rules, one small tokenizer each."""

from __future__ import annotations

from array import array
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.formats.huggingface import tokenizer_json
from bpe_cli.reports.tokenizer.reachability.examine import examine
from bpe_cli.stages import (
    NFKC,
    CharacterBpe,
    MergeBpe,
    RankBpe,
    Replace,
    SpecialToken,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.spelling import BYTE_TEXTS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.surgery import extend, merge, prune
from bpe_cli.surgery.operation import count_pieces
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import named
from bpe_cli.tokenizer.special_tokens import NOTHING, dead_merges
from tests.oracle.encode import encode_by_merges, live_merges

TOKENS = [b"<", b"/", b"s", b">", b"a", b"</", b"</s", b"</s>", b"</s>a"]
MERGES = [(0, 1, 5), (5, 2, 6), (6, 3, 7), (7, 4, 8)]
END = SpecialToken(b"</s>", 7)


def characters(tokens=TOKENS, merges=MERGES, specials=(END,), stages=None, **settings) -> Tokenizer:
    model = CharacterBpe(Vocabulary.from_tokens(tokens), Merges.from_pairs(merges), **settings)
    return Tokenizer(model, special_tokens=specials, **(stages or {}))


def test_a_merge_into_a_special_token_is_dead():
    """The worked example: `</s` and `>` stay, and so does the `a` that would be merged on."""
    tokenizer = characters()
    assert tokenizer.encode("a</s>a") == [4, 6, 3, 4]
    assert tokenizer.encode("a</s>a", specials="all") == [4, 7, 4]
    assert tokenizer.decode_bytes([4, 6, 3, 4]) == tokenizer.decode_bytes([4, 7, 4]) == b"a</s>a"
    assert list(dead_merges(tokenizer.model, tokenizer.withheld)) == [(2, (6, 3, 7)), (3, (7, 4, 8))]
    assert [*tokenizer.live_model.merges] == MERGES[:2]


def test_the_value_keeps_what_the_file_says():
    tokenizer = characters()
    assert [*tokenizer.model.merges] == MERGES
    again = tokenizer_json.loads(tokenizer_json.dump(tokenizer)[""])
    assert (again.model, again.encode("</s>")) == (tokenizer.model, [6, 3])


@pytest.mark.parametrize(
    "stages",
    [
        {"normalizer": (NFKC(),)},
        {"normalizer": (Replace("＜/s＞", "</s>", literal=True),)},
        {"normalizer": (Replace("＜", "<", literal=True), Replace("＞", ">", literal=True))},
    ],
)
def test_text_that_stages_make_of_other_text_is_no_way_either(stages):
    assert characters(stages=stages).encode("＜/s＞") == [6, 3]


@pytest.mark.parametrize("flag", ["single_word", "lstrip", "rstrip", "normalized"])
def test_flags_are_no_way_either(flag):
    """A single word that is none is not found, even where it is asked for; then merges must not make it."""
    tokenizer = characters(specials=(replace(END, **{flag: True}),))
    assert tokenizer.encode("a</s>a") == [4, 6, 3, 4]
    assert tokenizer.encode("a</s>a", specials="all") == ([4, 6, 3, 4] if flag == "single_word" else [4, 7, 4])


def test_a_merely_added_token_is_found_in_any_text():
    assert characters(specials=(replace(END, special=False),)).encode("a</s>a") == [4, 7, 4]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_added_token_is_no_way_to_a_special_one(order):
    """One of the same text, and one of the same id."""
    pair = (END, SpecialToken(b"</s>", 20, special=False))
    tokenizer = characters(specials=tuple(pair[place] for place in order))
    assert 7 not in tokenizer.encode("a</s>a")
    pair = (END, SpecialToken(b"ss", 7, special=False))
    tokenizer = characters(specials=tuple(pair[place] for place in order))
    assert tokenizer.encode("ss") == [2, 2]


def test_ranks_do_without_a_special_token():
    """`</s>a` arises of other parts then: `</s` and `>a`."""
    letters = {bytes([byte]): byte for byte in range(256)}
    ranks = {**letters, b"</": 256, b"</s": 257, b"</s>": 258, b">a": 259, b"</s>a": 260}
    tokenizer = Tokenizer(RankBpe(Vocabulary.from_ids(ranks)))
    assert (tokenizer.encode("</s>"), tokenizer.encode("x</s>ay")) == ([258], [120, 260, 121])
    tokenizer = replace(tokenizer, special_tokens=(SpecialToken(b"</s>", 258),))
    assert (tokenizer.encode("</s>"), tokenizer.encode("x</s>ay")) == ([257, 62], [120, 260, 121])
    verdict = examine(tokenizer, [258]).verdicts[258]
    assert (verdict.reachable, verdict.layer) == (False, "special")
    assert verdict.reason == "text becomes it only where special tokens are asked for; nothing is merged by its rank"


def test_a_byte_of_byte_level_bpe_stays_what_text_is_spelt_with():
    """Or else a text with it could not be encoded. No other token of its kind is spared."""
    letters = [bytes([byte]) for byte in range(256)]
    model = MergeBpe(Vocabulary.from_tokens([*letters, b"!!"]), Merges.from_pairs([(33, 33, 256)]))
    tokenizer = Tokenizer(model, special_tokens=(SpecialToken(b"!", 33),))
    assert tokenizer.encode("a!!!") == [97, 256, 33]
    tokenizer = replace(tokenizer, special_tokens=(SpecialToken(b"!", 33), SpecialToken(b"!!", 256)))
    assert tokenizer.encode("a!!!") == [97, 33, 33, 33]


def test_names_of_bytes_serve_as_before_and_their_texts_do_not_become_them():
    """Of three models; the merges that spell a name are dead where it is a special one."""
    specials = tuple(SpecialToken(text, place) for place, text in enumerate(BYTE_TEXTS))
    tokens = [*BYTE_TEXTS, b"<0", b"x41>"]
    model = CharacterBpe(
        Vocabulary.from_tokens([*tokens, b"<", b"0", b"x41"]), Merges.from_pairs([(256, 257, 0x41)]), byte_fallback=True
    )
    assert Tokenizer(model, special_tokens=specials).encode("Aé") == [0x41, 0xC3, 0xA9]
    symbols = [*(bytes([byte]) for byte in b"<0x41>"), *BYTE_TEXTS, b"<0", b"<0x", b"<0x4", b"<0x41"]
    ids = {text: number for number, text in enumerate(dict.fromkeys(symbols))}
    chain = [(b"<", b"0"), (b"<0", b"x"), (b"<0x", b"4"), (b"<0x4", b"1"), (b"<0x41", b">")]
    merges = Merges.from_pairs((ids[a], ids[b], ids[a + b]) for a, b in chain)
    model = CharacterBpe(Vocabulary.from_ids(ids), merges, byte_fallback=True)
    named_bytes = tuple(SpecialToken(text, ids[text]) for text in BYTE_TEXTS)
    assert Tokenizer(model).encode("<0x41>A") == [ids[b"<0x41>"]] * 2
    assert Tokenizer(model, special_tokens=named_bytes).encode("<0x41>A") == [
        ids[b"<0x41"], ids[b">"], ids[b"<0x41>"],
    ]  # fmt: skip
    unigram = Unigram(
        Vocabulary.from_tokens([b"", *BYTE_TEXTS, *(bytes([byte]) for byte in b"<0x41>")]),
        array("d", [0.0] * 257 + [-1.0] * 6), 0, byte_fallback=True,
    )  # fmt: skip
    named_bytes = tuple(SpecialToken(text, place + 1) for place, text in enumerate(BYTE_TEXTS))
    assert Tokenizer(unigram).encode("<0x41>A") == [0x42, 0x42]
    assert Tokenizer(unigram, special_tokens=named_bytes).encode("<0x41>A") == [257, 258, 259, 260, 261, 262, 0x42]


def test_names_of_bytes_that_a_file_lists_as_special_serve_as_before():
    added = [{"id": place, "content": text.decode(), "special": True} for place, text in enumerate(BYTE_TEXTS)]
    scored = {"type": "Unigram", "unk_id": 256, "byte_fallback": True,
              "vocab": [[text.decode(), -1.0] for text in [*BYTE_TEXTS, b"<unk>", b"b"]]}  # fmt: skip
    merged = {"type": "BPE", "byte_fallback": True, "merges": [], "vocab": {
        text.decode(): place for place, text in enumerate([*BYTE_TEXTS, b"<unk>", b"b"])}}  # fmt: skip
    import orjson

    for model in (scored, merged):
        for tokens in (added, added[:100], []):
            tokenizer = tokenizer_json.loads(orjson.dumps({"added_tokens": tokens, "model": model}))
            assert tokenizer.encode("bAé") == [257, 0x41, 0xC3, 0xA9]


def test_the_unknown_token_is_what_is_unknown_and_nothing_else():
    tokens = [b"<unk>", b"<", b"u", b"n", b"k", b">", b"<u", b"<un", b"<unk"]
    merges = [(1, 2, 6), (6, 3, 7), (7, 4, 8), (8, 5, 0)]
    tokenizer = characters(tokens, merges, (), unk_id=0)
    assert tokenizer.encode("<unk>x") == [8, 5, 0]
    assert tokenizer.decode_bytes([8, 5, 0]) == b"<unk><unk>"
    whole = characters(tokens, merges, (), unk_id=0, ignore_merges=True)
    assert whole.encode("<unk>") == [8, 5]
    assert whole.decode_bytes([8, 5, 0]) == b"<unk><unk>"
    # It goes on being a symbol that merging begins with, as in Hugging Face's library.
    joins = characters([b"<unk>", b"a", b"<unk>a"], [(0, 1, 2)], (), unk_id=0)
    assert joins.encode("xa") == [2]
    words = Tokenizer(WordLevel(Vocabulary.from_tokens([b"<unk>", b"a"]), 0))
    assert (words.encode("<unk>"), words.decode_bytes([0, 1])) == ([0], b"<unk>a")


def test_a_special_token_that_a_user_adds_is_withheld_too():
    """The id of an ordinary token: no merging comes to it, and of all that is built in the table is kept apart."""
    hello = named("r50k_base").with_special_tokens([SpecialToken(b"hello", 31373)])
    assert named("r50k_base").encode("hello") == [31373]
    assert 31373 not in hello.encode("hello")
    assert hello.decode_bytes(hello.encode("hello")) == b"hello"
    assert hello.encode("hello", specials="all") == [31373]


def test_nothing_is_withheld_from_the_encodings_that_are_built_in():
    for name in ("gpt2", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"):
        tokenizer = named(name)
        assert tokenizer.withheld == NOTHING
        assert tokenizer.live_model is tokenizer.model
        assert tokenizer.without_dead_merges() is tokenizer


@given(seed=st.integers(0, 1 << 32))
def test_merges_are_those_of_the_textbook(seed):
    """Against the plain oracle, by text."""
    random = Random(seed)
    tokens, pairs = [*"ab<>"], []
    for _ in range(12):
        left, right = random.choice(tokens), random.choice(tokens)
        pairs.append((left, right))
        tokens += [left + right] if left + right not in tokens else []
    pairs = list(dict.fromkeys(pairs))
    special = set(random.sample(tokens[4:], 3))
    letters = [bytes([byte]) for byte in range(256)]
    ids = {token: number for number, token in enumerate([*letters, *(text.encode() for text in tokens[4:])])}
    triples = ([ids[text.encode()] for text in (left, right, left + right)] for left, right in pairs)
    declared = tuple(SpecialToken(text.encode(), ids[text.encode()]) for text in special)
    tokenizer = Tokenizer(
        MergeBpe(Vocabulary.from_ids(ids), Merges.from_pairs(triples)),
        special_tokens=tuple(sorted(declared, key=lambda token: token.token_id)),
    )
    for _ in range(5):
        text = "".join(random.choices(tokens, k=8))
        expected = encode_by_merges(list(text), live_merges(pairs, special))
        found = tokenizer.encode(text)
        assert [tokenizer.token_bytes(token_id).decode() for token_id in found] == expected
        assert special.isdisjoint(expected)


# -- tokenizers changed ----------------------------------------------------------------------------


def counted(tokenizer, text):
    from bpe_cli import _core
    from bpe_cli.support.blocks import Block

    counts = _core.Counts(1 << 20)
    count_pieces(tokenizer, [Block.of([text])], counts)
    return counts


def test_changed_tokenizers_do_without_dead_merges():
    tokenizer = characters()
    text = b"a</s>a" * 9 + b"asas" * 30
    longer = extend(tokenizer, counted(tokenizer, text), 11).tokenizer
    assert 7 not in longer.encode(text)
    assert longer.decode_bytes(longer.encode(text)) == text
    shorter = prune(tokenizer, counted(tokenizer, text), 8).tokenizer
    assert not shorter.withheld
    ids = {token.content: token.token_id for token in shorter.special_tokens}
    assert ids[b"</s>"] not in shorter.encode(text)
    assert shorter.decode_bytes(shorter.encode(text)) == text
    other = characters([b"a", b"b", b"ab"], [(0, 1, 2)], ())
    both = merge(other, tokenizer).tokenizer
    ids = {token.content: token.token_id for token in both.special_tokens}
    assert ids[b"</s>"] not in both.encode(text)
    assert both.decode_bytes(both.encode(text)) == text
