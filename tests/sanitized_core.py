"""A plugin for pytest: the tests run with the core that ``BPE_CORE`` names, which `make sanitize` has built.

`python -m pytest -p tests.sanitized_core ...`
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import ExtensionFileLoader

NAME = "bpe_cli._core"
LOADER = ExtensionFileLoader(NAME, os.environ["BPE_CORE"])
SPEC = importlib.util.spec_from_file_location(NAME, os.environ["BPE_CORE"], loader=LOADER)
assert SPEC is not None
MODULE = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(MODULE)
sys.modules[NAME] = MODULE
