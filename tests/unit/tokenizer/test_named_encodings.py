"""Named encodings and models, held against tiktoken's own tables."""

from __future__ import annotations

import inspect
import re

import pytest

from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import PATTERNS, scanner_for
from bpe_cli.tokenizer import named_encodings
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
    tokenizer = named_encodings.named(name)
    assert (tokenizer.vocab_size, tokenizer.name) == (SIZES[name], name)
    assert named_encodings.named(name) is tokenizer


def test_names_are_tiktokens():
    assert list(named_encodings.ENCODINGS) == list(SIZES)


def test_special_ids_lie_outside_the_ordinary_ones():
    for name in SIZES:
        tokenizer = named_encodings.named(name)
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
    ours = named_encodings.ENCODINGS[name]
    # tiktoken reads <|reserved_200018|> as another text for <|endofprompt|>; it never writes it.
    theirs["special_tokens"].pop("<|reserved_200018|>", None)
    assert dict(ours.special_tokens) == theirs["special_tokens"]
    assert scanner_for(theirs["pat_str"]) == PATTERNS[ours.pattern].scanner
    assert asked in ([ours.sha256], [])  # gpt2 comes from other files, with the same ranks as r50k_base


def test_models_equal_those_of_tiktoken():
    source = needs("tiktoken.model")
    assert named_encodings.MODELS == source.MODEL_TO_ENCODING
    assert named_encodings.MODEL_PREFIXES == source.MODEL_PREFIX_TO_ENCODING
    names = [*source.MODEL_TO_ENCODING, *source.MODEL_PREFIX_TO_ENCODING]
    names += [f"{name}{suffix}" for name in names for suffix in ("-x", "x", "-2024-05-13", ":me")]
    for name in names:
        try:
            expected = inspect.unwrap(source.encoding_name_for_model)(name)
        except KeyError:
            expected = None
        assert named_encodings.encoding_for_model(name) == expected, name


@pytest.mark.parametrize("name", [*named_encodings.ENCODINGS, *named_encodings.MODELS])
def test_every_name_works_in_any_case(name):
    tokenizer = named_encodings.named(name)
    assert tokenizer.name == named_encodings.encoding_of(name)
    assert (
        named_encodings.named(name.upper())
        is named_encodings.named(name.title())
        is named_encodings.find(name)
        is tokenizer
    )


@pytest.mark.parametrize("prefix", named_encodings.MODEL_PREFIXES)
def test_every_beginning_works_in_any_case(prefix):
    expected = named_encodings.MODEL_PREFIXES[prefix]
    for name in (f"{prefix}x", f"{prefix}X".upper()):
        assert named_encodings.named(name).name == expected


def test_what_a_user_adds_to_a_name_keeps_its_case():
    assert named_encodings.canonical("ft:gpt-4o:Org") == "ft:gpt-4o:Org"
    assert named_encodings.canonical("GPT-4") == "gpt-4"
    assert named_encodings.canonical("Nosuch") == "nosuch"


def test_a_name_in_capitals_is_the_same_model_everywhere():
    """Its chat's layout and what is billed, too."""
    from bpe_cli.chat import is_billed, layout_of_model

    for name in ("gpt-3.5-turbo", "gpt-4-32k", "gpt-oss-20b", "gpt-4o", "cl100k_base", "davinci-002", "nosuch"):
        assert layout_of_model(name.upper()) == layout_of_model(name)
        assert is_billed(name.upper()) == is_billed(name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cl100k", "did you mean cl100k_base?"),
        ("gtp-4o", "did you mean gpt-4o or gpt-4 or gpt-4.1?"),
        ("GTP-4o", "did you mean gpt-4o or gpt-4 or gpt-4.1?"),
        ("o200k_bas", "did you mean o200k_base or cl100k_base or r50k_base?"),
        ("gpt4o", "did you mean gpt-4o?"),
        ("GPT 4o", "did you mean gpt-4o?"),
        ("gpt5", "did you mean gpt-5?"),
        ("zzzz", f"encodings are {', '.join(SIZES)}; or give a path"),
    ],
)
def test_unknown_names_get_the_nearest_ones(name, hint):
    with pytest.raises(UsageError) as caught:
        named_encodings.named(name)
    assert (caught.value.message, caught.value.hint) == (f'unknown tokenizer "{name}"', hint)


FAMILIES = {
    "gpt-3": "GPT-3's models are davinci",
    "GPT3": "GPT-3's models are davinci",
    "gpt-3.5-": "GPT-3.5 is gpt-3.5-turbo",
    "codex": "Codex was code-davinci-002",
    "chatgpt": "ChatGPT's models are gpt-3.5-turbo",
    "gpt-oss": "its sizes are gpt-oss-20b",
    "o4": "there is o4-mini",
    "text-embedding-3": "there are text-embedding-3-small",
    "claude": "its tokenizer is not public",
    "claude-opus-4": "its tokenizer is not public",
    "gemini-2.5-pro": "its tokenizer is not public",
    "llama3": "its tokenizer comes with the model: name its file, or hf:ORG/NAME",
    "Llama-3.1-8B": "its tokenizer comes with the model: name its file, or hf:ORG/NAME",
    "qwen": "its tokenizer comes with the model: name its file, or hf:ORG/NAME",
    "mistral": "its tokenizer comes with the model: name its file, or hf:ORG/NAME",
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_no_tokenizer_and_says_what_is(name):
    with pytest.raises(UsageError) as caught:
        named_encodings.named(name)
    assert caught.value.hint.startswith(FAMILIES[name])


def test_everything_that_a_hint_names_works():
    """Of whatever looks like a name: of families, of names with signs or letters missing, changed or added."""
    typed = [*FAMILIES, *named_encodings._FAMILIES]
    for name in [*named_encodings.ENCODINGS, *named_encodings.MODELS, *named_encodings.MODEL_PREFIXES]:
        typed += [
            name[1:],
            name[:-1],
            name.replace("-", ""),
            name.replace("-", "_"),
            f"{name}x",
            name.replace("o", "0"),
        ]
    tried = 0
    for name in typed:
        if named_encodings.find(name) is not None:
            continue
        hint = named_encodings.unknown(name).hint
        suggested = re.findall(r"(?<![\w.-])(?:[a-z0-9]+(?:[-.][a-z0-9]+)+|davinci|curie|babbage|ada)\b", hint)
        if hint.startswith("did you mean "):
            suggested += hint.removeprefix("did you mean ").removesuffix("?").split(" or ")
        for each in suggested:
            assert named_encodings.find(each) is not None, (name, hint)
        tried += len(suggested)
    assert tried > 200


def test_of_several_encodings_with_the_same_ranks_the_plainest_is_meant():
    edit = named_encodings.ENCODINGS["p50k_edit"]
    assert list(named_encodings.of_ranks(edit.sha256)) == ["p50k_base", "p50k_edit"]
    assert named_encodings.of_ranks("0" * 64) == {}
