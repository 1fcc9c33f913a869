"""What all tests share: the texts and tokenizers that lie beside the repository."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from tests import profiles  # noqa: F401  it registers them
from tests.browser import Browser, Kept
from tests.cli_runner import heed_signals
from tests.examples import OnlyExamples
from tests.needs import SHARED, NoUnseenSkips, skip

REPOSITORY = Path(__file__).resolve().parent.parent

# The user's settings stay out of the tests, and of the processes that tests start.
for _name in [*os.environ]:
    if _name.startswith("BPE_") or _name in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}:
        del os.environ[_name]

CHROMIUM = Kept()

heed_signals()


# As the command does: what was collected is no garbage, and looking through it takes a tenth of all time.
gc.set_threshold(50_000)


def pytest_collection_finish() -> None:
    """Leave tests and modules out of every search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Fail what CI skips unseen; a plugin of its own sees the examples in bpe_cli too, which are not below us."""
    config.pluginmanager.register(NoUnseenSkips())
    config.pluginmanager.register(OnlyExamples())
    config.pluginmanager.register(CHROMIUM)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The repository's folder."""
    return REPOSITORY


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The small texts that belong to the project."""
    return REPOSITORY / "corpora"


@pytest.fixture
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """Chromium; the test skips where there is none."""
    return CHROMIUM.browser(lambda: tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real tokenizers and reference results that cannot be shipped; the test skips where they are absent."""
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        skip(SHARED)
    return folder
