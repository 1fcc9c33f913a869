"""Import what only the tests need: a test skips where it is absent, but in CI that is a failure."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest


def needs(module: str) -> Any:
    """Give a module of the development group in pyproject.toml.

    Where CI is set, as CI systems and ``.ci/run`` do, all of the group is installed: a module that cannot be
    imported fails the test then, for a test that skips unseen tests nothing.
    """
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        try:
            return importlib.import_module(module)
        except ImportError as error:
            pytest.fail(f"needs {module}, which CI has to install: {error}", pytrace=False)
    return pytest.importorskip(module, reason=f"needs {module}, which is not installed: make setup")
