"""Values can be copied and pickled at any time: before they are used, after, and into another process."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import bpe_cli
from bpe_cli.errors import BpeError, LossError
from bpe_cli.formats import FORMATS, dump, load
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.named_encodings import ENCODINGS
from bpe_cli.trainers import ALGORITHMS
from tests.cli.training_kinds import KINDS
from tests.every_format import files_of, pattern_for, put, trained

TEXT = "low lower lowest, 12 new newest"


def _pickled(protocol: int) -> Callable[[Any], Any]:
    return lambda value: pickle.loads(pickle.dumps(value, protocol))


WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "oldest pickle": _pickled(2), "newest pickle": _pickled(5)}


def use(tokenizer: Tokenizer) -> tuple[object, ...]:
    """Do everything that compiles or works something out."""
    ids = tokenizer.encode(TEXT)
    decoded = tokenizer.decode_bytes(ids)
    tokens = tokenizer.tokens(TEXT)
    return ids, decoded, tokens, tokenizer.model.vocabulary.id_of(b"low"), tokenizer.special_ids, tokenizer.vocab_size


def check(tokenizer: Tokenizer) -> None:
    """Copy it in every way, unused and used, and hold the copies to it."""
    for used in (False, True):
        expected = use(tokenizer) if used else None
        for way in WAYS.values():
            other = way(tokenizer)
            assert other == tokenizer
            assert (other.name, other.origin) == (tokenizer.name, tokenizer.origin)
            assert not {"engine", "live_model", "special_ids", "special_table"} & vars(other).keys()
            if used:
                assert (use(other), hash(other)) == (expected, hash(tokenizer))
                assert way(other) == tokenizer


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_named_encoding(name):
    tokenizer = bpe_cli.load(name)
    check(tokenizer)
    # Its table lies in every installation.
    assert len(pickle.dumps(tokenizer)) < 100_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_trained_one(kind):
    check(copy.deepcopy(trained(kind)))


@pytest.mark.parametrize("name", FORMATS)
def test_one_from_a_file(name, tmp_path):
    check(load(str(put(files_of(name), tmp_path / "t")), pattern_for(name)))


def test_every_algorithm_is_among_them():
    kinds = {KINDS[kind][KINDS[kind].index("-a") + 1] for kind in KINDS if "-a" in KINDS[kind]}
    assert kinds | {"bbpe", "list"} >= {*ALGORITHMS}


def test_one_of_a_list_of_tokens():
    check(bpe_cli.train(["low\ner\nnew\nest\nl\no\nw\n"], algorithm="list"))


def test_into_another_process():
    """A process that is spawned has nothing but the pickle."""
    tokenizers = [bpe_cli.load("gpt-4o"), trained(next(iter(KINDS)))]
    expected = [use(tokenizer)[0] for tokenizer in tokenizers]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert [pool.apply(tokenizer.encode, (TEXT,)) for tokenizer in tokenizers] == expected


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_in_the_middle_of_a_character(way):
    with_decoder = next(trained(kind) for kind in KINDS if trained(kind).decoder)
    for tokenizer in (bpe_cli.load("gpt2"), with_decoder):
        texts: set[str] = set()
        stream = bpe_cli.StreamDecoder(tokenizer)
        ids = tokenizer.encode("lo你we")
        for at in range(len(ids) + 1):
            first = stream.feed(ids[:at])
            other = WAYS[way](stream)
            rest = other.feed(ids[at:]) + other.finish()
            assert rest == stream.feed(ids[at:]) + stream.finish()
            texts.add(first + rest)
            stream = bpe_cli.StreamDecoder(tokenizer)
        assert len(texts) == 1


def below(kind: type) -> list[type]:
    """Return all classes that are made from one."""
    return [each for direct in kind.__subclasses__() for each in (direct, *below(direct))]


@pytest.mark.parametrize("way", WAYS)
def test_the_other_public_values(way):
    token = bpe_cli.load("gpt2").tokens("hi")[0]
    patterns = PATTERNS
    vocabulary = bpe_cli.load("gpt2").model.vocabulary
    for value in (token, bpe_cli.SpecialToken(b"<s>", 7), patterns, *patterns.values(), vocabulary):
        assert WAYS[way](value) == value
    kinds = [BpeError, *below(BpeError)]
    assert LossError in kinds
    errors = [kind("what", hint=hint) for kind in kinds for hint in ("way out", None)]
    for error in (*errors, LossError("what", losses=("name",))):
        other = WAYS[way](error)
        assert (type(other), str(other), vars(other)) == (type(error), str(error), vars(error))
    for function in (bpe_cli.load, dump, bpe_cli.train, bpe_cli.convert):
        assert WAYS[way](function) is function
