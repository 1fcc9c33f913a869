"""What every format says of its files, and which roles of special tokens it keeps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.formats.features import LOSSES, left_behind
from bpe_cli.stages import SpecialToken
from bpe_cli.tokenizer.usage import ROLES, Usage
from tests.counted import at_least, compared
from tests.every_format import FORMATS, files_of, pattern_for, put

every_format = pytest.mark.parametrize("name", FORMATS)

TOLD_AS = {"bpe.json": "tokenizer.json"}
"""The two have one reader, and nothing in a file says which it is."""


# -- facts -----------------------------------------------------------------------------------------


@every_format
def test_every_file_has_facts_to_show(name, tmp_path):
    origin = formats.load(put(files_of(name), tmp_path / "x"), pattern_for(name)).origin
    assert origin.format == TOLD_AS.get(name, name)
    assert origin.facts
    assert all(isinstance(value, (str, int, float, bool)) for _, value in origin.facts)


@pytest.mark.parametrize(
    ("name", "files", "facts"),
    [
        ("rwkv", {"": b"1 'a' 1\n2 'ab' 2\n"}, {"tokens": 2, "longest token, in bytes": 2}),
        ("fastbpe", {"": b"t h 9\nth e</w> 8\n"}, {"merges": 2, "highest count": 9, "lowest count": 8}),
        (
            "vocab-merges",
            {"encoder.json": b'{"a": 0, "b": 1, "ab": 2}', "vocab.bpe": b"#version: 0.2\na b\n"},
            {"vocabulary": "encoder.json", "merges": "vocab.bpe", "merges version": "0.2"},
        ),
        (
            "vocab-merges",
            {"vocab.json": b'{"a": 0, "b": 1, "ab": 2}', "merges.txt": b"a b\n"},
            {"vocabulary": "vocab.json", "merges": "merges.txt"},
        ),
    ],
)
def test_facts_of_a_file_by_hand(name, files, facts, tmp_path):
    origin = formats.load(put(files, tmp_path / "x")).origin
    assert (origin.format, dict(origin.facts)) == (name, facts)


# -- roles -----------------------------------------------------------------------------------------


def with_role(tokenizer, role, token):
    return replace(tokenizer, usage=replace(tokenizer.usage, roles=((role, token.token_id),)))


def check_roles(name, tmp_path):
    """Return every special token that a file holds every role that it may have."""
    tokenizer = formats.load(put(files_of(name), tmp_path / "whole"), pattern_for(name))
    unknown = tokenizer.model.unk_id
    for number, role in enumerate(ROLES):
        for token in tokenizer.special_tokens[:6]:
            if role == "unk" and unknown not in (None, token.token_id):
                continue  # the model has another one
            if name == "sentencepiece" and role != "unk" and token.token_id == unknown:
                continue  # whose type is that of no other role
            given = with_role(tokenizer, role, token)
            try:
                files = formats.rehearse(given, name, LOSSES)  # which is read below, as a proof would
            except FormatError:
                continue
            again = formats.load(put(files, tmp_path / f"{number}-{token.token_id}"), pattern_for(name))
            told = any("role" in what for what in formats.left_behind(given, name))
            assert told == (again.usage.role(role) != token.token_id), (role, token)
            compared()


@at_least(200)
def test_a_role_is_kept_or_told(tmp_path):
    for name in FORMATS:
        check_roles(name, tmp_path / name)


def test_roles_that_are_lost_are_named(make):
    tokens = [SpecialToken(b"<s>", 264), SpecialToken(b"<fin>", 265), SpecialToken(b"<mask>", 266)]
    usage = Usage(roles=(("bos", 264), ("eos", 265), ("mask", 266)))
    tokenizer = replace(make(specials=tokens), usage=usage, unicode_version=None)
    assert formats.left_behind(tokenizer, "tekken") == ['the roles eos ("<fin>"), mask ("<mask>")']
    assert formats.left_behind(tokenizer, "sentencepiece") == ['the role mask ("<mask>")']
    assert formats.left_behind(tokenizer, "huggingface") == []
    assert formats.left_behind(tokenizer, "minbpe") == ["the roles of special tokens"]
    assert left_behind(tokenizer, {"roles"}) == []
