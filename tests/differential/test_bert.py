"""BERT's vocabularies against what Hugging Face's library, and Google's own code, give for them."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bpe_cli import formats
from bpe_cli.formats import bert as bert_vocab
from bpe_cli.formats.huggingface import companions
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import affixes, process
from tests.differential.test_hugging_face_files import character_span
from tests.differential.texts import suite
from tests.needs import needs

RECORDED = ("bert-base-uncased", "bert-base-chinese", "bert-base-uncased.nocjk-noaccents")


class Case(NamedTuple):
    """A tokenizer, what is recorded of it, and the texts by id."""

    tokenizer: Tokenizer
    results: dict[str, dict[str, Any]]
    texts: dict[str, str]


@cache
def tokenizer_of(vocabulary: Path, options: str) -> Tokenizer:
    """Read BERT's tokenizer of a ``vocab.txt``, with the settings that ``tokenizer_config.json`` would hold."""
    settings = json.loads(options)
    assert [settings[name] for name in ("clean_text", "unk_token", "wordpieces_prefix")] == [True, "[UNK]", "##"]
    config = {
        "do_lower_case": settings["lowercase"],
        "strip_accents": settings["strip_accents"],
        "tokenize_chinese_chars": settings["handle_chinese_chars"],
    }
    stated = companions.loads({companions.CONFIG: json.dumps(config).encode()})
    tokenizer = bert_vocab.loads(vocabulary.read_bytes(), str(vocabulary), stated)
    assert tokenizer.model.max_input_chars_per_word == settings["max_input_chars_per_word"]
    return tokenizer


def case_of(shared: Path, name: str) -> Case:
    recorded = json.loads((shared / "expected" / "bert" / f"{name}.json").read_bytes())
    vocabulary = shared / recorded["vocab"] / "vocab.txt"
    return Case(tokenizer_of(vocabulary, json.dumps(recorded["options"])), recorded["cases"], suite(shared))


@pytest.fixture(params=RECORDED)
def case(request, shared) -> Case:
    return case_of(shared, request.param)


# -- Hugging Face's library ------------------------------------------------------------------------


def test_every_text_is_recorded(case):
    assert set(case.results) == set(case.texts)
    assert len(case.texts) == 309


def test_ids(case):
    wrong = {
        name: (case.texts[name][:60], result["ids"][:20])
        for name, result in case.results.items()
        if case.tokenizer.encode(case.texts[name], specials="all") != result["ids"]
    }
    assert not wrong


def test_ids_with_special_tokens(case):
    assert affixes(case.tokenizer.post_processor) == ((101,), (102,))
    for name, result in case.results.items():
        ids = case.tokenizer.encode(case.texts[name], specials="all")
        processed = process(case.tokenizer.post_processor, ids)
        assert processed.ids == result["with_special"], name
        assert processed.special_mask == [1, *[0] * len(ids), 1], name


def test_tokens_and_offsets(case):
    """Byte spans, turned into characters, are Hugging Face's offsets."""
    compared = 0
    for name, result in case.results.items():
        if "offsets" not in result:  # left out of the recorded results of very long texts
            continue
        text = case.texts[name]
        tokens = case.tokenizer.tokens(text, specials="all")
        assert [token.content.decode() for token in tokens] == result["tokens"], name
        spans = [character_span(text, token.start, token.end) for token in tokens]
        assert spans == result["offsets"], name
        compared += 1
    assert compared > 280


def test_decoded(case):
    for name, result in case.results.items():
        # Hugging Face's decode leaves special tokens out unless it is told not to.
        ids = [token_id for token_id in result["ids"] if token_id not in case.tokenizer.special_ids]
        assert case.tokenizer.decode_bytes(ids).decode() == result["decoded"], name


@pytest.mark.parametrize("name", RECORDED[:2])
def test_bare_vocabulary_is_read_in_lower_case(name, shared):
    """No word in these two has a capital letter or an accent, so the file alone gives what is recorded."""
    assert formats.load(shared / "vocabs" / name / "vocab.txt") == case_of(shared, name).tokenizer
    assert formats.load(shared / "vocabs" / name) == case_of(shared, name).tokenizer


@pytest.mark.parametrize("name", RECORDED[:2])
def test_written_vocabulary_is_the_one_that_was_read(name, shared, tmp_path):
    tokenizer = case_of(shared, name).tokenizer
    files = formats.dump(tokenizer, "bert-vocab")
    assert files["vocab.txt"] == (shared / "vocabs" / name / "vocab.txt").read_bytes()
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    assert formats.load(tmp_path) == tokenizer


def test_pairs_are_those_of_hugging_face(case, shared):
    rival = needs("tokenizers")
    theirs = rival.Tokenizer.from_str(formats.dump(case.tokenizer, "tokenizer.json")[""].decode())
    texts = [text for text in case.texts.values() if len(text) < 200][:60]
    for first, second in zip(texts, reversed(texts), strict=True):
        expected = theirs.encode(first, second)
        ours = process(
            case.tokenizer.post_processor, *(case.tokenizer.encode(text, specials="all") for text in (first, second))
        )
        assert (ours.ids, ours.type_ids) == (expected.ids, expected.type_ids)


def test_library_reads_the_same_file_into_the_same_tokenizer(shared):
    """But for what frames a text, which ``BertWordPieceTokenizer`` and ``transformers`` write in two ways."""
    rival = needs("tokenizers")
    path = shared / "vocabs" / RECORDED[0] / "vocab.txt"
    theirs = hf_json.loads(rival.BertWordPieceTokenizer(str(path)).to_str().encode())
    ours = formats.load(path)
    assert replace(theirs, post_processor=ours.post_processor, usage=ours.usage) == ours
    assert formats.dump(theirs, "bert-vocab") == formats.dump(ours, "bert-vocab")


def test_library_takes_more_off_a_line_than_its_end(shared):
    """The Chinese vocabulary has U+2028 as a token; text cannot become it, for BERT takes it for a blank."""
    rival = needs("tokenizers")
    path = shared / "vocabs" / RECORDED[1] / "vocab.txt"
    theirs, ours = rival.BertWordPieceTokenizer(str(path)), formats.load(path)
    token_id = ours.model.vocabulary.id_of("\u2028".encode())
    assert token_id is not None
    assert theirs.id_to_token(token_id) == ""
    assert ours.encode("a\u2028b") == theirs.encode("a\u2028b", add_special_tokens=False).ids


# -- Google's own code -----------------------------------------------------------------------------
#
# It knows no special tokens in text, so ours is asked without them.


def _limit_of_200(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encode with Google's limit on a word's characters; Hugging Face's is 100."""
    model = replace(tokenizer.model, max_input_chars_per_word=200)
    return replace(tokenizer, model=model).encode(text)


def _final_sigma(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encode what Python writes in lower case: of Σ, ς at the end of a word. Hugging Face's lower case has σ."""
    assert text.lower() != "".join(character.lower() for character in text)
    return tokenizer.encode(text.lower())


def _unassigned_left_out(tokenizer: Tokenizer, text: str) -> list[int]:
    """Encode without characters that Unicode has not assigned: Google's code takes all of category C for controls."""
    return tokenizer.encode("".join(character for character in text if unicodedata.category(character) != "Cn"))


GOOGLE_DIFFERS = {
    "el": _final_sigma,
    "nonchar": _unassigned_left_out,
    "unassigned": _unassigned_left_out,
    "run_eac200": _limit_of_200,
    "run_w101": _limit_of_200,
    "bert_long": _limit_of_200,
}
"""The texts of which Google's code gives other ids than Hugging Face's and ours, each with how to get them."""


@pytest.mark.parametrize("name", RECORDED[:2])
def test_google(name, shared):
    tokenizer, _, texts = case_of(shared, name)
    recorded = json.loads((shared / "expected" / "bert" / f"{name}.google.json").read_bytes())["cases"]
    assert set(recorded) == set(texts)
    differ = {case for case, result in recorded.items() if tokenizer.encode(texts[case]) != result["ids"]}
    assert differ == set(GOOGLE_DIFFERS)
    for case, encode in GOOGLE_DIFFERS.items():
        assert encode(tokenizer, texts[case]) == recorded[case]["ids"], case


@pytest.mark.parametrize("name", RECORDED[:2])
def test_google_tokens(name, shared):
    tokenizer, _, texts = case_of(shared, name)
    recorded = json.loads((shared / "expected" / "bert" / f"{name}.google.json").read_bytes())["cases"]
    for case in set(recorded) - set(GOOGLE_DIFFERS):
        tokens = [token.content.decode() for token in tokenizer.tokens(texts[case])]
        assert tokens == recorded[case]["tokens"], case


def test_what_no_recorded_text_shows(shared):
    """Hugging Face's library leaves private use out, and knows fewer Chinese characters than Google's code does."""
    tokenizer, _, _ = case_of(shared, RECORDED[0])
    assert tokenizer.encode("a\ue000b") == tokenizer.encode("ab")
    # Google's range begins at U+2B820, Hugging Face's by a slip of the pen at U+2B920.
    assert len(tokenizer.encode("\U0002b820\U0002b91f")) == 1
    assert len(tokenizer.encode("\U0002b920\U0002b921")) == 2
    rival = needs("tokenizers").normalizers.BertNormalizer()
    normalize = tokenizer.engine.normalize
    for text in ("a\ue000b", "\U0002b820\U0002b91f", "\U0002b920\U0002b921", "ΣΑΣ", "\x0b\x85\u2028", "İ"):
        assert normalize(text.encode()).decode() == rival.normalize_str(text), ascii(text)
