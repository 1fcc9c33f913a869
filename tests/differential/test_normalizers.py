"""Normalizers give the texts and offsets of Hugging Face's, and SentencePiece's rules those of SentencePiece."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from bpe_cli import _core, stages
from bpe_cli.stages import Normalizer
from bpe_cli.stages.component_json import component, core_spec
from tests.charsmaps import in_base64
from tests.counted import at_least, compared
from tests.differential.protocol_buffers import field, fields
from tests.differential.texts import MOST, WORDS, assigned, corpus, suite
from tests.needs import needs
from tests.thorough import more

RULES = ("nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")
POOL = (
    *"aeéÉ AE  \t\n\r.中漢İßΣſ",
    *("\u0301", "\u0323", "\u0308", "\u0345", "\u3099", "\u0344", "\u0340", "\u0903", "\u09c7\u09be", "क्ष", "ำ"),
    *("ﬁ", "™", "①", "½", "ǅ", "\u2126", "Ａ", "ｶﾞ", "が", "か", "ﷺ", "\u00a8", "\u1e9b\u0323", "\U0001d160"),
    *("\u1112", "\u1161", "\u11a8", "각", "가", "👩🏽", "🇩", "🇪", "\u200d", "\u200b", "\ufeff", "\ufffd"),
    *("\x01", "\x7f", "\u3000", "\u2028", "\u2581", "\r\n"),
)
"""Characters that some normalizer changes, or that go together with others."""


def random_texts(number: int, seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    for _ in range(number):
        length = chance.choice((1, 2, 4, 8, 14))
        yield "".join(chance.choice(assigned() if chance.random() < 0.07 else POOL) for _ in range(length))


def ours(*normalizers: Normalizer) -> Callable[[str], tuple[str, list[tuple[int, int]]]]:
    """Return what tells the normalized text, and the characters of the original each character stands for."""
    compiled = _core.Stages(core_spec(normalizers, ()))

    def normalize(text: str) -> tuple[str, list[tuple[int, int]]]:
        data, starts, ends = compiled.normalize(text.encode())
        number, at = {}, 0
        for place, character in enumerate(text):
            number[at] = place
            at += len(character.encode())
        number[at] = len(text)
        firsts, lasts, at, spans = memoryview(starts), memoryview(ends), 0, []
        for character in data.decode():
            spans.append((number[firsts[at]], number[lasts[at]]))
            at += len(character.encode())
        return data.decode(), spans

    return normalize


def rival_tokenizer(*normalizers: Normalizer):
    """Make a tokenizer of Hugging Face's whose tokens are single characters."""
    tokenizers = needs("tokenizers")
    # (?m) lets the dot match newlines in its engine.
    split = {"type": "Split", "pattern": {"Regex": "(?m:.)"}, "behavior": "Isolated", "invert": False}
    sequence = {"type": "Sequence", "normalizers": [component(each) for each in normalizers]}
    parts = {"truncation": None, "padding": None, "added_tokens": [], "post_processor": None, "decoder": None}
    model = {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}
    return tokenizers.Tokenizer.from_str(
        json.dumps({"version": "1.0", **parts, "normalizer": sequence, "pre_tokenizer": split, "model": model})
    )


def rival_normalizer(*normalizers: Normalizer):
    return rival_tokenizer(*normalizers).normalizer


def theirs(*normalizers: Normalizer) -> Callable[[str], tuple[str, list[tuple[int, int]]]]:
    """The same as ``ours``, of Hugging Face's."""
    tokenizer = rival_tokenizer(*normalizers)
    return lambda text: (tokenizer.normalizer.normalize_str(text), tokenizer.encode(text).offsets)


# -- Hugging Face ----------------------------------------------------------------------------------

LIKE_THEIRS: dict[str, list[Normalizer]] = {
    "NFC": [stages.NFC()],
    "NFD": [stages.NFD()],
    "NFKC": [stages.NFKC()],
    "NFKD": [stages.NFKD()],
    "Nmt": [stages.Nmt()],
    "Lowercase": [stages.Lowercase()],
    "StripAccents": [stages.StripAccents()],
    "NFD+StripAccents": [stages.NFD(), stages.StripAccents()],
    "Strip": [stages.Strip()],
    "Strip(left)": [stages.Strip(strip_right=False)],
    "Strip(right)": [stages.Strip(strip_left=False)],
    "BertNormalizer": [stages.BertNormalizer()],
    "BertNormalizer(cased)": [stages.BertNormalizer(lowercase=False)],
    "BertNormalizer(lowercase,strip_accents=False)": [stages.BertNormalizer(strip_accents=False)],
    "BertNormalizer(clean_text=False,cjk=False)": [stages.BertNormalizer(False, False)],
    "BertNormalizer(accents alone)": [stages.BertNormalizer(False, False, True, False)],
    "Prepend(▁)": [stages.Prepend("▁")],
    "Prepend(two)": [stages.Prepend("▁é")],
    'Replace(" ",▁)': [stages.Replace(" ", "▁", literal=True)],
    "Replace(two by three)": [stages.Replace("ae", "xyz", literal=True)],
    "Replace(nothing)": [stages.Replace("", "xy", literal=True)],
    'Replace(Regex " {2,}")': [stages.Replace(" {2,}", " ")],
    "Replace(blanks)": [stages.Replace(r"\s+", " ")],
    "Replace(often empty)": [stages.Replace("[ae]*", "-")],
    "Replace(edges of lines)": [stages.Replace("^.|.$", "")],
    "Replace(dot and newline)": [stages.Replace("(?m)a.", "<$0>")],
    "Replace(looks around)": [stages.Replace(r"(?<=a)[eé](?!e)", "")],
    "ByteLevel": [stages.ByteLevelNormalizer()],
    "several": [stages.Replace(" ", "▁_", literal=True), stages.NFKC(), stages.BertNormalizer(), stages.Strip()],
}


@pytest.mark.parametrize("name", LIKE_THEIRS)
def test_texts_and_offsets_are_hugging_faces(name):
    us, them = ours(*LIKE_THEIRS[name]), theirs(*LIKE_THEIRS[name])
    for text in ["", *WORDS, *random_texts(1000, 1)]:
        assert us(text) == them(text), ascii(text)


@pytest.mark.parametrize("name", ["NFC", "NFKD", "Nmt", "StripAccents", "Strip", "BertNormalizer(cased)", "ByteLevel"])
def test_every_character_is_normalized_as_by_hugging_face(name):
    """Also those that came after the Unicode versions of its tables, 8.0 and 9.0."""
    us, them = _core.Stages(core_spec(LIKE_THEIRS[name], ())), rival_normalizer(*LIKE_THEIRS[name])
    # Between letters, so that nothing is at an edge; in stretches, as single calls would take long.
    for start in range(0, len(MOST), 4096):
        text = "x".join(MOST[start : start + 4096])
        assert us.normalize(text.encode())[0].decode() == them.normalize_str(text), hex(ord(MOST[start]))


def test_case_is_lowered_as_by_hugging_face_on_every_character_of_unicode_16():
    text = "x".join(assigned())
    found = _core.Stages(core_spec((stages.Lowercase(),), ())).normalize(text.encode())[0]
    assert found.decode() == rival_normalizer(stages.Lowercase()).normalize_str(text)


@at_least(4450)
def test_results_are_those_recorded(shared: Path):
    recorded = json.loads((shared / "expected" / "components" / "normalizers.json").read_bytes())["normalizers"]
    t5 = json.loads((shared / "vocabs" / "t5-small" / "tokenizer.json").read_bytes())["normalizer"]
    known = LIKE_THEIRS | {"Precompiled(t5-small nmt_nfkc)": [stages.Precompiled(t5["precompiled_charsmap"])]}
    for name, changed in recorded.items():
        compiled = _core.Stages(core_spec(known[name], ()))
        for key, text in suite(shared).items():
            if len(text) <= 260:
                found = compiled.normalize(text.encode())[0].decode()
                assert found == changed.get(key, text), (name, key)
                compared()


def test_the_slip_in_berts_chinese_is_kept():
    """Its extension E begins at U+2B920 instead of U+2B820; the ids of its tokenizers follow from that."""
    for normalize in (ours(stages.BertNormalizer()), theirs(stages.BertNormalizer())):
        assert normalize("\U0002b820\U0002b91f\U0002b920")[0] == "\U0002b820\U0002b91f \U0002b920 "


def test_what_was_put_in_at_the_very_beginning_can_be_normalized():
    """Hugging Face's panics there: it looks for the beginning at the first character that stands for one."""
    text, spans = ours(stages.Replace("^", "-"), stages.NFC())("éa")
    assert (text, spans) == ("-éa", [(0, 0), (0, 1), (1, 2)])


def test_a_word_character_is_another_to_the_other_engine():
    """Oniguruma's word characters are letters, marks, decimal digits and connectors; Unicode's
    recommendation, which our engine follows, adds the joiners. POSIX brackets are ASCII's in ours."""
    for pattern, text, found, wanted in [(r"\w", "a\u200d", "", "\u200d"), ("[[:alpha:]]", "aé", "é", "")]:
        assert ours(stages.Replace(pattern, ""))(text)[0] == found
        assert theirs(stages.Replace(pattern, ""))(text)[0] == wanted


def test_precompiled_is_hugging_faces_by_grapheme():
    normalizer = stages.Precompiled(in_base64("nmt_nfkc"))
    us, them = ours(normalizer), theirs(normalizer)
    for text in [*WORDS, *random_texts(3000, 2)]:
        found, wanted = us(text), them(text)
        assert found[0] == wanted[0], ascii(text)
        # The offsets of a text whose beginning is left out are another matter: the next test.
        if us(text[0])[0]:
            assert found == wanted, ascii(text)


def test_precompiled_offsets_hold_when_the_beginning_is_left_out():
    """Hugging Face's forgets that it left something out before the first character, so that each
    character stands for the one before its own; such offsets are of no use to anybody."""
    normalizer = stages.Precompiled(in_base64("nmt_nfkc"))
    assert ours(normalizer)("\x01ab") == ("ab", [(1, 2), (2, 3)])
    assert theirs(normalizer)("\x01ab") == ("ab", [(0, 1), (1, 2)])


def test_precompiled_is_not_what_sentencepiece_does():
    by_grapheme, by_rule = ours(stages.Precompiled(in_base64("nmt_nfkc"))), ours(stages.Charsmap(in_base64("nmt_nfkc")))
    assert (by_grapheme("a\r\nb")[0], by_rule("a\r\nb")[0]) == ("a b", "a  b")
    assert (by_grapheme("ﬁ\u0301")[0], by_rule("ﬁ\u0301")[0]) == ("fi", "fi\u0301")


# -- SentencePiece ---------------------------------------------------------------------------------


@cache
def sentencepiece_normalizer(name: str, dummy: bool = False, remove_extra: bool = False, escape: bool = False):
    module = needs("sentencepiece")
    return module.SentencePieceNormalizer(
        rule_name=name, add_dummy_prefix=dummy, remove_extra_whitespaces=remove_extra, escape_whitespaces=escape
    )


@pytest.mark.parametrize("name", ["identity", *RULES])
def test_rules_and_blanks_are_sentencepieces(name):
    texts = [*WORDS, *random_texts(400, 3)]
    chance = random.Random(4)
    texts += ["".join(chance.choices(" ▁a\x01\u3000é", k=chance.randrange(6))) for _ in range(400)]
    for number, (dummy, remove_extra, escape) in enumerate(product((True, False), repeat=3)):
        rival = sentencepiece_normalizer(name, dummy, remove_extra, escape)
        compiled = _core.Stages(
            core_spec([stages.Charsmap(in_base64(name)), stages.SpaceMarks(dummy, remove_extra, escape)], ())
        )
        files = [*corpus().values()][more(number, 0) :: more(8, 1)]  # each in one way, and in all in a hunt
        for text in (*texts, *files):
            assert compiled.normalize(text.encode())[0].decode() == rival.normalize(text), ascii(text[:80])


def test_offsets_begin_where_sentencepieces_do():
    """One mark that stays of several blanks stands for all of them; one that is added, for an empty place."""
    rival = sentencepiece_normalizer("nmt_nfkc", True, True, True)
    normalize = ours(stages.Charsmap(in_base64("nmt_nfkc")), stages.SpaceMarks())
    assert normalize("  ﬁ  é ") == ("▁fi▁é", [(2, 2), (2, 3), (2, 3), (3, 5), (5, 6)])
    for text in random_texts(1500, 6):
        found, spans = normalize(text)
        wanted, starts = rival.normalize(text, with_offsets=True)
        # Its added mark stands before what is left out at the beginning, ours behind it.
        begins = 1 if ours_is_empty(normalize, text[0]) else 0
        assert found == wanted
        assert [start for start, _ in spans][begins:] == starts[:-1][begins:], ascii(text)


def ours_is_empty(normalize: Callable[[str], tuple[str, object]], character: str) -> bool:
    return not normalize(character)[0]


NEW_CAPITALS = {*map(chr, (0xA7CE, 0xA7D2, 0xA7D4)), *map(chr, range(0x16EA0, 0x16EB9))}
"""Capitals that Unicode 17.0 brought."""


@pytest.mark.parametrize("name", RULES)
def test_every_character_is_rewritten_as_by_sentencepiece(name):
    """But those of Unicode 17.0, of which its tables have been since 0.2.1; ours are of 16.0, as all the core."""
    rival, compiled = sentencepiece_normalizer(name), _core.Stages(core_spec([stages.Charsmap(in_base64(name))], ()))
    different = set()
    for start in range(1, len(MOST), 4096):
        stretch = [*MOST[start : start + 4096]]
        text = "x".join(stretch)
        if compiled.normalize(text.encode())[0].decode() != rival.normalize(text):
            different |= {
                each for each in stretch if compiled.normalize(each.encode())[0].decode() != rival.normalize(each)
            }
    newest = {"\ua7f1"} | (NEW_CAPITALS if name.endswith("_cf") else set())
    assert different <= newest


def test_sentencepiece_reads_a_table_of_ours():
    module = needs("sentencepiece")
    for name in RULES:
        settings = field(1, name.encode()) + field(2, base64.b64decode(in_base64(name)))
        rival = module.SentencePieceNormalizer(normalizer_spec=settings)
        own = sentencepiece_normalizer(name, True, True, True)
        for text in [*WORDS, *random_texts(300, 5)]:
            assert rival.normalize(text) == own.normalize(text), ascii(text)


@at_least(1200)
def test_tables_of_real_models_give_their_texts(shared: Path):
    """Older tables than ours, too: a model carries its own."""
    for name in ("spm-test_model", "spm-test_ja_model", "chatglm-6b", "xlnet-base-cased", "llama2"):
        recorded = json.loads((shared / "expected" / "sentencepiece" / f"{name}.json").read_bytes())
        message = (shared / recorded["model"]).read_bytes()
        settings = dict(fields(next(value for number, value in fields(message) if number == 3)))
        charsmap = base64.b64encode(settings.get(2, b"")).decode()
        flags = [settings.get(number) != b"\0" for number in (3, 4, 5)]
        compiled = _core.Stages(core_spec([stages.Charsmap(charsmap), stages.SpaceMarks(*flags)], ()))
        texts = suite(shared)
        for key, case in recorded["cases"].items():
            if "normalized" in case and "\0" not in texts[key]:
                assert compiled.normalize(texts[key].encode())[0].decode() == case["normalized"], (name, key)
                compared()
