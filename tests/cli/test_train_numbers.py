"""``bpe train`` with numbers that nobody means: every option of every algorithm takes them or refuses them."""

from __future__ import annotations

import re
import typing
from dataclasses import fields

import pytest

from bpe_cli import trainers
from bpe_cli.cli.train_options import FLAGS
from bpe_cli.errors import UsageError
from bpe_cli.trainers import TRAINERS, unigram
from tests.cli_runner import call, error

CORPUS = b"low low low lower lowest newest newest newest widest widest\n" * 3
SIZES = {"bbpe": "262", "bpe": "40", "wordpiece": "40", "unigram": "20"}
HUGE = (-(10**18), 10**19 - 1)

KINDS = [(name, (), trainer) for name, trainer in TRAINERS.items() if not trainer.follows]
KINDS += [(model, ("--compat", name), trainer) for name, trainer in TRAINERS.items() for model in trainer.follows]


@pytest.mark.parametrize(("algorithm", "rules", "trainer"), KINDS, ids=["-".join([a, *r[1:]]) for a, r, _ in KINDS])
def test_no_number_is_a_traceback(algorithm, rules, trainer, tmp_path):
    kinds = typing.get_type_hints(trainer.Options)
    tried = 0
    for each in fields(trainer.Options):
        mentioned = {kinds[each.name], *typing.get_args(kinds[each.name])}
        values = HUGE if int in mentioned else ("nan", "inf", "-1e308") if float in mentioned else ()
        for value in values:
            option = (f"{FLAGS[each.name]}={value}",) if each.name in FLAGS else ("--set", f"{each.name}={value}")
            size = () if each.name in ("vocab_size", "merges") or algorithm not in SIZES else ("-s", SIZES[algorithm])
            result = call(
                "train", "-a", algorithm, *rules, *size, *option, "-q", "-o", tmp_path / "t.json", input=CORPUS
            )
            assert (result.status, result.out) == (2, b""), (option, result)
            assert re.match(r"error: .*[0-9a-z?)](\n\nhint: .*)?\n\Z", result.err), (option, result)
            assert not list(tmp_path.iterdir())
            tried += 1
    assert tried


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("max_token_length", "max_token_length must be from 0 to 4,294,967,295, not 4,294,967,296"),
        (
            "min_frequency",
            "min_frequency must be from 0 to 9,223,372,036,854,775,807, not 9,223,372,036,854,775,808",
        ),
    ],
)
def test_what_fits_is_named(option, message):
    value = {"max_token_length": 1 << 32, "min_frequency": 1 << 63}[option]
    result = call("train", "-s", "262", f"{FLAGS[option]}={value}", input=CORPUS)
    assert result == (2, b"", error(message))
    assert call("train", "-s", "262", f"{FLAGS[option]}={value - 1}", "-q", input=CORPUS).status == 0


def test_no_id_is_a_number_too():
    options = ("-a", "bpe", "--compat", "sentencepiece", "-s", "30", "-q")
    assert call("train", *options, "--set", "pad_id=-1", input=CORPUS).status == 0
    result = call("train", *options, "--set", "pad_id=-2", input=CORPUS)
    assert result.err == error("pad_id must be from -1 to 9,223,372,036,854,775,807, not -2")


def test_a_program_is_told_as_well():
    with pytest.raises(UsageError, match="seed_size must be from 0"):
        trainers.train(["low"], unigram.Options(vocab_size=9, seed_size=-1))


MANY = "9" * 20
TOO_LARGE = f"must be from 0 to {(1 << 63) - 1:,}, not {int(MANY):,}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-s", MANY), f"vocab_size {TOO_LARGE}"),
        (("-a", "bpe", "-s", MANY), "more than 2,097,152 tokens do not fit"),
        (("-a", "char", "-s", f"9,{MANY}"), f"a vocabulary has from 1 to 2,097,152 tokens, not {MANY}"),
        (("-a", "greedtok", "-s", "300", "--set", f"candidate_memory={MANY}"), f"candidate_memory {TOO_LARGE}"),
        (("-s", "300", "--superwords", "--switch", MANY), f"switch {TOO_LARGE}"),
    ],
)
def test_a_number_of_many_digits_is_a_number(options, message, tmp_path):
    result = call("train", *options, "-o", tmp_path / "t.json", input=CORPUS)
    assert result == (2, b"", error(message))
