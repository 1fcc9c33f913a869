"""What ``--compat course`` and ``--compat textbook`` stand for."""

from __future__ import annotations

from dataclasses import fields

import pytest

import bpe_cli
from bpe_cli.errors import UsageError
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.trainers import ALGORITHMS, compats_of, trainer_of
from bpe_cli.trainers.presets import PRESETS, preset_of, with_preset
from tests.cli_runner import call
from tests.test_seeds import COURSE, SCORE, TEXTBOOK, UNIGRAM
from tests.test_worked_examples import PRODUCTS, SENTENCES

WALK = b"low 5\nlower 2\nnewest 6\nwidest 3\n"

SAME = {
    "bpe": (
        COURSE.encode(), "course",
        (*TEXTBOOK, "--pattern", "gpt2", "--set", "end_of_word_suffix=", "--min-frequency", "1",
         "--set", "unk_token=none", "-s", "50"),
    ),
    "wordpiece": (COURSE.encode(), "course", (*SCORE, "-s", "70")),
    "unigram": (COURSE.encode(), "course", (*UNIGRAM, "-s", "101")),
    "textbook": (
        WALK, "textbook", (*TEXTBOOK, "--set", "dictionary=yes", "--set", "suffix_form=0.1", "--set", "merges=10"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_a_preset_is_its_options_one_by_one(name):
    text, compat, options = SAME[name]
    size = options[-2:]
    algorithm = options[options.index("-a") + 1]
    one_by_one = call("train", *options, input=text)
    assert one_by_one.status == 0
    assert call("train", "-a", algorithm, "--compat", compat, *size, input=text) == one_by_one


def test_bytes_as_in_the_course():
    """Ids are in its order: special tokens, letters as GPT-2 writes them, sorted, and what was merged."""
    tokenizer = bpe_cli.train(SENTENCES, compat="course", vocab_size=51, special_tokens=["<|endoftext|>"])
    shown = [tokenizer.token_bytes(token_id).decode().replace(" ", "Ġ") for token_id in range(51)]
    alphabet = sorted({letter.replace(" ", "Ġ") for sentence in SENTENCES for letter in sentence})
    assert shown == ["<|endoftext|>", *alphabet, *PRODUCTS]
    assert tokenizer.encode("<|endoftext|>", specials="all") == [0]


def test_each_line_is_a_text():
    """A line end would be a letter, and a blank line a word."""
    lines = call("train", "--compat", "course", "-s", "50", input=COURSE.encode())
    assert lines.status == 0
    assert call("train", "--compat", "course", "-s", "50", "--lines", input=COURSE.encode()) == lines
    trained = bpe_cli.train([COURSE], compat="course", vocab_size=50)
    assert trained == bpe_cli.train(SENTENCES, compat="course", vocab_size=50)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_belong_to_algorithms_and_set_what_those_have(preset):
    for algorithm, options in PRESETS[preset].items():
        assert preset in compats_of(algorithm)
        known = {each.name for each in fields(trainer_of(algorithm).Options)}
        assert options.keys() <= known | {"pattern"}
        assert preset_of(algorithm, preset) is options
    others = [name for name in ALGORITHMS if name not in PRESETS[preset] and name != "bbpe"]
    assert not any(preset in compats_of(name) for name in others)


def test_what_is_given_counts_more():
    given = {"merges": 3, "tie": "lowest-ids"}
    assert with_preset({"tie": "first-seen", "merges": 9, "dictionary": True}, given) == {**given, "dictionary": True}
    assert with_preset({"merges": 9}, {"vocab_size": 5}) == {"vocab_size": 5}
    cased = call("train", "-a", "wordpiece", "--compat", "course", "--set", "lowercase=yes", "-T", "Ab", "-s", "9")
    assert b'"lowercase":true' in cased.out.replace(b" ", b"")
    split = call("train", "-a", "bpe", "--compat", "course", "--pre-tokenizer", "bert", "-T", "a b", "-s", "9")
    assert split.status == 0
    assert PATTERNS["gpt2"].regex.encode() not in split.out


def test_the_textbook_goes_on_until_nothing_occurs_twice():
    trained = bpe_cli.train(["low 5", "lower 2", "newest 6", "widest 3"], "bpe", compat="textbook")
    assert [token.content for token in trained.tokens("lowest")] == [b"low", b"est</w>"]
    assert trained.vocab_size == 1 + 11 + 15


def test_the_textbook_takes_words_with_counts():
    result = call("train", "-T", "low low lower", "-a", "bpe", "--compat", "textbook")
    assert result.status == 2
    assert result.err == (
        "error: a line of the dictionary is not a word, a blank and a count: b'low low lower'\n"
        '\nhint: lines as `low 5`, or JSON as {"low": 5}; running text needs --set dictionary=no\n'
    )
    text = call("train", "-T", "low low lower", "-a", "bpe", "--compat", "textbook", "--set", "dictionary=no")
    assert text.status == 0


def test_an_algorithm_without_a_preset_says_which_have_it():
    with pytest.raises(UsageError) as caught:
        bpe_cli.train(["a"], compat="textbook", vocab_size=300)
    assert caught.value.hint is not None
    assert caught.value.hint.endswith('`algorithm="bpe"` can follow textbook')
    listed = call("train", "-a", "unigram", "--compat", "course", "--help-algorithm").text
    assert "`--compat course` sets rule=textbook, pre_tokenizer=xlnet; an explicit option takes precedence." in listed
