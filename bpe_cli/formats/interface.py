"""What the module of a format has: the interface that ``FORMATS`` is a table of."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from bpe_cli.tokenizer import Tokenizer


class Format(Protocol):
    """What a format's module has."""

    @property
    def FILES(self) -> tuple[str, ...]:  # noqa: N802  # a constant in the modules, as are the next two
        """Names that files of it have, as patterns; in a folder the first that fits stands for it."""

    @property
    def MODELS(self) -> frozenset[str]:  # noqa: N802
        """The kinds of models that it can write."""

    @property
    def HOLDS(self) -> frozenset[str]:  # noqa: N802
        """What it can write of ``features.FEATURES``, at least in some cases."""

    def sniff(self, head: bytes) -> bool:
        """Return, from the first bytes, whether a file has this format; if several say so, the first of ``FORMATS``."""

    def load(self, path: Path, pattern: str | None = None) -> Tokenizer:
        """Read a tokenizer, with what the format's writers lay beside its file."""

    def dump(self, tokenizer: Tokenizer, allow_loss: frozenset[str] = frozenset()) -> dict[str, bytes]:
        """Return the contents of the files that hold a tokenizer."""


@runtime_checkable
class FormatOfSeveral(Format, Protocol):
    """What the module of a format of several files has besides."""

    def belongs(self, path: Path) -> bool:
        """Return, from what lies beside a file, whether it is one of them: that counts more than the order."""
