"""Names of other libraries: none of them is ours, each answer names something that is, and nothing else changes."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

import bpe_cli
from bpe_cli.support.other_libraries import FUNCTIONS, METHODS
from bpe_cli.tokenizer.named_encodings import named

OPTIONS = {"algorithm", "compat", "specials"}
"""Options that answers name."""


def answered(sentence: str) -> list[str]:
    """Return the names of ours in an answer."""
    return [name for quoted in re.findall("`([^`]*)`", sentence) if (name := re.match(r"[\w.]+", quoted)[0])]


def exists(name: str) -> bool:
    """Return whether a name is public in bpe_cli, of one of its modules, of a tokenizer, or an option."""
    if name.startswith("bpe_cli.compat."):
        return name.partition("bpe_cli.compat.")[2] in {"tiktoken", "transformers"}
    first, _, rest = name.partition(".")
    if first == "bpe_cli":
        return rest.partition(".")[0] in bpe_cli.__all__
    return hasattr(named("gpt2"), first) or first in OPTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    assert name not in bpe_cli.__all__
    with pytest.raises(AttributeError) as raised:
        getattr(bpe_cli, name)
    assert str(raised.value).startswith(f"module 'bpe_cli' has no attribute '{name}'; ")
    assert all(map(exists, answered(FUNCTIONS[name])))
    assert answered(FUNCTIONS[name])


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    assert name not in dir(bpe_cli.Tokenizer)
    with pytest.raises(AttributeError) as raised:
        getattr(named("gpt2"), name)
    assert str(raised.value) == f"'Tokenizer' object has no attribute '{name}'; here it is {METHODS[name]}"
    assert all(map(exists, answered(METHODS[name])))
    assert answered(METHODS[name])


def test_what_nobody_has_is_refused_as_ever():
    tokenizer = named("gpt2")
    assert (hasattr(tokenizer, "fly"), getattr(tokenizer, "fly", 1), hasattr(bpe_cli, "fly")) == (False, 1, False)
    with pytest.raises(AttributeError, match=r"^'Tokenizer' object has no attribute 'fly'$") as raised:
        tokenizer.fly  # noqa: B018  it is asked for
    assert (raised.value.name, raised.value.obj) == ("fly", tokenizer)
    with pytest.raises(AttributeError, match=r"^module 'bpe_cli' has no attribute 'fly'$"):
        bpe_cli.fly  # noqa: B018


def test_copies_are_as_before():
    tokenizer = named("gpt2")
    assert copy.deepcopy(tokenizer) == pickle.loads(pickle.dumps(tokenizer)) == tokenizer
