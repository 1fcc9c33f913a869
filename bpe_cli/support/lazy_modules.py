"""Modules by name, each imported when it is first looked at."""

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


class Modules(Mapping[str, "Any"]):
    """Hold modules that do the same in different ways, by name and in order.

    >>> modules = Modules("bpe_cli.support", {"blocks": "blocks", "words": "messages"})
    >>> list(modules), modules["words"].__name__
    (['blocks', 'words'], 'bpe_cli.support.messages')
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """Refer to the modules of a package by where they are in it."""
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
