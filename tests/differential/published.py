"""Published tokenizers, each read once by all modules that ask for it: nothing changes one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bpe_cli import formats
from bpe_cli.tokenizer import Tokenizer


@cache
def loaded(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a tokenizer."""
    return formats.load(path, pattern)
