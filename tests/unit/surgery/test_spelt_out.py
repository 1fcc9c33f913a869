"""Text that spells out a token that no text becomes, such as a byte's ``<0x0A>``, is never learnt as that token."""

from __future__ import annotations

import pytest

from bpe_cli.formats import dump
from bpe_cli.formats.huggingface.tokenizer_json import loads
from bpe_cli.surgery import extend, replace_tokens
from bpe_cli.tokenizer import Tokenizer

from .makers import byte_level, counts_of, with_byte_tokens

SPELT = ["<0x0A>", "<unk>"]


@pytest.fixture
def begun() -> Tokenizer:
    """Return a tokenizer with enough leaves to give their ids to all that can be learnt."""
    made = with_byte_tokens("<0xA>unkabcdefg")
    return extend(made, counts_of([b"abcdefg"] * 2), made.vocab_size + 6).tokenizer


@pytest.mark.parametrize("text", SPELT)
def test_replacing(begun, text):
    counts = counts_of([text.encode()] * 3)
    done = replace_tokens(begun, 6, counts, counts)
    symbols = len(text)
    assert done.summary == (f"{symbols - 2} replaced",)
    assert {old for old, new in done.old_to_new.items() if new is None} == {*done.made_of}
    assert len(done.tokenizer.encode(text)) == 2
    assert done.tokenizer.decode(done.tokenizer.encode(f"x{text}\n")) == f"x{text}\n"


@pytest.mark.parametrize("text", SPELT)
@pytest.mark.parametrize("tie", ["lowest-ids", "smallest-text"])
def test_extending(begun, text, tie):
    done = extend(begun, counts_of([text.encode()] * 3), begun.vocab_size + 6, tie=tie)
    grown = done.tokenizer
    assert len(done.made_of) == len(text) - 2
    assert len(grown.encode(text)) == 2
    assert grown.decode(grown.encode(f"x{text}\n")) == f"x{text}\n"
    assert loads(dump(grown, "tokenizer.json")[""]).encode(text) == grown.encode(text)


@pytest.mark.parametrize("tie", ["lowest-ids", "smallest-text"])
def test_special_tokens(tie):
    begun = byte_level(["x"], 0, special_tokens=("ab",), compat="rustbpe")
    done = extend(begun, counts_of([b"ab", b"ab", b"ab", b"cd"]), begun.vocab_size + 1, tie=tie)
    assert [done.tokenizer.token_bytes(each) for each in done.made_of] == [b"cd"]
