"""A small text for the benchmark's tests, and tokenizers whose files are written once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from unittest import mock

import pytest

from benchmarks import instructions, texts, vocabularies
from bpe_cli import formats
from tests.unit.benchmarks.rounds import DOCUMENTS


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """Return a stored text of a few documents."""
    return texts.store("some", DOCUMENTS, "made up", tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Write the files of a tokenizer the first time that they are asked for: every plan of every test has them.

    They are not read back, as ``dump`` does to prove them: the tests of formats say that it does.
    """
    prepare, folder = vocabularies.prepare, tmp_path_factory.mktemp("vocabularies")

    @cache
    def once(name: str, repository: Path) -> vocabularies.Vocabulary | None:
        with mock.patch.object(formats, "dump", formats.rehearse):
            return prepare(name, folder, repository)

    return once


@pytest.fixture(scope="session")
def hider(tmp_path_factory):
    """Compile what hides instructions the first time that it is asked for."""
    build, folder = instructions.build, tmp_path_factory.mktemp("hider")
    return cache(lambda: build(folder))


@pytest.fixture(autouse=True)
def _files_are_written_once(monkeypatch, written, hider):
    monkeypatch.setattr(vocabularies, "prepare", lambda name, folder, repository: written(name, repository))
    monkeypatch.setattr(instructions, "build", lambda folder: hider())
