"""``bpe_cli.compat.transformers`` gives what transformers gives, for every tokenizer.json that we have."""

from __future__ import annotations

import copy
import json
import pickle
from functools import cache
from pathlib import Path

import pytest

from bpe_cli.errors import FormatError, UsageError
from tests.counted import at_least, compared
from tests.differential.texts import random_texts, suite
from tests.needs import needs
from tests.thorough import more

transformers = needs("transformers")
tokenizers = needs("tokenizers")
ours = needs("bpe_cli.compat.transformers")

NAMES = ["clip", "falcon", "hf-llama3", "hf-qwen2_5", "llama2-repaired", "phi-3-mini", "roberta-base", "t5-small",
         "whisper-tiny"]  # fmt: skip
BROKEN = ["added-tokens-test", "llama2"]
"""Those that Hugging Face's own library does not read."""


@cache
def pair(path: Path):
    file = str(path / "tokenizer.json")
    vocab = json.loads(Path(file).read_bytes())["model"]["vocab"]
    first = vocab[0][0] if isinstance(vocab, list) else next(token for token, number in vocab.items() if number == 0)
    options = {"tokenizer_file": file, "pad_token": first}
    return ours.PreTrainedTokenizerFast(**options), transformers.PreTrainedTokenizerFast(**options)


@pytest.fixture(scope="module")
def small(shared, tmp_path_factory):
    """Return the folder of a tokenizer.json that has the first merges of RoBERTa's alone, and all else that it has."""
    described = json.loads((shared / "vocabs" / "roberta-base" / "tokenizer.json").read_bytes())
    model, special = described["model"], {token["content"] for token in described["added_tokens"]}
    model["merges"] = model["merges"][:300]
    made = {"".join(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]}
    kept = [token for token in model["vocab"] if len(token) == 1 or token in made | special]
    model["vocab"] = {token: number for number, token in enumerate(kept)}
    for token in described["added_tokens"]:
        token["id"] = model["vocab"][token["content"]]
    folder = tmp_path_factory.mktemp("small")
    (folder / "tokenizer.json").write_text(json.dumps(described))
    return folder


def test_every_one_is_among_them(shared):
    assert sorted(path.parent.name for path in (shared / "vocabs").glob("*/tokenizer.json")) == sorted(NAMES + BROKEN)
    for name in BROKEN:
        with pytest.raises(Exception, match=r"did not match any variant|file invalid"):
            tokenizers.Tokenizer.from_file(str(shared / "vocabs" / name / "tokenizer.json"))


@at_least(more(900, 1500))
@pytest.mark.parametrize("name", NAMES)
def test_texts_and_pairs(name, shared):
    """All texts in the first way, and in each of the others a third: another one for the next tokenizer."""
    one, other = pair(shared / "vocabs" / name)
    every = texts = [*suite(shared).values(), *random_texts(100, seed=5)]
    ways = [
        {},
        {"add_special_tokens": False},
        {"split_special_tokens": True},
        {"truncation": True, "max_length": 9, "padding": True, "return_special_tokens_mask": True},
        {"padding": "max_length", "max_length": 30, "return_token_type_ids": True, "pad_to_multiple_of": 8},
        {"truncation": True, "max_length": 6, "padding": True, "padding_side": "left"},
    ]
    pairs = texts[:50], texts[-50:]
    for number, options in enumerate(ways, NAMES.index(name)):
        if options:
            texts = every[number % more(3, 1) :: more(3, 1)]
        found, expected = one(texts, **options), other(texts, **options)
        assert found.keys() == expected.keys()
        assert {each.n_sequences for each in found.encodings} == {each.n_sequences for each in expected.encodings}
        for key in expected:
            wrong = [text for text, *both in zip(texts, found[key], expected[key], strict=True) if both[0] != both[1]]
            assert not wrong, (options, key, wrong[:3])
        found, expected = one(*pairs, **options), other(*pairs, **options)
        assert found.data == expected.data, options
        compared(len(texts))
    assert type(one._tokenizer) is ours.Backend


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_for_besides(name, shared):
    one, other = pair(shared / "vocabs" / name)
    texts = ["Hello  wörld, 你好", "", "a b\nc"]
    found, expected = (
        each(
            texts, return_offsets_mapping=True, return_overflowing_tokens=True, truncation=True, max_length=5, stride=1
        )
        for each in (one, other)
    )
    assert found.data == expected.data
    for place in range(len(texts)):
        assert found.tokens(place) == expected.tokens(place)
        assert found.word_ids(place) == expected.word_ids(place)
    assert one(texts[0]).data == other(texts[0]).data
    assert one.encode(texts[0]) == other.encode(texts[0])
    assert one.tokenize(texts[0]) == other.tokenize(texts[0])
    assert one.decode(one(texts[0]).input_ids) == other.decode(other(texts[0]).input_ids)
    words = ["Hello", "you"]
    try:
        expected = other(words, is_split_into_words=True).data
    except Exception as error:
        with pytest.raises(type(error)):
            one(words, is_split_into_words=True)
    else:
        assert one(words, is_split_into_words=True).data == expected
    assert len(one) == len(other)
    assert one.get_vocab() == other.get_vocab()


def test_a_tokenizer_that_changes_stays_equal(small):
    one, other = (copy.deepcopy(each) for each in pair(small))
    text = "Hello <new> wörld<sep2>"
    before = one(text).input_ids
    for each in (one, other):
        each.add_tokens(["<new>"])
        each.add_special_tokens({"additional_special_tokens": ["<sep2>"]})
    assert one(text).input_ids == other(text).input_ids != before
    for each in (one, other):
        each._tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    assert one(text).input_ids == other(text).input_ids


def test_a_stage_that_is_changed_in_place_is_followed(small):
    """It was not: only one that was put in the place of another."""
    one, other = (copy.deepcopy(each) for each in pair(small))
    text = "Hello wörld you\n"
    for each in (one, other):
        each._tokenizer.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.BertNormalizer()])
    backends = one._tokenizer, other._tokenizer
    stages = [(each.normalizer, each.pre_tokenizer, each.model) for each in backends]
    seen = [one(text).input_ids]
    for change in (
        lambda normalizer, *_: setattr(normalizer[0], "lowercase", False),
        lambda _, pre_tokenizer, __: setattr(pre_tokenizer, "add_prefix_space", not pre_tokenizer.add_prefix_space),
        lambda *stages: setattr(stages[2], "ignore_merges", True),
    ):
        for each in stages:
            change(*each)
        assert one(text).input_ids == other(text).input_ids
        seen.append(one(text).input_ids)
    assert seen[0] != seen[1] != seen[2]


@pytest.mark.parametrize("way", ["through the backend", "held from before"])
def test_dropout_that_is_turned_on_is_refused(small, way):
    """Ids went on being the same each time."""
    theirs = copy.deepcopy(pair(small)[1])
    held = theirs._tokenizer.model
    one = ours.patch(theirs)
    expected = one("Hello").input_ids
    model = held if way == "held from before" else one._tokenizer.model
    model.dropout = 0.5
    with pytest.raises(FormatError, match="dropout"):
        one("Hello")
    model.dropout = None
    assert one("Hello").input_ids == expected


def test_a_unigram_model_that_is_to_draw_is_refused():
    model = tokenizers.models.Unigram([("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -1.0)], unk_id=0)
    one = ours.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model))
    assert one("ab").input_ids == [3]
    one._tokenizer.model.alpha = 0.5
    with pytest.raises(FormatError, match="alpha"):
        one("ab")


def test_a_tokenizer_that_stays_is_compiled_once(small, monkeypatch):
    from bpe_cli.formats.huggingface import tokenizer_json

    one = copy.deepcopy(pair(small)[0])
    loads, compiled = tokenizer_json.loads, []
    monkeypatch.setattr(tokenizer_json, "loads", lambda data: (compiled.append(data), loads(data))[1])
    for _ in range(3):
        ids = one("Hello wörld").input_ids
        one.decode(ids, clean_up_tokenization_spaces=True)
        assert one.convert_tokens_to_string(["a"])
        assert type(one._tokenizer.model).__name__ == "BPE"
    assert len(compiled) == 1


def test_it_can_be_copied_pickled_and_saved(small, tmp_path):
    one, other = pair(small)
    text = "Hello wörld"
    expected = other(text).input_ids
    for copied in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert copied(text).input_ids == expected
        assert type(copied._tokenizer) is ours.Backend
    one.save_pretrained(tmp_path)
    again = ours.PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert again(text).input_ids == expected
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert ours.patch(theirs) is theirs
    assert theirs(text).input_ids == expected
    assert ours.patch(theirs)._tokenizer is theirs._tokenizer
    found = pickle.loads(pickle.dumps(one([text])))
    assert found.tokens(0) == other([text]).tokens(0)


def test_the_core_is_what_encodes(small, monkeypatch):
    """The original is not called for ids and masks."""
    one, other = pair(small)
    expected = other(["Hello", "wörld you"], truncation=True, max_length=4, padding=True).data
    monkeypatch.setattr(ours._Call, "by_theirs", lambda _: pytest.fail("theirs was asked"))
    assert one(["Hello", "wörld you"], truncation=True, max_length=4, padding=True).data == expected


def test_what_cannot_be_had_is_refused(small):
    with pytest.raises(UsageError, match="str is not a fast tokenizer of transformers"):
        ours.patch("gpt2")
    described = json.loads((small / "tokenizer.json").read_bytes())
    described["model"]["dropout"] = 0.1
    odd = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(described)))
    with pytest.raises(FormatError, match="dropout"):
        ours.patch(odd)
    described["model"]["dropout"] = None
