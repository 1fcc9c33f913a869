"""A plugin of pytest that lets one module of bpe_cli be read from another file: MUTATED has its name, path and source.

The module keeps its name and its path; nothing is written into the checkout. Processes that a test starts run the
program as it is.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

MEMORY = 4 << 30
"""Bytes of address space: a mutant may ask for all there are."""


class Mutated(SourceFileLoader):
    """Load a module from another file's source."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source as if it stood in the module's own file."""
        return compile(Path(self._source).read_bytes(), self.path, "exec", dont_inherit=True)


class Finder:
    """Find one module."""

    def __init__(self, name: str, path: str, source: str) -> None:
        self._name = name
        self._loader = Mutated(name, path, source)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the module is to be had; None for any other."""
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._loader.path, loader=self._loader)


if "MUTATED" in os.environ:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.meta_path.insert(0, Finder(*json.loads(os.environ["MUTATED"])))
