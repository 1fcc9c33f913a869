"""Tokenizers in use, changed, written and read by the libraries that made them."""

from __future__ import annotations

import pytest

from bpe_cli.formats import dump, load
from bpe_cli.formats.sentencepiece import model as sentencepiece_model
from bpe_cli.surgery import extend, prune
from tests.needs import needs

from .makers import counted


@pytest.fixture(scope="module")
def lines(corpora):
    names = ("languages/en", "languages/de", "languages/ja", "misc/numbers")
    return [line for name in names for line in (corpora / f"{name}.txt").read_text("utf-8").splitlines() if line]


def test_llama_2_pruned(shared, lines):
    """Its pieces of several blanks have equal scores."""
    theirs = needs("sentencepiece").SentencePieceProcessor()
    whole = sentencepiece_model.loads((shared / "vocabs" / "llama2" / "tokenizer.model").read_bytes())
    pruned = prune(whole, counted(whole, "\n".join(lines)), 12_000).tokenizer
    theirs.LoadFromSerializedProto(sentencepiece_model.dump(pruned)[""])
    assert theirs.GetPieceSize() == 12_000
    for line in [*lines[:150], "a    b", "        return x"]:
        assert pruned.encode(line) == theirs.encode(line)


def test_llama_3_extended(shared, lines):
    hf = needs("tokenizers")
    whole = load(shared / "vocabs" / "hf-llama3" / "tokenizer.json")
    extended = extend(whole, counted(whole, "\n".join(lines)), whole.vocab_size + 100, min_frequency=2).tokenizer
    theirs = hf.Tokenizer.from_str(dump(extended, "tokenizer.json")[""].decode())
    assert theirs.get_vocab_size() == extended.vocab_size > whole.vocab_size
    for line in lines[:150]:
        assert theirs.encode(line, add_special_tokens=False).ids == extended.encode(line)
