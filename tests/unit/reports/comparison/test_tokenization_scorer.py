"""Entropies against tokenization-scorer, the code of Zouhar et al. (arXiv:2306.16842)."""

from __future__ import annotations

import pytest

from bpe_cli.reports.comparison.compare import compare
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer import named_encodings
from tests.every_format import CORPUS, trained
from tests.needs import needs


@pytest.mark.parametrize("name", ["gpt2", "o200k_base", "bpe", "unigram"])
def test_efficiencies_are_theirs(name, corpora):
    scorer = needs("tokenization_scorer")
    tokenizer = named_encodings.named(name) if "_" in name or name == "gpt2" else trained(name)
    documents = CORPUS.encode().splitlines()
    if tokenizer.has_bytes:
        texts = (path.read_bytes()[:1000] for path in sorted(corpora.rglob("*.txt")))
        documents = [line for text in texts for line in text.splitlines()]
    (measure,) = compare([tokenizer], [("x", [Block.of(documents)])]).total.measures
    lines = [[str(token_id) for token_id in tokenizer.encode(document)] for document in documents]
    shannon = scorer.score(lines, metric="shannon_efficiency")
    renyi = scorer.score(lines, metric="renyi_efficiency", power=2.5)
    assert measure.shannon_efficiency == pytest.approx(shannon, rel=1e-9)
    assert measure.renyi_efficiency == pytest.approx(renyi, rel=1e-9)
    assert measure.shannon_entropy == pytest.approx(scorer.score(lines, metric="shannon_entropy"), rel=1e-9)
