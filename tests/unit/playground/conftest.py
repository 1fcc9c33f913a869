"""A playground that the tests here ask, and its path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bpe_cli.playground import Playground
from tests.playground import path_of, serving


@pytest.fixture(scope="module")
def playground() -> Iterator[Playground]:
    with serving("gpt-4o", "gpt2", text="<b>hi</b>\n") as running:
        yield running


@pytest.fixture
def path(playground: Playground) -> str:
    return path_of(playground)
