"""A plugin for pytest: the tests run with the core that ``BPE_CORE`` names, which `make sanitize` has built.

`BPE_CORE=PATH python -m pytest -p tests.sanitized_core ...`
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import ExtensionFileLoader

NAME = "bpe_cli._core"


def take_the_place_of_the_core(path: str) -> None:
    """Load the extension module at a path as the package's core, before anything imports the ordinary one."""
    loader = ExtensionFileLoader(NAME, path)
    spec = importlib.util.spec_from_file_location(NAME, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[NAME] = module


# Pytest also imports this file when it looks for doctests; then nothing is named, and the ordinary core stays.
if core := os.environ.get("BPE_CORE"):
    take_the_place_of_the_core(core)
