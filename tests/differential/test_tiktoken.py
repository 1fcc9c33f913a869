"""Ids equal tiktoken's: recorded ones of its published encodings, and those that it gives here and now."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.stages import SpecialToken
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.splitters import RegexSplitter
from bpe_cli.tokenizer import Tokenizer, named_encodings
from tests.counted import at_least, compared
from tests.differential.rivals import compare_with_tiktoken, tiktoken_encoding
from tests.differential.texts import (
    MIXED,
    corpus,
    disputed,
    pieces,
    python_sources,
    random_bytes,
    random_texts,
    suite,
    suite_bytes,
    unicode_texts,
)
from tests.oracle.encode import encode_by_ranks
from tests.thorough import more

NAMES = list(named_encodings.ENCODINGS)
FILES = {"llama3": ("llama3-tiktoken/tokenizer.model", "llama3"), "qwen": ("qwen-tiktoken/qwen.tiktoken", "qwen2")}
DISTINCT = ["gpt2", "p50k_base", "cl100k_base", "o200k_base"]
"""The encodings of which no two are alike in ordinary text."""


# -- recorded --------------------------------------------------------------------------------------


@cache
def recorded(shared: Path, name: str) -> dict:
    return json.loads((shared / "expected" / "tiktoken" / f"{name}.json").read_bytes())


@cache
def tokenizer_of(shared: Path, name: str) -> Tokenizer:
    if name not in FILES:
        return named_encodings.named(name)
    path, pattern = FILES[name]
    special = recorded(shared, name)["special_tokens_sample"]
    plain = replace(formats.load(shared / "vocabs" / path, pattern), normalizer=())  # tiktoken never normalizes
    return plain.with_special_tokens(SpecialToken(text.encode(), token_id) for text, token_id in special.items())


@pytest.mark.parametrize("name", [*NAMES, *FILES])
def test_recorded_ids_of_the_suite(shared, name):
    """Qwen's tokenizer normalizes to NFC before it encodes; these ids were recorded without, so it does not here."""
    tokenizer, texts = tokenizer_of(shared, name), suite(shared)
    cases = recorded(shared, name)["cases"]
    assert cases.keys() == texts.keys()
    for case, expected in cases.items():
        assert tokenizer.encode(texts[case]) == expected["ordinary"], case
        assert tokenizer.encode(texts[case], specials="all") == expected.get("special", expected["ordinary"]), case


@at_least(200)
@pytest.mark.parametrize("name", [*NAMES, *FILES])
def test_recorded_offsets_of_the_suite(shared, name):
    """tiktoken counts code points; a token that begins inside one has the offset of that one."""
    tokenizer, texts = tokenizer_of(shared, name), suite(shared)
    for case, expected in recorded(shared, name)["cases"].items():
        if "offsets" not in expected:  # left out of the record for 17 of them
            continue
        # The code point that each byte belongs to.
        code_point = [number for number, character in enumerate(texts[case]) for _ in range(len(character.encode()))]
        offsets = [code_point[token.start] for token in tokenizer.tokens(texts[case])]
        assert offsets == expected["offsets"], case
        compared()


@pytest.mark.parametrize("name", [*NAMES, *FILES])
def test_recorded_ids_of_bytes_that_are_no_text(shared, name):
    """A stray byte is a letter to us; tiktoken glues all from the first one on to the last piece before it.

    The recorded answers are the same. They need not be for other bytes: a piece of ours ends where a
    word does, so that a text is split the same however it is cut into blocks.
    """
    tokenizer, data = tokenizer_of(shared, name), suite_bytes(shared)
    cases = recorded(shared, name)["bytes_cases"]
    assert cases.keys() == data.keys()
    assert {case: tokenizer.encode(data[case]) for case in cases} == cases


# -- live ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_ids_of_the_repositorys_texts(name):
    assert compare_with_tiktoken(name, list(corpus().values())) > 50_000


@pytest.mark.parametrize("name", DISTINCT)
def test_ids_of_pythons_sources(name):
    assert compare_with_tiktoken(name, python_sources(more(600_000, 3_000_000))) > 100_000


@pytest.mark.parametrize("name", DISTINCT)
def test_ids_of_random_texts(name):
    compare_with_tiktoken(name, list(random_texts(more(2500, 200_000), seed=1)))


@pytest.mark.parametrize("name", DISTINCT)
@given(text=unicode_texts() | st.text(max_size=30) | MIXED)
def test_ids_of_any_text(name, text):
    text = text.encode("utf-8", "replace").decode()
    assert named_encodings.named(name).encode(text) == tiktoken_encoding(name).encode_ordinary(text)


@pytest.mark.parametrize("name", ["p50k_edit", "o200k_base", "o200k_harmony"])
@given(data=st.data())
def test_ids_of_any_text_with_special_tokens(name, data):
    tokenizer, rival = named_encodings.named(name), tiktoken_encoding(name)
    contents = [token.content.decode() for token in tokenizer.special_tokens]
    # Whole ones, parts of them, and some that overlap: <|<|end|>
    special = st.sampled_from(contents) | st.sampled_from(contents).flatmap(
        lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut])
    )
    text = "".join(data.draw(st.lists(special | st.sampled_from(["<|", "|>", " ", "a", "\n"]) | MIXED, max_size=8)))
    assert tokenizer.encode(text, specials="all") == rival.encode(text, allowed_special="all")
    assert tokenizer.encode(text) == rival.encode_ordinary(text)
    some = data.draw(st.sets(st.sampled_from(contents), max_size=3))
    assert tokenizer.encode(text, specials=some) == rival.encode(text, allowed_special=some, disallowed_special=())


@at_least(39900)
@pytest.mark.parametrize("name", DISTINCT)
def test_every_token_alone_becomes_itself(name):
    """Of the large vocabularies every second or fourth, and in a hunt all."""
    tokenizer, rival = named_encodings.named(name), tiktoken_encoding(name)
    step = more(tokenizer.model.vocabulary.size // 45_000, 1)
    for token_id, token in islice(tokenizer.model.vocabulary.items(), 0, None, step):
        assert tokenizer.token_bytes(token_id) == token
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue
        assert tokenizer.encode(token) == rival.encode_ordinary(text), token
        compared()


@at_least(1200)
@pytest.mark.parametrize("name", DISTINCT)
def test_ids_of_random_bytes_by_the_book(name):
    """For bytes that are no text there is no rival: the pieces are those of `regex`, merged as the textbook does."""
    tokenizer = named_encodings.named(name)
    ranks = {token: token_id for token_id, token in tokenizer.model.vocabulary.items()}
    slow = RegexSplitter([PATTERNS[named_encodings.ENCODINGS[name].pattern].regex])
    for data in random_bytes(more(1500, 50_000), seed=2):
        if not disputed().isdisjoint(data.decode("utf-8", "surrogateescape")):
            continue
        expected = [ranks[token] for piece in pieces(slow, data) for token in encode_by_ranks(piece, ranks)]
        assert tokenizer.encode(data) == expected, data
        compared()
