"""Algorithms over characters refuse a pre-tokenizer that spells bytes as characters: they would learn from others."""

from __future__ import annotations

import pytest

import bpe_cli
from bpe_cli.errors import UsageError
from bpe_cli.stages import ByteLevel, Whitespace
from bpe_cli.trainers import bpe, train, unigram, wordpiece

STAGES = (Whitespace(), ByteLevel())


@pytest.mark.parametrize("options", [bpe.Options, unigram.Options, wordpiece.Options])
def test_spelling_is_refused(options) -> None:
    with pytest.raises(UsageError, match="ByteLevel in `pre_tokenizer` spells bytes as characters"):
        train(["hello wörld"], options(vocab_size=50, pre_tokenizer=STAGES))


@pytest.mark.parametrize("algorithm", ["bpe", "unigram", "wordpiece"])
def test_programs_are_told_before_a_corpus_is_read(algorithm: str) -> None:
    with pytest.raises(UsageError, match="ByteLevel in `pre_tokenizer`") as caught:
        bpe_cli.train("there is no such file.txt", algorithm, vocab_size=50, pre_tokenizer=STAGES)
    assert "bbpe, mingram and greedtok" in (caught.value.hint or "")
