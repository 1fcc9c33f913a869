"""Published tokenizers, read and examined once for all tests of reports that ask about them."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path

from bpe_cli.formats import find_tokenizer
from bpe_cli.reports.tokenizer.structure import Anatomy, Structure, examine_structure
from bpe_cli.reports.tokenizer.vocabulary_report import VocabularyReport, describe
from bpe_cli.tokenizer import Tokenizer

KEPT = 16
"""How many of them are kept: all would take much memory, and tests that stand together ask about the same."""


class Published:
    """A tokenizer, and what is reported of it."""

    def __init__(self, name: str) -> None:
        self.tokenizer: Tokenizer = find_tokenizer(name)

    @cached_property
    def anatomy(self) -> Anatomy:
        """Its tokens and merges."""
        return Anatomy(self.tokenizer)

    @cached_property
    def structure(self) -> Structure:
        """How its vocabulary is built."""
        return examine_structure(self.anatomy)

    @cached_property
    def report(self) -> VocabularyReport:
        """What it is and holds."""
        return describe(self.tokenizer)


@lru_cache(maxsize=KEPT)
def published(name: str | Path) -> Published:
    """Return a tokenizer by its path, or by its name if it is built in."""
    return Published(str(name))
