"""A small text for the benchmark's tests, and tokenizers whose files are written once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from benchmarks import texts, vocabularies
from tests.unit.benchmarks.rounds import DOCUMENTS


@pytest.fixture
def text(tmp_path):
    """Return a stored text of a few documents."""
    return texts.store("some", DOCUMENTS, "made up", tmp_path)


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Write the files of a tokenizer the first time that they are asked for: every plan of every test has them."""
    prepare, folder = vocabularies.prepare, tmp_path_factory.mktemp("vocabularies")

    @cache
    def once(name: str, repository: Path) -> vocabularies.Vocabulary | None:
        return prepare(name, folder, repository)

    return once


@pytest.fixture(autouse=True)
def _files_are_written_once(monkeypatch, written):
    monkeypatch.setattr(vocabularies, "prepare", lambda name, folder, repository: written(name, repository))
