"""Modules that are imported when they are first used, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def optional(module: str) -> Any | None:
    """Import a module that may not be installed; None if it is not."""
    try:
        return import_module(module)
    except ImportError:
        return None


def numpy_to(task: str) -> Any:
    """Return NumPy, which a task needs.

    Raises:
        UsageError: if it is not installed.
    """
    module = optional("numpy")
    if module is None:
        from bpe_cli.errors import UsageError

        raise UsageError(f"cannot {task}: NumPy is not installed", hint="pip install numpy")
    return module


class Modules(Mapping[str, "Any"]):
    """Modules with the same interface, by name and in order.

    >>> modules = Modules("bpe_cli.support", {"blocks": "blocks", "words": "messages"})
    >>> list(modules), modules["words"].__name__
    (['blocks', 'words'], 'bpe_cli.support.messages')
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """Refer to the modules of a package by their places in it."""
        self._package = package
        self._places = places

    def __getitem__(self, name: str) -> Any:
        return import_module(f"{self._package}.{self._places[name]}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places
