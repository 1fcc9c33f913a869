"""Examine a tokenizer by itself: all that is measured of it, in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.tokenizer.corpus_report import CorpusReport, examine_corpus
from bpe_cli.reports.tokenizer.findings import Finding, findings
from bpe_cli.reports.tokenizer.reachability import Reachability, examine
from bpe_cli.reports.tokenizer.structure import Anatomy, Structure, examine_structure
from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport, describe
from bpe_cli.tokenizer import fingerprint

if TYPE_CHECKING:
    from bpe_cli.reports.frequencies import Frequencies
    from bpe_cli.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class HealthReport:
    """Whether a tokenizer is healthy.

    Attributes:
        findings: What is good about it and what to look at, in sentences.
        vocabulary: What it is and holds.
        structure: How its vocabulary is built.
        reachability: Which of its tokens text can become.
        corpus: Which of them a corpus uses; None without a corpus.
    """

    findings: tuple[Finding, ...]
    vocabulary: VocabularyReport
    structure: Structure
    reachability: Reachability
    corpus: CorpusReport | None = None


def examine_health(tokenizer: Tokenizer, frequencies: Frequencies | None = None) -> HealthReport:
    """Report on a tokenizer.

    Args:
        tokenizer: The tokenizer.
        frequencies: How often its tokens occur in a corpus, by ``frequencies.count_frequencies``.

    Raises:
        UsageError: if a split pattern does not compile.

    Complexity: about linear in the vocabulary; a few seconds for 200,000 tokens.
    """
    anatomy = Anatomy(tokenizer)
    corpus = None if frequencies is None else examine_corpus(anatomy, frequencies)
    vocabulary = describe(tokenizer, fingerprint=fingerprint(tokenizer), contents=anatomy.contents)
    structure = examine_structure(anatomy)
    reachability = examine(tokenizer)
    found = findings(tokenizer, vocabulary, structure, corpus, reachability)
    return HealthReport(found, vocabulary, structure, reachability, corpus)
