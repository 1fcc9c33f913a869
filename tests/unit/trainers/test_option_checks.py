"""Texts of options that are not UTF-8 are refused by name: no vocabulary holds them."""

from __future__ import annotations

import pytest

import bpe_cli
from bpe_cli import trainers
from bpe_cli.errors import InputError, UsageError
from bpe_cli.trainers import ALGORITHMS, bpe
from tests.cli_runner import call, error

BYTE = "\udcff"
"""What an argument of the command line has for a byte that is not UTF-8."""
HINT = "write it in UTF-8: it has a byte of another encoding, or half a character"
SIZED = {name: () if name in ("byte", "list") else ("-s", "300") for name in ALGORITHMS}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_special_tokens(algorithm):
    done = call("train", "-a", algorithm, *SIZED[algorithm], "--special", BYTE, input=b"low lower")
    assert done == (2, b"", error(f"the special token {BYTE!r} is not UTF-8", HINT))


class Counted(str):
    """A text that counts how often one is held against another."""

    __hash__ = str.__hash__
    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_many_special_tokens_are_not_each_compared_with_all_others():
    """A vision model's tokenizer has thousands of them, and each set of options is checked."""
    bpe.Options(9000, special_tokens=tuple(Counted(f"<image_{number}>") for number in range(2000)))
    assert Counted.compared < 20_000


@pytest.mark.parametrize("algorithm", ["bpe", "unigram", "picky"])
def test_unknown_tokens(algorithm):
    done = call("train", "-a", algorithm, "-s", "300", "--set", f"unk_token={BYTE}", input=b"low lower")
    assert done == (2, b"", error(f"the special token {BYTE!r} is not UTF-8", HINT))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("-a", "bbpe"), "boundary_mark"),
        (("-a", "bbpe"), "boundaries"),
        (("-a", "bpe"), "end_of_word_suffix"),
        (("-a", "bpe", "--compat", "sentencepiece"), "required_chars"),
        (("-a", "bpe", "--compat", "sentencepiece"), "user_defined"),
        (("-a", "wordpiece"), "continuing_subword_prefix"),
        (("-a", "word"), "unk_token"),
    ],
)
def test_other_texts(options, name):
    done = call("train", *options, "-s", "300", "--set", f"{name}={BYTE}", input=b"low lower")
    assert done == (2, b"", error(f"the text {BYTE!r} of {name} is not UTF-8", HINT))


def test_in_python():
    with pytest.raises(UsageError, match=r"^the special token '\\udcff' is not UTF-8$"):
        bpe_cli.train(["a b"], vocab_size=300, special_tokens=[BYTE])
    with pytest.raises(UsageError, match=r"^the text '\\ud800' of required_chars is not UTF-8$"):
        bpe_cli.train(["a b"], "bpe", vocab_size=300, compat="sentencepiece", required_chars="\ud800")
    with pytest.raises(UsageError, match=r"^the text '\\udcff' of boundary_mark is not UTF-8$"):
        trainers.train(["a b"], bpe.Options(300, boundary_mark=BYTE))


def test_what_no_token_has_inside_may_be_any_bytes():
    made = bpe_cli.train([b"a \xff b"] * 3, vocab_size=258, superwords=True, never_within=[BYTE])
    assert made.vocab_size > 256
    with pytest.raises(InputError, match=r"^character 0 of the text of never_within is the lone surrogate U\+D800"):
        bpe_cli.train(["a b"], vocab_size=300, superwords=True, never_within=["\ud800"])
