"""Look for examples in docstrings only where there are some: collecting a module imports it, and most have none."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

PROMPT = b">>> "


class OnlyExamples:
    """Leave modules without an example out of what ``--doctest-modules`` collects."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[Any], list[Any]]:
        """Collect a file."""
        found = yield
        if any(isinstance(each, DoctestModule) for each in found) and PROMPT not in file_path.read_bytes():
            return [each for each in found if not isinstance(each, DoctestModule)]
        return found
