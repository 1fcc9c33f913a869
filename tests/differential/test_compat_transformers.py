"""``bpe_cli.compat.transformers`` gives what transformers gives, for every tokenizer.json that we have."""

from __future__ import annotations

import copy
import json
import pickle
import threading
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


def test_a_stage_that_is_held_from_before_is_followed(small):
    """It was not, but for the model: nobody had asked the backend for it."""
    theirs, other = (copy.deepcopy(pair(small)[1]) for _ in range(2))
    held = theirs._tokenizer.pre_tokenizer
    one = ours.patch(theirs)
    before = one("Hello").input_ids
    held.add_prefix_space = other._tokenizer.pre_tokenizer.add_prefix_space = True
    assert one("Hello").input_ids == other("Hello").input_ids != before


def test_a_large_table_is_not_looked_at_for_each_call(shared):
    """That of T5's normalizer takes longer to compare than a text to encode, and nothing of it can be changed."""
    one, _ = pair(shared / "vocabs" / "t5-small")
    one("Hello")
    assert {"model", "pre_tokenizer", "post_processor"} <= one._tokenizer.state().keys()
    assert all(len(state or ()) < 10_000 for state in one._tokenizer.state().values())


LATER = {
    "added": lambda backend: backend.add_tokens(["xyzzy"]),
    "special": lambda backend: backend.add_special_tokens(["xyzzy"]),
    "another stage": lambda backend: setattr(backend, "normalizer", tokenizers.normalizers.Replace("x", "")),
    "settings": lambda backend: backend.enable_truncation(max_length=2),
}


@pytest.mark.parametrize("change", LATER)
def test_offsets_are_those_of_the_tokenizer_that_encoded(small, change):
    """They were made by the one of later, and did not belong to the ids."""
    one, other = (copy.deepcopy(each) for each in pair(small))
    found, expected = (each(["xyzzy abc", "xyzzy"], padding=True) for each in (one, other))
    again, expected_again = one("abc xyzzy"), other("abc xyzzy")
    for each in (one, other):
        LATER[change](each._tokenizer)
    for place in range(2):
        assert len(found.tokens(place)) == len(found["input_ids"][place])
        for method in ("tokens", "word_ids", "sequence_ids"):
            assert getattr(found, method)(place) == getattr(expected, method)(place), method
    assert found[1].offsets == expected[1].offsets
    assert again.tokens() == expected_again.tokens()
    assert one("xyzzy x").tokens() == other("xyzzy x").tokens()


def test_offsets_from_before_a_change_in_place_are_refused(small):
    one = copy.deepcopy(pair(small)[0])
    stage = one._tokenizer.pre_tokenizer
    known, unknown = one("Hello you"), one("Hello you")
    tokens = known.tokens()
    stage.add_prefix_space = not stage.add_prefix_space
    with pytest.raises(UsageError, match="a stage of the tokenizer was changed in place after the text was encoded"):
        unknown.tokens()
    assert known.tokens() == tokens
    stage.add_prefix_space = not stage.add_prefix_space
    assert unknown.tokens() == tokens


def test_reading_offsets_changes_nothing_for_other_threads(small):
    """The truncation of an earlier call was that of a later one for a while, in another thread."""
    one = copy.deepcopy(pair(small)[0])
    backend = one._tokenizer
    early = one("a b c d e f", truncation=True, max_length=3)
    text = "one two three four five"
    expected = one(text).input_ids
    inside, seen = threading.Event(), []

    class Watched:
        """Stands for the original: encoding by it waits until another thread has tried to encode."""

        def __init__(self, theirs):
            self.__dict__["theirs"] = theirs

        def __getattr__(self, name):
            return getattr(self.theirs, name)

        def __setattr__(self, name, value):
            setattr(self.theirs, name, value)

        def encode_batch(self, *inputs, **options):
            inside.set()
            other.join(0.2)
            return self.theirs.encode_batch(*inputs, **options)

    def encode():
        inside.wait(60)
        seen.append(one(text).input_ids)

    backend.__dict__["theirs"] = Watched(backend.theirs)
    early.encodings[0]._call.theirs = backend.theirs
    other = threading.Thread(target=encode)
    other.start()
    assert len(early.tokens()) == len(early["input_ids"]) == 3
    other.join(60)
    assert seen == [expected]


def test_an_encoding_is_cut_and_filled_up(small):
    """Only the original was, of which the ids were not."""
    one, other = pair(small)
    lists = ("ids", "type_ids", "attention_mask", "special_tokens_mask", "tokens", "offsets", "word_ids")
    for change in (
        lambda encoding: encoding.truncate(2),
        lambda encoding: encoding.truncate(3, stride=1, direction="left"),
        lambda encoding: encoding.pad(12),
        lambda encoding: encoding.pad(12, direction="left", pad_id=1, pad_type_id=1, pad_token="x"),
        lambda encoding: (encoding.pad(12), encoding.truncate(9)),
    ):
        found, expected = (each.backend_tokenizer.encode("hello world foo bar") for each in (one, other))
        for each in (found, expected):
            change(each)
        for name in lists:
            assert getattr(found, name) == getattr(expected, name), name
        assert len(found) == len(expected)
        assert pickle.loads(pickle.dumps(found)).ids == expected.ids


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
