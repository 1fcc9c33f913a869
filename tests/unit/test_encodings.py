"""Named encodings and models, held against tiktoken's own tables."""

from __future__ import annotations

import inspect

import pytest

from bpe_cli import encodings
from bpe_cli.errors import UsageError
from bpe_cli.patterns import PATTERNS, scanner_for
from tests.needs import needs

SIZES = {
    "gpt2": 50257,
    "r50k_base": 50257,
    "p50k_base": 50281,
    "p50k_edit": 50284,
    "cl100k_base": 100277,
    "o200k_base": 200019,
    "o200k_harmony": 201088,
}


@pytest.mark.parametrize("name", list(SIZES))
def test_named_tokenizer_has_its_size_and_name(name):
    tokenizer = encodings.named(name)
    assert (tokenizer.vocab_size, tokenizer.name) == (SIZES[name], name)
    assert encodings.named(name) is tokenizer


def test_names_are_tiktokens():
    assert list(encodings.ENCODINGS) == list(SIZES)


def test_special_ids_lie_outside_the_ordinary_ones():
    for name in SIZES:
        tokenizer = encodings.named(name)
        vocabulary = tokenizer.model.vocabulary
        for token in tokenizer.special_tokens:
            assert token.token_id >= vocabulary.size or not vocabulary.token(token.token_id), (name, token)


@pytest.mark.parametrize("name", list(SIZES))
def test_facts_equal_those_of_tiktoken(name, monkeypatch):
    source = needs("tiktoken_ext.openai_public")
    asked = []

    def note(*_, expected_hash=None, **__):
        asked.append(expected_hash)
        return {}

    monkeypatch.setattr(source, "load_tiktoken_bpe", note)
    monkeypatch.setattr(source, "data_gym_to_mergeable_bpe_ranks", lambda **_: {})
    theirs = source.ENCODING_CONSTRUCTORS[name]()
    ours = encodings.ENCODINGS[name]
    # tiktoken reads <|reserved_200018|> as another text for <|endofprompt|>; it never writes it.
    theirs["special_tokens"].pop("<|reserved_200018|>", None)
    assert dict(ours.special_tokens) == theirs["special_tokens"]
    assert scanner_for(theirs["pat_str"]) == PATTERNS[ours.pattern].scanner
    assert asked in ([ours.sha256], [])  # gpt2 comes from other files, with the same ranks as r50k_base


def test_models_equal_those_of_tiktoken():
    source = needs("tiktoken.model")
    assert encodings.MODELS == source.MODEL_TO_ENCODING
    assert encodings.MODEL_PREFIXES == source.MODEL_PREFIX_TO_ENCODING
    names = [*source.MODEL_TO_ENCODING, *source.MODEL_PREFIX_TO_ENCODING]
    names += [f"{name}{suffix}" for name in names for suffix in ("-x", "x", "-2024-05-13", ":me")]
    for name in names:
        try:
            expected = inspect.unwrap(source.encoding_name_for_model)(name)
        except KeyError:
            expected = None
        assert encodings.encoding_for_model(name) == expected, name


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cl100k", "cl100k_base"),
        ("gpt-40", "gpt-4o"),
        ("o200k_bas", "o200k_base"),
        ("zzzz", "encodings are gpt2, r50k_base"),
    ],
)
def test_unknown_names_get_the_nearest_ones(name, hint):
    with pytest.raises(UsageError) as caught:
        encodings.named(name)
    assert caught.value.message == f'unknown tokenizer "{name}"'
    assert hint in caught.value.hint


def test_of_several_encodings_with_the_same_ranks_the_plainest_is_meant():
    edit = encodings.ENCODINGS["p50k_edit"]
    assert list(encodings.of_ranks(edit.sha256)) == ["p50k_base", "p50k_edit"]
    assert encodings.of_ranks("0" * 64) == {}
