"""A token is special if it was recognized in the text, not if the model gave the same id for something else."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from random import Random

import pytest

import bpe_cli
from bpe_cli.corpus import Source
from bpe_cli.jobs.documents import EncodeOptions
from bpe_cli.jobs.encode import encode
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.stages import Lowercase, MergeBpe, SpecialToken, Whitespace, WhitespaceSplit, WordLevel
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.counted import at_least, compared

UNKNOWN, NAME = SpecialToken(b"[UNK]", 0), SpecialToken(b"Bo", 1, special=False, single_word=True)


def tokenizer(*special_tokens: SpecialToken, **parts) -> Tokenizer:
    model = WordLevel(Vocabulary.from_tokens([b"[UNK]", b"Bo", b"a", b"bo"]), unk_id=0)
    return Tokenizer(model, special_tokens=special_tokens, **{"pre_tokenizer": (Whitespace(),)} | parts)


def marked(tokenizer: Tokenizer, text: str, specials="all") -> list[tuple[str, bool]]:
    tokens = tokenizer.tokens(text, specials=specials)
    return [(text[token.char_start : token.char_end], token.special) for token in tokens]


def test_what_is_unknown_is_not_recognized():
    found = tokenizer(UNKNOWN)
    assert marked(found, "a é[UNK]") == [("a", False), ("é", False), ("[UNK]", True)]
    assert marked(found, "a é") == [("a", False), ("é", False)]
    assert marked(found, "é [UNK]", ()) == [("é", False), ("[", False), ("UNK", False), ("]", False)]


def test_whitespace_that_a_token_takes_along_is_its_own():
    found = tokenizer(replace(UNKNOWN, lstrip=True, rstrip=True))
    assert marked(found, "é [UNK] é  [UNK][UNK] ") == [
        ("é", False), (" [UNK] ", True), ("é", False), ("  [UNK]", True), ("[UNK] ", True),
    ]  # fmt: skip


def test_in_normalized_text():
    found = tokenizer(replace(UNKNOWN, normalized=True), normalizer=(Lowercase(),))
    assert found.matcher("all").looks_in_normalized
    assert marked(found, "É [unk] é[UNK]a") == [
        ("É", False),
        ("[unk]", True),
        ("é", False),
        ("[UNK]", True),
        ("a", False),
    ]
    assert marked(found, "É [unk]", ()) == [("É", False), ("[", False), ("unk", False), ("]", False)]


@pytest.mark.parametrize("normalized", [False, True])
def test_an_added_token_that_is_turned_down_is_the_models(normalized):
    found = tokenizer(UNKNOWN, replace(NAME, normalized=normalized), pre_tokenizer=(WhitespaceSplit(),))
    assert marked(found, "Bo") == [("Bo", True)]
    assert marked(found, "xBo Bo") == [("xBo", False), ("Bo", True)]


def test_text_that_stands_in_what_is_unknown():
    """The unknown token's text, which is turned down since a letter stands beside it, is part of an unknown word."""
    single = replace(UNKNOWN, normalized=True, single_word=True)
    found = tokenizer(single, normalizer=(Lowercase(),), pre_tokenizer=(WhitespaceSplit(),))
    assert marked(found, "x[UNK] [UNK] [UNK]x") == [("x[UNK]", False), ("[UNK]", True), ("[UNK]x", False)]


@at_least(300)
@pytest.mark.parametrize("normalized", [False, True])
def test_at_random(normalized):
    """What is recognized does not depend on the model: one that gives no id of a special token says which it is."""
    random = Random(5)
    for _ in range(300):
        flags = {name: random.random() < 0.5 for name in ("lstrip", "rstrip", "single_word")}
        special = [replace(each, normalized=normalized, **flags) for each in (UNKNOWN, NAME)]
        found = tokenizer(*special, normalizer=(Lowercase(),))
        apart = replace(found.model, vocabulary=Vocabulary.from_tokens([b"", b"", b"?"]), unk_id=2)
        judge = Tokenizer(
            apart, special_tokens=tuple(special), normalizer=found.normalizer, pre_tokenizer=found.pre_tokenizer
        )
        text = "".join(random.choices(["[UNK]", "[unk]", "Bo", "bo", " ", "a", "é"], k=8))
        expected = [token.token_id in (0, 1) for token in judge.tokens(text, specials="all")]
        assert [special for _, special in marked(found, text)] == expected, text
        compared()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("bert-base-uncased", "a 🙂 [UNK]", [False, False, True]),
        ("t5-small", "a 🙂<unk>", [False, False, False, False, True]),
    ],
)
def test_real_ones(shared, name, text, expected):
    found = bpe_cli.load(shared / "vocabs" / name)
    assert [token.special for token in found.tokens(text, specials="all")] == expected
    assert not any(token.special for token in found.tokens(text))


def test_reports_set_the_unknown_token_apart():
    found = segment(tokenizer(UNKNOWN), "a é[UNK]".encode(), "all")
    assert [token.special for token in found.tokens] == [False, True, True]
    assert found.placed.special == b"\0\1\1"


def test_spans_where_the_model_makes_an_added_token_too():
    """Its id was taken for that of the token in the text: of the byte E9, which a file writes "é", for "é"."""
    vocabulary = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"lo", b"low"])
    merges = Merges.from_pairs([(108, 111, 256), (256, 119, 257)])
    added = (
        SpecialToken("é".encode(), 0xE9, special=False),
        SpecialToken(b"low", 257, special=False, single_word=True),
    )
    model = Tokenizer(MergeBpe(vocabulary, merges), special_tokens=added)
    for text in ("\udce9x", "a\udce9b éx", "lowest low lo", "x"):
        lines = io.BytesIO()
        encode(Source(text=text), model, EncodeOptions("jsonl", spans=True), output=lines)
        spans = [[token.start, token.end] for token in model.tokens(text)]
        assert json.loads(lines.getvalue())["spans"] == spans
