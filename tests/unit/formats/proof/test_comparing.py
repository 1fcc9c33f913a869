"""The texts on which tokenizers are compared: few enough for any tokenizer."""

from __future__ import annotations

import pytest

from bpe_cli.formats.proof import comparing
from bpe_cli.stages import MergeBpe, SpecialToken
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer


@pytest.mark.parametrize(
    ("count", "length", "most"), [(8, 1024, 1 << 19), (8, 100_000, 1 << 20), (9000, 2000, 3 << 23)]
)
def test_texts_of_long_added_tokens_are_bounded(count, length, most):
    tokens = tuple(SpecialToken((b"<%d>" % n).ljust(length, b"x"), 256 + n) for n in range(count))
    vocabulary = Vocabulary.from_tokens(bytes([byte]) for byte in range(256))
    tokenizer = Tokenizer(MergeBpe(vocabulary, Merges.from_pairs([])), special_tokens=tokens)
    texts = list(comparing.of_special_tokens(tokenizer))
    assert tokens[0].content in texts
    assert sum(map(len, texts)) <= most
