"""A small text for the benchmark's tests."""

from __future__ import annotations

import pytest

from benchmarks import texts
from tests.unit.benchmarks.rounds import DOCUMENTS


@pytest.fixture
def text(tmp_path):
    """Return a stored text of a few documents."""
    return texts.store("some", DOCUMENTS, "made up", tmp_path)
