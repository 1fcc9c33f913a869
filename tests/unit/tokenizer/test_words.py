"""Which piece a token belongs to: worked examples, and as tokenizers says it."""

from __future__ import annotations

import json

import pytest

import bpe_cli
from bpe_cli.errors import InputError
from bpe_cli.stages import SpecialToken
from bpe_cli.tokenizer.words import word_ids
from tests.counted import at_least, compared
from tests.needs import needs

GPT2 = bpe_cli.load("gpt2")
FILES = ["clip", "falcon", "hf-llama3", "hf-qwen2_5", "llama2-repaired", "phi-3-mini", "roberta-base", "t5-small",
         "whisper-tiny"]  # fmt: skip


def words(tokenizer, text, specials="all") -> list[int | None]:
    (found,) = tokenizer.model_inputs([text], specials=specials, add_special_tokens=False)
    assert len(found.word_ids) == len(found)
    return list(found.word_ids)


def test_spans_say_it():
    assert word_ids([(0, 1), (5, 6), (9, 10)], [(0, 2), (5, 8)]) == [0, 1, None]
    assert word_ids([(0, 0), (0, 2)], [(0, 2)]) == [0, 0]
    assert word_ids([], [(0, 2)]) == word_ids([], []) == []


def test_words_by_example():
    assert GPT2.encode_pair("hello world", "x").word_ids == (0, 1, 0)
    assert words(GPT2, "untransformed tokenizers!") == [0, 0, 0, 1, 1, 2]
    assert words(GPT2, "") == []


def test_a_special_token_in_the_text_is_a_piece():
    assert words(GPT2, "a<|endoftext|>b c") == [0, 1, 2, 3]
    assert words(GPT2, "<|endoftext|><|endoftext|>") == [0, 1]
    assert words(GPT2, "<|endoftext|>", specials=()) == [0, 0, 1, 1, 1, 2, 2]  # <| endoftext |>
    greedy = GPT2.with_special_tokens([SpecialToken(b"<m>", 50257, lstrip=True, rstrip=True)])
    assert words(greedy, "a <m> b<m><m>") == [0, 1, 2, 3, 4]


def test_what_is_put_around_and_cut_has_its_words():
    long, short = GPT2.model_inputs(["hello world hello", "hello"], max_tokens=2, padding="longest", pad_id=0)
    assert (long.word_ids, long.overflowing[0].word_ids) == ((0, 1), (2, None))
    assert short.word_ids == (0, None)


@at_least(250)
@pytest.mark.parametrize("name", FILES)
def test_words_are_those_of_hugging_face(shared, name):
    path = shared / "vocabs" / name / "tokenizer.json"
    ours, theirs = bpe_cli.load(path), needs("tokenizers").Tokenizer.from_file(str(path))
    for case in json.loads((shared / "expected" / "suite.json").read_text("utf-8"))["cases"]:
        expected = theirs.encode(case["text"], add_special_tokens=False)
        try:
            found = words(ours, case["text"])
        except InputError:  # a character that theirs leaves out
            continue
        assert found == expected.word_ids, case["id"]
        compared()
