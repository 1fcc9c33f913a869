"""The core's normalizers: worked examples, properties, and equality with the textbook's."""

from __future__ import annotations

import json
import random
import unicodedata
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import _core, stages
from bpe_cli.stages import Normalizer
from bpe_cli.stages.component_json import core_spec
from tests.charsmaps import in_base64
from tests.oracle import normalize as textbook
from tests.thorough import more

OLD_RANGES = (
    *((0x20, 0x52F), (0x5B0, 0x5EA), (0x621, 0x64A), (0x901, 0x939), (0xE01, 0xE3A), (0x1E00, 0x1FFE)),
    *((0x2000, 0x206F), (0x3041, 0x3096), (0x3400, 0x3440), (0x4E00, 0x4F00), (0xAC00, 0xAD00)),
    *((0xE000, 0xE010), (0xF900, 0xFA0D), (0xFB00, 0xFB06), (0x20000, 0x20010), (0x2F800, 0x2F810)),
)
OLD = [chr(code) for first, last in OLD_RANGES for code in range(first, last + 1)]
OLD = [character for character in OLD if unicodedata.category(character) != "Cn"]
"""Characters on which all versions of Unicode since 8.0 agree."""
TRICKY = list("aAéÉİΣσß  \t\n中你\u0301\u0323\u0308\u3000\u2028\u2581\x00\x01\ufffd\u200d")


def compiled(*normalizers: Normalizer) -> _core.Stages:
    return _core.Stages(core_spec(normalizers, ()))


def apply(compiled_stages: _core.Stages, text: str | bytes, **context: bool) -> str:
    data = text.encode() if isinstance(text, str) else text
    return compiled_stages.normalize(data, **context)[0].decode("utf-8", "surrogateescape")


def random_texts(number: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [
        "".join(chance.choice(TRICKY if chance.random() < 0.7 else OLD) for _ in range(chance.choice((1, 2, 4, 9, 20))))
        for _ in range(number)
    ]


def charsmap(name: str) -> stages.Charsmap:
    return stages.Charsmap(in_base64(name))


# -- worked examples -------------------------------------------------------------------------------


def test_origins_say_what_each_byte_stands_for():
    text, starts, ends = compiled(stages.NFKC(), stages.Lowercase(), stages.SpaceMarks()).normalize("ﬁ  É!".encode())
    assert text.decode() == "▁fi▁é!"
    spans = list(zip(memoryview(starts), memoryview(ends), strict=True))
    assert spans == [(0, 0)] * 3 + [(0, 3)] * 2 + [(3, 5)] * 3 + [(5, 7)] * 2 + [(7, 8)]


def test_text_that_goes_on_has_no_beginning():
    for normalizers, text, alone, continued in [
        ([stages.Prepend("▁")], "a", "▁a", "a"),
        ([stages.Strip()], " a ", "a", " a"),
        ([stages.SpaceMarks()], " a", "▁a", "▁a"),
        ([stages.SpaceMarks()], "a", "▁a", "a"),
        ([stages.SpaceMarks(add_dummy_prefix=False)], "  a", "a", "▁a"),
    ]:
        assert apply(compiled(*normalizers), text) == alone
        assert apply(compiled(*normalizers), text, continued=True, first=False) == continued


# -- properties ------------------------------------------------------------------------------------

ALL_KINDS: list[Normalizer] = [
    *(stages.NFC(), stages.NFD(), stages.NFKC(), stages.NFKD(), stages.Nmt(), stages.Lowercase()),
    *(stages.StripAccents(), stages.Strip(), stages.Replace("é", "e", True), stages.Replace("\\s+", " ")),
    *(stages.Prepend("▁"), stages.BertNormalizer(), stages.ByteLevelNormalizer(), stages.SpaceMarks()),
    *(stages.SpaceMarks(False, False, True, True), charsmap("nmt_nfkc")),
    stages.Precompiled(charsmap("nmt_nfkc").precompiled_charsmap),
]
COMPILED = [(normalizer, compiled(normalizer)) for normalizer in ALL_KINDS]


@given(st.binary(max_size=30) | st.lists(st.sampled_from([b"a", b" ", "é".encode(), b"\xff", b"\xe4"])).map(b"".join))
def test_any_bytes_are_text_and_those_outside_utf8_stay(data):
    strays = [c for c in data.decode("utf-8", "surrogateescape") if "\udc80" <= c <= "\udcff"]
    for normalizer, stage in COMPILED:
        text, starts, ends = stage.normalize(data)
        spans = zip(memoryview(starts), memoryview(ends), strict=True)
        assert all(0 <= start <= end <= len(data) for start, end in spans)
        if not isinstance(normalizer, stages.ByteLevelNormalizer):
            kept = [c for c in text.decode("utf-8", "surrogateescape") if "\udc80" <= c <= "\udcff"]
            assert kept == strays, normalizer


def test_a_text_cut_before_a_space_is_normalized_as_it_would_be_whole():
    chance = random.Random(5)
    texts = random_texts(60, 6)
    for normalizer, stage in COMPILED:
        for _ in range(60):
            left, right = chance.choice(texts) + "é.x", " Y" + chance.choice(texts)
            whole = apply(stage, left + right)
            assert apply(stage, left) + apply(stage, right, continued=True, first=False) == whole, normalizer


def test_normal_forms_do_not_change_again():
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        stage = compiled(getattr(stages, form)())
        for text in random_texts(400, 7):
            once = apply(stage, text)
            assert once == unicodedata.normalize(form, text) == apply(stage, once)


# -- the textbook ----------------------------------------------------------------------------------


def test_bert_is_the_textbooks():
    whole = compiled(stages.BertNormalizer())
    steps = [
        (textbook.clean, compiled(stages.BertNormalizer(True, False, False, False))),
        (textbook.space_out_chinese, compiled(stages.BertNormalizer(False, True, False, False))),
        (textbook.strip_accents, compiled(stages.BertNormalizer(False, False, True, False))),
        (textbook.lowercase, compiled(stages.Lowercase())),
        (textbook.bert, whole),
    ]
    for text in random_texts(more(1000, 3000), 1):
        for step, stage in steps:
            assert apply(stage, text) == step(text), text


def test_blanks_are_handled_as_in_the_textbook():
    chance = random.Random(2)
    texts = ["".join(chance.choices("ab  \u2581\t", k=chance.randrange(8))) for _ in range(500)]
    for settings in product((True, False), repeat=4):
        stage = compiled(stages.SpaceMarks(*settings))
        dummy, remove_extra, escape, suffix = settings
        for text in texts:
            wanted = textbook.mark_spaces(text, dummy=dummy, remove_extra=remove_extra, escape=escape, suffix=suffix)
            assert apply(stage, text) == wanted, (text, settings)


@pytest.mark.parametrize("name", ["nmt_nfkc", "nfkc_cf"])
def test_rules_are_applied_as_in_the_textbook(name):
    stage = compiled(charsmap(name))
    characters = [*TRICKY, "ﬁ", "①", "か", "\u3099", "ｶ", "ﾞ", "\u1112", "\u1161", "\u11ab"]
    single = {c: apply(stage, c) for c in characters}
    pairs = {a + b: apply(stage, a + b) for a in characters for b in characters}
    rules = {c: with_ for c, with_ in single.items() if with_ != c}
    rules |= {pair: with_ for pair, with_ in pairs.items() if with_ != single[pair[0]] + single[pair[1]]}
    chance = random.Random(3)
    checked = 0
    for _ in range(more(600, 1500)):
        text = "".join(chance.choices(characters, k=chance.randrange(1, 9)))
        # The table has rules of three characters too; the textbook is told of pairs alone.
        if all(apply(stage, text[i : i + 3]) == textbook.rewrite(text[i : i + 3], rules) for i in range(len(text) - 2)):
            assert apply(stage, text) == textbook.rewrite(text, rules), text
            checked += 1
    assert checked > 400


# -- what cannot be --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("component", "sentence"),
    [
        ({"type": "Precompiled", "precompiled_charsmap": "%"}, "not base64"),
        ({"type": "Charsmap", "precompiled_charsmap": "AAA="}, "cut off"),
        ({"type": "Charsmap", "precompiled_charsmap": "/////w=="}, "shorter than it says"),
        ({"type": "Charsmap", "precompiled_charsmap": "AAAAAP8="}, "not UTF-8"),
        ({"type": "Replace", "pattern": {"Regex": "(" * 9999}, "content": ""}, "does not compile"),
        ({"type": "Replace", "pattern": {"Regex": "(?:a{1000}){9999999}"}, "content": ""}, "does not compile"),
        ({"type": "NFC", "more": 1}, "unknown field"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(component, sentence):
    with pytest.raises(ValueError, match=sentence):
        _core.Stages(json.dumps({"normalizers": [component]}))


def test_there_is_no_table_of_another_name():
    assert _core.charsmap("identity") == b""
    with pytest.raises(ValueError, match="there are identity, nfkc"):
        _core.charsmap("nfkd")
