"""Published tokenizers, each read once by all modules that ask for it: nothing changes one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bpe_cli import formats
from bpe_cli.formats.sentencepiece import model
from bpe_cli.tokenizer import Tokenizer

ALONE = {"ice_text.model"}
"""Files that are refused where they lie: the class beside this one writes line ends and blanks as tokens of its own."""


@cache
def loaded(path: Path, pattern: str | None = None) -> Tokenizer:
    """Read a tokenizer."""
    return model.loads(path.read_bytes(), str(path)) if path.name in ALONE else formats.load(path, pattern)
